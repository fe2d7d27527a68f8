// The readers of an element that no meeting has put in order, where there are
// vector clocks: a list behind the first.

#include "tools/simt/async.h"

enum { READERS_MOST = 1 << 26 };

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

// Take out of a list what a read of this thread covers.
static void drop_covered(const struct machine *m, struct cell *c)
{
    struct async *a = m->async;
    uint32_t before = 0, i = (uint32_t)c->other_read;
    while (i) {
        bool is_old = is_covered(m->current, a->readers[i].record);
        uint32_t next = is_old ? take(a, c, before, i) : a->readers[i].next;
        before = is_old ? before : i;
        i = next;
    }
}

// Return an entry that nobody uses, or 0 if there is none.
static uint32_t entry(struct async *a)
{
    uint32_t i = a->free_reader;
    if (i)
        a->free_reader = a->readers[i].next;
    return i || a->n_readers == READERS_MOST ? i : a->n_readers++;
}

void readers_add(const struct machine *m, struct cell *c, uint64_t record)
{
    struct async *a = m->async;
    drop_covered(m, c);
    if (is_covered(m->current, c->read)) {
        c->read = record;
        return;
    }
    uint32_t i = entry(a);
    if (i) {
        a->readers[i] = (struct reader){c->read, (uint32_t)c->other_read};
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
