// Lines of JSON between processes, some with bytes behind them:
//
//   {"do": "measure", "cubin": 5120, ...}\n and then 5120 bytes
//
// A message with a member `cubin` has so many bytes behind its line.

#ifndef TOOLS_INGOT_WIRE_H
#define TOOLS_INGOT_WIRE_H

#include "ir/base/buf.h"

#include <jansson.h>
#include <stdbool.h>

enum { WIRE_BYTES_MOST = 256 << 20 };

// Two streams, and what came that was not taken.
struct wire {
    int in, out; // files; -1: closed
    struct buf got;
};

// A message.
struct wire_message {
    json_t *json; // an object
    void *bytes;  // behind it, NUL-terminated; NULL: none
    size_t n;
};

// Send an object, which is released, with `n` bytes behind it if bytes is not
// NULL.  A line below PIPE_BUF bytes is written at once, so that threads may send such
// without a lock.  Returns false if nobody reads.
bool wire_send(struct wire *w, json_t *object, const void *bytes, size_t n);

// Send bytes.  Returns false if nobody reads.
bool wire_write(struct wire *w, const char *bytes, size_t n);

// Read what there is, or wait for it.  Returns false at the end.
bool wire_read(struct wire *w);

// How far a message came.
enum wire_state { WIRE_NONE, WIRE_MESSAGE, WIRE_GARBAGE };

// Take the next message, if all of it was read; wire_release releases it.
enum wire_state wire_take(struct wire *w, struct wire_message *out);

// Wait for the next message, `seconds` long at most, 0: for ever.  Returns false at
// the end, after garbage, and when the time is over.
bool wire_wait(struct wire *w, double seconds, struct wire_message *out);
void wire_release(struct wire_message *m);

// Close both streams, and release what came.
void wire_close(struct wire *w);

#endif
