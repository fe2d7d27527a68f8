// The readers of an element that no meeting has put in order, where there are
// vector clocks: a list behind the first, the last reader first.  Where there
// are fences, it holds readers of all blocks of the launch, and atomics that
// wrote.
//
// A reader that a later one stands for says nothing more.  Those are taken out
// once the list is about twice as long as it need be, not at each read: a read
// takes constant time on average.

#include "tools/simt/async.h"

enum { READERS_MOST = 1 << 26, ROOM_LEAST = 8, GATHER_LEAST = 32 };

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
    while (c->other_read && c->read_by >= m->first)
        take(m->async, c, 0, (uint32_t)c->other_read);
}

// Return whether an access came before what this thread does now.
static bool is_past(const struct machine *m, uint64_t record, uint32_t by)
{
    return by == m->serial ? is_before(m->current, record)
                           : m->has_order && model_knows(m, record, by);
}

// Return whether a record is one that a read of this thread stands for too.
static bool is_covered(const struct machine *m, uint64_t record, uint32_t by)
{
    bool is_mine = by == m->serial && is_own(m->current, record);
    return (is_mine && !(record & WRITE_FLAG)) || is_past(m, record, by);
}

// Return whether a later access of the thread of a record has been seen in this
// search, and note it; a write stands for writes alone.
static bool is_repeated(const struct machine *m, uint64_t record, uint32_t by)
{
    struct async *a = m->async;
    uint32_t agent = agent_of(record);
    if (agent >= m->n_fibers || stamp_of(record) == STAMP_NEVER ||
        by != m->serial)
        return false;
    uint64_t *searched = a->searched[(record & WRITE_FLAG) != 0];
    bool is_known = searched[agent] == a->searches;
    searched[agent] = a->searches;
    return is_known;
}

// Take out of a list what a later read covers, one of this thread that is not
// in it yet included.  Returns how many are left.
static uint32_t drop_covered(const struct machine *m, struct cell *c)
{
    struct async *a = m->async;
    uint32_t before = 0, n = 0, i = (uint32_t)c->other_read;
    a->searches++;
    is_repeated(m, c->read, c->read_by);
    while (i) {
        uint64_t record = a->readers[i].record;
        uint32_t by = a->readers[i].by;
        bool is_old = is_covered(m, record, by) || is_repeated(m, record, by);
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

// Put an access into the list of a cell, behind its first.
static void push(const struct machine *m, struct cell *c, uint64_t record,
                 uint32_t by)
{
    struct async *a = m->async;
    uint32_t room = room_in(m, c), i = entry(a);
    if (!i)
        return;
    a->readers[i] =
        (struct reader){record, by, (uint32_t)c->other_read, room - 1};
    c->other_read = i;
}

// Make the readers of another block that lead the list one for them all, if
// they are many.
static void gather(const struct machine *m, struct cell *c)
{
    struct async *a = m->async;
    uint32_t by = c->read_by, n = 0, i = (uint32_t)c->other_read;
    uint64_t last = c->read;
    for (; i && a->readers[i].by == by && !(a->readers[i].record & WRITE_FLAG);
         i = a->readers[i].next)
        n++;
    if (n < GATHER_LEAST || last & WRITE_FLAG)
        return;
    for (; n; n--) {
        uint64_t record = a->readers[c->other_read].record;
        last = stamp_of(record) > stamp_of(last) ? record : last;
        take(a, c, 0, (uint32_t)c->other_read);
    }
    c->read = last | WARP_FLAG;
}

void readers_add(const struct machine *m, struct cell *c, uint64_t record)
{
    if (c->read && !is_covered(m, c->read, c->read_by)) {
        if (c->read_by != m->serial)
            gather(m, c);
        push(m, c, c->read, c->read_by);
    }
    c->read = record;
    c->read_by = m->serial;
}

void readers_keep_write(const struct machine *m, const struct region *r,
                        struct cell *c)
{
    uint64_t record = c->write | WRITE_FLAG;
    bool is_live = r->space == SPACE_global || c->write_by == m->serial;
    readers_begin(m, r, c);
    if (!is_live || is_past(m, record, c->write_by))
        return;
    if (c->read) {
        push(m, c, record, c->write_by);
        return;
    }
    c->read = record;
    c->read_by = c->write_by;
}

void readers_begin(const struct machine *m, const struct region *r,
                   struct cell *c)
{
    bool is_live = r->space == SPACE_global ? c->read_by >= m->first
                                            : c->read_by == m->serial;
    if (is_live)
        return;
    readers_drop(m, c);
    c->read = c->other_read = 0;
    c->read_by = 0;
}

// Return whether an access of this thread meets one of the list.
static bool is_met(const struct machine *m, uint64_t record, uint32_t by)
{
    return by == m->serial ? meets(m->current, record)
                           : !is_past(m, record, by);
}

uint64_t readers_meet(const struct machine *m, const struct cell *c,
                      const struct site *s, uint32_t *by)
{
    const struct reader *all = m->async->readers;
    uint64_t record = c->read;
    uint32_t i = (uint32_t)c->other_read;
    *by = c->read_by;
    while (record) {
        if (is_met(m, record, *by) && !are_atomic(m, s, record, *by))
            return record;
        record = i ? all[i].record : 0;
        *by = i ? all[i].by : *by;
        i = i ? all[i].next : 0;
    }
    return 0;
}

uint64_t writes_meet(const struct machine *m, const struct cell *c,
                     uint32_t *by)
{
    const struct reader *all = m->async->readers;
    *by = c->read_by;
    if (c->read & WRITE_FLAG && is_met(m, c->read, *by))
        return c->read;
    for (uint32_t i = (uint32_t)c->other_read; i; i = all[i].next) {
        *by = all[i].by;
        if (all[i].record & WRITE_FLAG && is_met(m, all[i].record, *by))
            return all[i].record;
    }
    return 0;
}

void readers_copy(const struct machine *m, const struct cell *from,
                  struct cell *to)
{
    struct async *a = m->async;
    uint32_t last = 0;
    for (uint32_t i = (uint32_t)from->other_read; i; i = a->readers[i].next) {
        uint32_t copy = entry(a);
        if (!copy)
            return;
        a->readers[copy] = a->readers[i];
        a->readers[copy].next = 0;
        if (last)
            a->readers[last].next = copy;
        else
            to->other_read = copy;
        last = copy;
    }
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
        if (all[i].record == old && all[i].by == m->serial)
            all[i].record = by;
}
