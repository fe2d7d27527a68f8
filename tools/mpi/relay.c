// A rank behind the first:  rank 0 <--MPI--> relay <--pipes--> agent

#include "tools/ingot/child.h"
#include "tools/mpi/ranks.h"

#include <poll.h>
#include <string.h>

// The relay.
struct relay {
    struct link *link;
    const char *command;
    struct child child;
    uint32_t session; // of the child
    double heard, beaten;
    bool is_over, has_lost; // rank 0 said so; some rank is gone
};

// Say how the agent ended.
static void send_end(struct relay *r, int status)
{
    struct link_message m = {
        .kind = LINK_END, .session = r->session, .n = sizeof status};
    memcpy(m.bytes, &status, sizeof status);
    link_send(r->link, &m);
}

// Stop the agent, if there is one.
static void stop(struct relay *r)
{
    if (r->child.id)
        child_stop(&r->child);
}

// Start an agent in place of the one that there is.
static void start(struct relay *r, uint32_t session)
{
    stop(r);
    r->session = session;
    if (!child_run(&r->child, r->command))
        send_end(r, RANKS_PROCESS_LOST << 8);
}

// Do what a message says.
static void obey(struct relay *r, const struct link_message *m)
{
    bool is_now = r->child.id && m->session == r->session;
    switch (m->kind) {
    case LINK_OPEN: start(r, m->session); break;
    case LINK_BYTES:
        if (is_now)
            wire_write(&r->child.wire, m->bytes, m->n);
        break;
    case LINK_CLOSE:
        if (is_now)
            stop(r);
        break;
    case LINK_BYE:
        r->is_over = true;
        r->has_lost = m->session;
        break;
    case LINK_BEAT:
    case LINK_END: break;
    }
}

// Pass on what the agent said.
static void pass_on(struct relay *r)
{
    char text[CHILD_TEXT_SIZE];
    struct wire *wire = &r->child.wire;
    bool goes_on = wire_read(wire);
    for (size_t at = 0; at < wire->got.n; at += LINK_BYTES_MOST) {
        struct link_message m = {.kind = LINK_BYTES, .session = r->session};
        size_t left = wire->got.n - at;
        m.n = left < LINK_BYTES_MOST ? left : LINK_BYTES_MOST;
        memcpy(m.bytes, wire->got.data + at, m.n);
        link_send(r->link, &m);
    }
    wire->got.n = 0;
    if (!goes_on) {
        child_end(&r->child, text, sizeof text);
        send_end(r, r->child.status);
    }
}

// Wait a little for the agent or a message, and take what has come.
static void wait_and_take(struct relay *r)
{
    struct link_message m;
    struct pollfd one = {r->child.id ? r->child.wire.in : -1, POLLIN, 0};
    if (poll(&one, 1, RANKS_TICK_MS) > 0)
        pass_on(r);
    while (link_take(r->link, &m)) {
        r->heard = child_now();
        obey(r, &m);
    }
}

// Say now and then that this rank is there.
static void beat(struct relay *r)
{
    if (child_now() < r->beaten + RANKS_BEAT_S)
        return;
    r->beaten = child_now();
    link_tell(r->link, 0, LINK_BEAT, 0);
}

int relay_run(struct link *l, const char *command)
{
    struct relay r = {.link = l, .command = command, .heard = child_now()};
    while (!r.is_over && child_now() < r.heard + RANKS_SILENT_S) {
        wait_and_take(&r);
        beat(&r);
    }
    stop(&r);
    link_tell(l, 0, LINK_BYE, 0);
    if (!r.is_over)
        return RANKS_PROCESS_LOST;
    if (!r.has_lost)
        link_close(l);
    return 0;
}
