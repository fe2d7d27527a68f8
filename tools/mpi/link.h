// Short messages between the ranks of an MPI job.  Nobody ever waits for a rank: it
// may be gone.

#ifndef TOOLS_MPI_LINK_H
#define TOOLS_MPI_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a message says; agents are started and ended in sessions.
enum link_kind {
    LINK_OPEN,  // to a rank: start an agent
    LINK_BYTES, // to an agent, or from it
    LINK_CLOSE, // to a rank: stop the agent
    LINK_END,   // from a rank: the agent has ended; its wait status as an int
    LINK_BEAT,  // somebody is there
    LINK_BYE,   // to a rank: all is over; from a rank: it leaves
};

// So short that every MPI sends it at once, without asking who receives.
enum { LINK_BYTES_MOST = 2048 };

// A message; at most `n` bytes are sent of it.
struct link_message {
    enum link_kind kind;
    int rank; // whom it is from or to
    uint32_t session;
    size_t n;
    char bytes[LINK_BYTES_MOST];
};

struct link_send; // a message on its way

// This rank among all.
struct link {
    int rank, size;
    int local; // number of this rank on its host
    struct link_send *sends;
};

// Begin to use MPI.  Returns false if it does not start.
bool link_open(struct link *l);

// Send a message, which is copied.
void link_send(struct link *l, const struct link_message *m);

// Send a message without bytes.
void link_tell(struct link *l, int rank, enum link_kind kind, uint32_t session);

// Take the next message that has come; false if there is none.
bool link_take(struct link *l, struct link_message *out);

// Stop using MPI.  With a rank gone that would wait for ever: then the process has to
// end without.
void link_close(struct link *l);

#endif
