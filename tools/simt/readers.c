// The readers of an element that no meeting has put in order, where there are
// vector clocks: a list behind the first, the last reader first.
//
// A reader that a later one stands for says nothing more.  Those are taken out
// once the list is about twice as long as it need be, not at each read: a read
// takes constant time on average.

#include "tools/simt/async.h"

enum { READERS_MOST = 1 << 26, ROOM_LEAST = 8 };

void readers_forget(struct machine *m)
{
    m->async->n_readers = 1;
    m->async->free_reader = 0;
}

// Take an entry out of a list that it follows; returns what comes next.
static uint32_t take(struct async *a, struct cell *c, uint32_t before,
                     uint32_t i)
{
    uint32_t next = a->readers[i].next;
    if (before)
        a->readers[before].next = next;
    else
        c->other_read = next;
    a->readers[i].next = a->free_reader;
    a->free_reader = i;
    return next;
}

void readers_drop(const struct machine *m, struct cell *c)
{
    while (c->other_read)
        take(m->async, c, 0, (uint32_t)c->other_read);
}

// Return whether a record is one that a read of this thread stands for too.
static bool is_covered(const struct fiber *f, uint64_t record)
{
    return is_own(f, record) || is_before(f, record);
}

// Return whether a later read of the thread of a record has been seen in this
// search, and note it.
static bool is_repeated(const struct machine *m, uint64_t record)
{
    struct async *a = m->async;
    uint32_t agent = agent_of(record);
    if (agent >= m->n_fibers || stamp_of(record) == STAMP_NEVER)
        return false;
    bool is_known = a->searched[agent] == a->searches;
    a->searched[agent] = a->searches;
    return is_known;
}

// Take out of a list what a later read covers, one of this thread that is not
// in it yet included.  Returns how many are left.
static uint32_t drop_covered(const struct machine *m, struct cell *c)
{
    struct async *a = m->async;
    uint32_t before = 0, n = 0, i = (uint32_t)c->other_read;
    a->searches++;
    is_repeated(m, c->read);
    while (i) {
        uint64_t record = a->readers[i].record;
        bool is_old = is_covered(m->current, record) || is_repeated(m, record);
        uint32_t next = is_old ? take(a, c, before, i) : a->readers[i].next;
        before = is_old ? before : i;
        n += !is_old;
        i = next;
    }
    return n;
}

// Return an entry that nobody uses, or 0 if there is none.
static uint32_t entry(struct async *a)
{
    uint32_t i = a->free_reader;
    if (i)
        a->free_reader = a->readers[i].next;
    return i || a->n_readers == READERS_MOST ? i : a->n_readers++;
}

// Return how many more readers a list takes until it is searched; it is, if
// that is none.
static uint32_t room_in(const struct machine *m, struct cell *c)
{
    uint32_t first = (uint32_t)c->other_read;
    uint32_t room = first ? m->async->readers[first].room : ROOM_LEAST;
    return room ? room : drop_covered(m, c) + ROOM_LEAST;
}

void readers_add(const struct machine *m, struct cell *c, uint64_t record)
{
    struct async *a = m->async;
    if (is_covered(m->current, c->read)) {
        c->read = record;
        return;
    }
    uint32_t room = room_in(m, c), i = entry(a);
    if (i) {
        a->readers[i] =
            (struct reader){c->read, (uint32_t)c->other_read, room - 1};
        c->other_read = i;
    }
    c->read = record;
}

uint64_t readers_meet(const struct machine *m, const struct cell *c)
{
    const struct reader *all = m->async->readers;
    for (uint32_t i = (uint32_t)c->other_read; i; i = all[i].next)
        if (meets(m->current, all[i].record))
            return all[i].record;
    return 0;
}

void readers_replace(const struct machine *m, struct cell *c, uint64_t old,
                     uint64_t by)
{
    struct reader *all = m->async->readers;
    if (c->read == old)
        c->read = by;
    if (!m->has_clocks)
        return;
    for (uint32_t i = (uint32_t)c->other_read; i; i = all[i].next)
        if (all[i].record == old)
            all[i].record = by;
}
