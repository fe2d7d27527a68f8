// The readers of an element that no meeting has put in order, where there are
// vector clocks: a list behind the first, the last reader first.  Where there
// are fences, it holds readers of all blocks of the launch, and atomics that
// wrote.
//
// Threads of a warp that read at one place and one time share an entry: arrays
// that all threads of a block read have lists 32 times as short.
//
// A reader that a later one stands for says nothing more.  Those are taken out
// once the list is about twice as long as it need be, not at each read: a read
// takes constant time on average.

#include "tools/simt/async.h"

enum {
    READERS_MOST = 1 << 26,
    ROOM_LEAST = 8,
    GATHER_LEAST = 32,
    LOOK_MOST = 8 // entries, for one to share
};

// The bits of a record that tell the threads of an entry apart.
#define LANE_BITS ((uint64_t)(WARP_LANES - 1) << AGENT_SHIFT)

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

// Return whether an access of the thread of a record that is no older has been
// seen in this search, and note it; a write stands for writes alone, and of one
// age an atomic does not stand for what is none.
static bool is_repeated(const struct machine *m, uint64_t record, uint32_t by)
{
    struct async *a = m->async;
    uint32_t agent = agent_of(record);
    if (agent >= m->n_fibers || stamp_of(record) == STAMP_NEVER ||
        by != m->serial)
        return false;
    uint64_t *searched = a->searched[(record & WRITE_FLAG) != 0] + agent;
    uint64_t age = (uint64_t)stamp_of(record) << 1 | !(record & ATOMIC_FLAG);
    uint64_t now = a->searches << (STAMP_BITS + 1) | age;
    bool is_known = *searched >= now;
    *searched = is_known ? *searched : now;
    return is_known;
}

// Return the record of an entry's first thread, or of the one behind it.
static uint64_t record_in(const struct reader *r, uint32_t lanes)
{
    uint64_t lane = (uint64_t)__builtin_ctz(lanes) << AGENT_SHIFT;
    return (r->record & ~LANE_BITS) | lane;
}

// Return the bit of a record's thread in its entry.
static uint32_t lane_of(uint64_t record)
{
    return 1u << agent_of(record) % WARP_LANES;
}

// Take out of an entry the threads that a later read stands for.  Returns
// whether none is left.
static bool drop_lanes(const struct machine *m, struct reader *r)
{
    for (uint32_t lanes = r->lanes; lanes; lanes &= lanes - 1) {
        uint64_t record = record_in(r, lanes);
        if (is_covered(m, record, r->by) || is_repeated(m, record, r->by))
            r->lanes &= ~lane_of(record);
    }
    return !r->lanes;
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
        bool is_old = drop_lanes(m, &a->readers[i]);
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

// Put an access into an entry that other threads of its warp have for one like
// it.  Returns false if there is none among the first of a list.
static bool share(struct async *a, const struct cell *c, uint64_t record,
                  uint32_t by)
{
    uint32_t i = (uint32_t)c->other_read;
    for (int n = 0; i && n < LOOK_MOST; n++, i = a->readers[i].next) {
        struct reader *r = &a->readers[i];
        if (r->by != by || (r->record ^ record) & ~LANE_BITS)
            continue;
        r->lanes |= lane_of(record);
        return true;
    }
    return false;
}

// Put an access into the list of a cell, behind its first.  What is under way
// has an entry of its own, as its record will be another one.
static void push(const struct machine *m, struct cell *c, uint64_t record,
                 uint32_t by)
{
    struct async *a = m->async;
    if (stamp_of(record) != STAMP_NEVER && share(a, c, record, by))
        return;
    uint32_t room = room_in(m, c), i = entry(a);
    if (!i)
        return;
    a->readers[i] = (struct reader){record, by, (uint32_t)c->other_read,
                                    room - 1, lane_of(record)};
    c->other_read = i;
}

// Make the readers of another block that lead the list one for them all, if
// they are many.
static void gather(const struct machine *m, struct cell *c)
{
    struct async *a = m->async;
    uint32_t by = c->read_by, n = 0, threads = 0, i = (uint32_t)c->other_read;
    uint64_t last = c->read;
    for (; i && a->readers[i].by == by && !(a->readers[i].record & WRITE_FLAG);
         i = a->readers[i].next, n++)
        threads += (uint32_t)__builtin_popcount(a->readers[i].lanes);
    if (threads < GATHER_LEAST || last & WRITE_FLAG)
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

// Return whether an access of this thread meets one of another.
static bool is_met(const struct machine *m, uint64_t record, uint32_t by)
{
    return by == m->serial ? meets(m->current, record)
                           : !is_past(m, record, by);
}

// Return the access of an entry that one of this thread meets, or 0.
static uint64_t met_in(const struct machine *m, const struct reader *r)
{
    for (uint32_t lanes = r->lanes; lanes; lanes &= lanes - 1)
        if (is_met(m, record_in(r, lanes), r->by))
            return record_in(r, lanes);
    return 0;
}

uint64_t readers_meet(const struct machine *m, const struct cell *c,
                      const struct site *s, uint32_t *by)
{
    const struct reader *all = m->async->readers;
    uint64_t record = c->read;
    *by = c->read_by;
    if (is_met(m, record, *by) && !are_atomic(m, s, record, *by))
        return record;
    for (uint32_t i = (uint32_t)c->other_read; i; i = all[i].next) {
        *by = all[i].by;
        record = met_in(m, &all[i]);
        if (record && !are_atomic(m, s, record, *by))
            return record;
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
        uint64_t record = all[i].record & WRITE_FLAG ? met_in(m, &all[i]) : 0;
        *by = all[i].by;
        if (record)
            return record;
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
        if (all[i].record == old && all[i].by == m->serial &&
            all[i].lanes == lane_of(old)) {
            all[i].record = by;
            all[i].lanes = lane_of(by);
        }
}
