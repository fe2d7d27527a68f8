// Lines of JSON between processes.

#include "tools/ingot/wire.h"

#include "ir/base/phases.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000 };

// Wait until a file takes bytes; false if it does not.
static bool wait_for_room(int file)
{
    struct pollfd one = {file, POLLOUT, 0};
    return poll(&one, 1, PATIENCE_MS) > 0;
}

bool wire_write(struct wire *w, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(w->out, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EAGAIN && wait_for_room(w->out))
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        n -= (size_t)done;
    }
    return true;
}

bool wire_send(struct wire *w, json_t *object, const void *bytes, size_t n)
{
    if (bytes)
        json_object_set_new(object, "cubin", json_integer((json_int_t)n));
    char *text = json_dumps(object, JSON_COMPACT);
    struct buf line = {0};
    json_decref(object);
    if (text)
        buf_printf(&line, "%s\n", text);
    bool ok = text && wire_write(w, line.data, line.n) &&
              (!bytes || wire_write(w, bytes, n));
    free(text);
    buf_free(&line);
    return ok;
}

bool wire_read(struct wire *w)
{
    char part[65536];
    ssize_t n = read(w->in, part, sizeof part);
    if (n < 0 && errno == EINTR)
        return true;
    if (n > 0)
        buf_bytes(&w->got, part, (size_t)n);
    return n > 0;
}

// Remove the first bytes of what was read.
static void drop(struct buf *b, size_t n)
{
    memmove(b->data, b->data + n, b->n - n);
    b->n -= n;
}

// Return the object that a line is, or NULL.
static json_t *object_of(const char *line, size_t n)
{
    json_t *json = json_loadb(line, n, 0, NULL);
    if (json_is_object(json))
        return json;
    json_decref(json);
    return NULL;
}

// Copy the bytes behind a line.
static void take_bytes(struct wire *w, size_t line, struct wire_message *out)
{
    char *bytes = malloc(out->n + 1);
    if (!bytes)
        abort();
    memcpy(bytes, w->got.data + line, out->n);
    bytes[out->n] = '\0';
    out->bytes = bytes;
}

enum wire_state wire_take(struct wire *w, struct wire_message *out)
{
    const char *end = w->got.n ? memchr(w->got.data, '\n', w->got.n) : NULL;
    *out = (struct wire_message){0};
    if (!end)
        return w->got.n > WIRE_BYTES_MOST ? WIRE_GARBAGE : WIRE_NONE;
    size_t line = (size_t)(end - w->got.data) + 1;
    json_t *json = object_of(w->got.data, line);
    const json_t *size = json_object_get(json, "cubin");
    json_int_t n = json_integer_value(size);
    if (!json || n < 0 || n > WIRE_BYTES_MOST) {
        json_decref(json);
        return WIRE_GARBAGE;
    }
    if (w->got.n - line < (size_t)n) {
        json_decref(json);
        return WIRE_NONE;
    }
    *out = (struct wire_message){.json = json, .n = (size_t)n};
    if (size)
        take_bytes(w, line, out);
    drop(&w->got, line + (size_t)n);
    return WIRE_MESSAGE;
}

// Return the milliseconds that are left of some seconds; -1: no end.
static int left_of(double seconds, double began)
{
    double left = seconds - (phases_now() / 1e3 - began);
    return seconds <= 0 ? -1 : left > 0 ? (int)(left * 1e3) + 1 : 0;
}

bool wire_wait(struct wire *w, double seconds, struct wire_message *out)
{
    double began = phases_now() / 1e3;
    for (;;) {
        enum wire_state state = wire_take(w, out);
        struct pollfd one = {w->in, POLLIN, 0};
        if (state != WIRE_NONE)
            return state == WIRE_MESSAGE;
        if (poll(&one, 1, left_of(seconds, began)) == 0 || !wire_read(w))
            return false;
    }
}

void wire_release(struct wire_message *m)
{
    json_decref(m->json);
    free(m->bytes);
    *m = (struct wire_message){0};
}

void wire_close(struct wire *w)
{
    if (w->in >= 0)
        close(w->in);
    if (w->out >= 0 && w->out != w->in)
        close(w->out);
    w->in = w->out = -1;
    buf_free(&w->got);
}
