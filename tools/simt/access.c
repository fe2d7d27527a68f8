// Checks of each access, after FastTrack: for each element the last write and
// the last read are known. An access is older than what this thread knows if
// its stamp is below the thread's floor, which rises where threads meet.

#include "tools/simt/async.h"
#include "tools/simt/trace.h"

#include <string.h>

#define RARELY(x) __builtin_expect(!!(x), 0)

// Keep a write that meets another one until it is done; others of the same
// access are a part of it as far as its bytes are known.
static void pending_add(struct machine *m, const struct simt_finding *f,
                        const unsigned char *p)
{
    struct pending *known = &m->pending;
    if (known->is_active && p < known->at + known->bytes)
        return;
    if (known->is_active) {
        finding_note(m, f);
        return;
    }
    *known = (struct pending){.is_active = true, .finding = *f, .at = p};
    known->bytes = f->bytes && f->bytes < SINK_BYTES ? f->bytes : SINK_BYTES;
    memcpy(known->before, p, known->bytes);
    known->slice = m->slice;
    m->slice = 0;
}

// Return what it is to meet a record.
static enum simt_fault fault_of(const struct machine *m, uint64_t record,
                                uint32_t by, bool both_write,
                                const struct site *s)
{
    bool is_under_way = stamp_of(record) == STAMP_NEVER;
    if (by != m->serial)
        return SIMT_FAULT_race_grid;
    if (is_under_way)
        return both_write || !(s->kind & ACCESS_WRITE)
                   ? SIMT_FAULT_async_early
                   : SIMT_FAULT_async_source;
    struct simt_thread one = thread_of(m, m->current->number);
    struct simt_thread other = thread_of(m, agent_of(record));
    return memcmp(one.block, other.block, sizeof one.block) == 0
               ? SIMT_FAULT_race_block
               : SIMT_FAULT_race_cluster;
}

// Note what is wrong with an element.  Of a group it is noted later, when its
// elements are looked at one by one.
static void note_element(struct machine *m, enum simt_fault fault,
                         const struct site *s, struct region *r, void *p)
{
    if (m->is_group)
        m->is_group_wrong = true;
    else
        finding_add(m, fault, s, r, p);
}

// Note that this access meets another one.  A write is decided later, by
// whether it changes the value.
static void conflict(struct machine *m, const struct site *s, struct region *r,
                     unsigned char *p, uint64_t record, uint32_t by,
                     bool both_write)
{
    struct simt_finding f;
    bool is_under_way = stamp_of(record) == STAMP_NEVER;
    if (m->is_group) {
        m->is_group_wrong = true;
        return;
    }
    finding_make(m, fault_of(m, record, by, both_write, s), s, r, p, &f);
    const struct site *other = m->sites[record & SITE_MASK];
    finding_set_other(m, record, by, &f);
    f.other_is_write = both_write || !(s->kind & ACCESS_WRITE);
    if (s->kind & ACCESS_ATOMIC && record & ATOMIC_FLAG)
        f.missing = SIMT_MISSING_atomic;
    bool is_plain = !((s->kind | other->kind) & (ACCESS_ATOMIC | ACCESS_LATER));
    if (!(s->kind & ACCESS_WRITE && is_plain) || (both_write && is_under_way)) {
        finding_note(m, &f);
        return;
    }
    pending_add(m, &f, p);
    if (both_write && by == m->serial)
        same_note(m, r, p, record);
}

void pending_settle(struct machine *m)
{
    struct pending *p = &m->pending;
    p->is_active = false;
    m->slice += p->slice;
    if (memcmp(p->before, p->at, p->bytes) == 0)
        p->finding.fault = SIMT_FAULT_redundant;
    finding_note(m, &p->finding);
}

// Return whether anyone has written an element: in shared and local memory
// only this block counts.
static inline bool is_written(const struct machine *m, const struct region *r,
                              const struct cell *c)
{
    return c->write_by == m->serial || r->is_defined ||
           (c->write && r->space == SPACE_global);
}

// Check a read against the last write.
static inline void read_written(struct machine *m, const struct site *s,
                                struct region *r, struct cell *c,
                                unsigned char *p)
{
    uint64_t w = c->write;
    uint32_t by = c->write_by;
    if (w && are_atomic(m, s, w, by))
        return;
    if (by == m->serial) {
        if (RARELY(meets(m->current, w) && !same_as_own(m, r, p))) {
            conflict(m, s, r, p, w, by, false);
            return;
        }
    } else if (RARELY(is_foreign(m, r, by))) {
        if (meets_foreign(m, w, by)) {
            conflict(m, s, r, p, w, by, false);
            return;
        }
    } else if (RARELY(!is_written(m, r, c)))
        note_element(m, SIMT_FAULT_uninitialised, s, r, p);
    if (RARELY(m->has_order && w & ATOMIC_FLAG)) {
        readers_begin(m, r, c);
        w = writes_meet(m, c, &by);
        if (w)
            conflict(m, s, r, p, w, by, false);
    }
}

// Record a read, unless so many threads read the element since they met that
// one more makes no difference.
static inline void note_read(struct machine *m, const struct site *s,
                             const struct region *r, struct cell *c)
{
    const struct fiber *f = m->current;
    uint64_t mine = record_make(f, s);
    if (m->has_order) {
        readers_begin(m, r, c);
        if (c->read && c->read_by != m->serial)
            pairs_note(m, c->read_by);
        readers_add(m, c, mine);
        return;
    }
    if (c->read_by != m->serial) {
        foreign_read(m, r, c, mine);
        return;
    }
    if (m->has_clocks) {
        readers_add(m, c, mine);
        return;
    }
    if (c->read & BLOCK_FLAG && stamp_of(c->read) == f->stamp)
        return;
    if (meets(f, c->read)) {
        if (agent_of(c->read) != f->number)
            c->other_read = c->read;
        bool same_warp =
            agent_of(c->read) / WARP_LANES == f->number / WARP_LANES;
        mine |= (c->read & (WARP_FLAG | BLOCK_FLAG)) |
                (same_warp ? WARP_FLAG : BLOCK_FLAG);
    }
    c->read = mine;
}

// Check a write against the last write.
static inline void meet_write(struct machine *m, const struct site *s,
                              struct region *r, const struct cell *c,
                              unsigned char *p)
{
    const struct fiber *f = m->current;
    uint64_t w = c->write;
    uint32_t by = c->write_by;
    bool same_block = by == m->serial;
    if (RARELY(!same_block && is_foreign(m, r, by)))
        pairs_note(m, by);
    if (w && are_atomic(m, s, w, by))
        return;
    if (RARELY(same_block ? meets(f, w)
                          : is_foreign(m, r, by) && meets_foreign(m, w, by)))
        conflict(m, s, r, p, w, by, true);
    else if (RARELY(r->is_result && w && !c->read && !(s->kind & ACCESS_READ) &&
                    !(same_block && agent_of(w) == f->number)))
        note_element(m, SIMT_FAULT_rewritten, s, r, p);
}

// Return the read of an element that a write of this thread meets.
static uint64_t read_of_other(const struct machine *m, const struct cell *c)
{
    bool is_mine = agent_of(c->read) == m->current->number &&
                   stamp_of(c->read) != STAMP_NEVER;
    return is_mine && !m->has_clocks ? c->other_read : c->read;
}

// Return a read of this block, or of others where there are fences, that a
// write of this thread meets, or 0.
static inline uint64_t read_that_meets(const struct machine *m,
                                       const struct cell *c,
                                       const struct site *s, uint32_t *by)
{
    if (m->has_clocks)
        return c->read ? readers_meet(m, c, s, by) : 0;
    return meets(m->current, c->read) ? read_of_other(m, c) : 0;
}

// Check a write against the last read.
static inline void meet_read(struct machine *m, const struct site *s,
                             struct region *r, struct cell *c, unsigned char *p)
{
    uint32_t by = c->read_by;
    uint64_t read = c->read;
    if (!m->has_order && by != m->serial) {
        if (RARELY(is_foreign(m, r, by))) {
            read = foreign_reader(m, c, &by);
            if (!are_atomic(m, s, read, by))
                conflict(m, s, r, p, read, by, false);
        }
        return;
    }
    if (!m->has_clocks && are_atomic(m, s, read, by))
        return;
    if (m->has_order)
        readers_begin(m, r, c);
    read = read_that_meets(m, c, s, &by);
    if (RARELY(read))
        conflict(m, s, r, p, read, by, read & WRITE_FLAG && m->has_order);
}

// Check a write or an atomic, and record it.
static inline void write_cell(struct machine *m, const struct site *s,
                              struct region *r, struct cell *c,
                              unsigned char *p)
{
    meet_write(m, s, r, c, p);
    meet_read(m, s, r, c, p);
    if (RARELY(m->is_group_wrong))
        return;
    bool keeps = m->has_order && s->kind & ACCESS_ATOMIC;
    bool sees = s->kind & ACCESS_READ;
    if (keeps && !sees && c->write & ATOMIC_FLAG && c->write_by >= m->first)
        readers_keep_write(m, r, c);
    c->write = record_make(m->current, s);
    c->write_by = m->serial;
    if (keeps)
        return;
    if (m->has_clocks && (m->has_order || c->read_by == m->serial))
        readers_drop(m, c);
    c->read = 0;
    c->other_read = 0;
    c->read_by = 0;
}

// Check what an access does to one cell.
static inline void check_cell(struct machine *m, const struct site *s,
                              struct region *r, struct cell *c,
                              unsigned char *p)
{
    if (!(s->kind & ACCESS_WRITE)) {
        read_written(m, s, r, c, p);
        note_read(m, s, r, c);
        return;
    }
    bool uses = (s->kind & (ACCESS_READ | ACCESS_BLIND)) == ACCESS_READ;
    if (RARELY(uses && !is_written(m, r, c)))
        note_element(m, SIMT_FAULT_uninitialised, s, r, p);
    write_cell(m, s, r, c, p);
}

// Check an access by groups.  Returns false if its elements are to be checked
// one by one: they are not whole groups, or something is wrong with them.
static bool check_groups(struct machine *m, const struct site *s,
                         struct region *r, size_t offset, size_t bytes)
{
    bool is_right = groups_are_whole(r, offset, bytes);
    size_t end = offset + bytes;
    m->is_group = true;
    for (size_t at = offset; is_right && at < end; at += GROUP_BYTES) {
        check_cell(m, s, r, cell_at(r, at), r->base + at);
        is_right = !m->is_group_wrong;
    }
    m->is_group = m->is_group_wrong = false;
    if (!is_right)
        groups_split(m, r, offset, bytes);
    return is_right;
}

// Check reads and writes of `bytes` bytes, which lie in the region.  Nothing
// can meet a read of what is never written: it needs no record.
static inline void check_cells(struct machine *m, const struct site *s,
                               struct region *r, size_t offset, size_t bytes)
{
    struct cell *c = cell_at(r, offset), *end = cell_at(r, offset + bytes - 1);
    size_t step = (size_t)1 << r->shift;
    if (m->has_clocks && r->is_split && check_groups(m, s, r, offset, bytes))
        return;
    for (unsigned char *p = r->base + offset; c <= end; c++, p += step)
        check_cell(m, s, r, c, p);
}

// Return where the part of a region that an offset is meant for begins and
// ends: this thread's, or that of a block of the cluster.
static inline void part_of(const struct machine *m, const struct region *r,
                           size_t offset, size_t *from, size_t *to)
{
    *from = r->stride ? r->stride * m->current->place
            : r->copy ? offset / r->copy * r->copy
                      : 0;
    *to = r->stride || r->copy ? *from + r->part : r->bytes;
}

// Refuse an access.
static void *refuse(struct machine *m, enum simt_fault fault,
                    const struct site *s, struct region *r, void *p)
{
    finding_add(m, fault, s, r, p);
    return m->sink;
}

void *simt_range(struct machine *m, void *p, uint64_t bytes,
                 const struct site *s)
{
    struct region *r = s->home ? s->home : region_of(m, p);
    size_t offset = (size_t)((unsigned char *)p - r->base), from, to;
    if (RARELY(m->pending.is_active))
        pending_settle(m);
    if (RARELY(--m->slice < 0))
        fiber_preempt(m, s);
    if (RARELY(r->copy && offset < r->copy)) {
        offset += r->copy * (m->slot + m->current->rank + 1);
        p = r->base + offset;
    }
    part_of(m, r, offset, &from, &to);
    if (RARELY(!bytes))
        return p;
    bool is_outside = offset < from || bytes > to || offset > to - bytes;
    if (RARELY(m->trace))
        trace_access(m, s, r, p, !is_outside);
    if (RARELY(is_outside))
        return refuse(m, SIMT_FAULT_out_of_bounds, s, r, p);
    if (RARELY((uintptr_t)p & (s->align - 1)))
        return refuse(m, SIMT_FAULT_misaligned, s, r, p);
    if (RARELY(r->is_read_only && (s->kind & ACCESS_WRITE)))
        return refuse(m, SIMT_FAULT_read_only, s, r, p);
    if (!r->is_read_only)
        check_cells(m, s, r, offset, bytes);
    if (RARELY(m->may_wait && s->kind & ACCESS_WRITE))
        wait_note_write(m, p, bytes);
    return p;
}

// Return where accesses like this one, in that region, need few checks.
static struct window window_of(const struct machine *m, const struct region *r,
                               const struct site *s)
{
    struct window none = {.base = NULL};
    bool is_read = s->kind == ACCESS_READ;
    if (m->trace || r->stride || r->copy || (r->is_read_only && !is_read) ||
        r->bytes < s->bytes)
        return none;
    bool is_one = s->bytes >> r->shift == 1 && !m->has_clocks;
    return (struct window){.base = r->base,
                           .most = r->bytes - s->bytes,
                           .mask = s->align - 1,
                           .region = (struct region *)r,
                           .cells = r->cells,
                           .shift = r->shift,
                           .mode = !is_read          ? WINDOW_CELLS
                                   : r->is_read_only ? WINDOW_FREE
                                   : is_one          ? WINDOW_CELL
                                                     : WINDOW_CELLS};
}

// Check an access of which little is known, and note its window for the next.
static __attribute__((noinline)) void *access_any(struct machine *m, void *p,
                                                  struct site *s)
{
    m->slice++;
    s->window = window_of(m, s->home ? s->home : region_of(m, p), s);
    return simt_range(m, p, s->bytes, s);
}

// Check an access inside of its window.
static __attribute__((noinline)) void *access_cells(struct machine *m, void *p,
                                                    const struct site *s)
{
    check_cells(m, s, s->window.region,
                (size_t)((unsigned char *)p - s->window.base), s->bytes);
    if (RARELY(m->may_wait && s->kind & ACCESS_WRITE))
        wait_note_write(m, p, s->bytes);
    return p;
}

// Return whether a read needs no record: the element was written before this
// thread last met the block, and since then its warp or many warps read it.
static inline bool is_known_read(const struct machine *m, const struct cell *c)
{
    const struct fiber *f = m->current;
    uint64_t read = c->read;
    bool is_read = c->read_by == m->serial && stamp_of(read) == f->stamp;
    bool same_warp = agent_of(read) / WARP_LANES == f->number / WARP_LANES;
    return c->write_by == m->serial && stamp_of(c->write) < f->floor &&
           is_read && (read & BLOCK_FLAG || (same_warp && read & WARP_FLAG));
}

void *simt_access(struct machine *m, void *p, struct site *s)
{
    const struct window *w = &s->window;
    size_t offset = (size_t)((unsigned char *)p - w->base);
    if (RARELY(--m->slice < 0 || offset > w->most || offset & w->mask))
        return access_any(m, p, s);
    if (w->mode == WINDOW_FREE ||
        (w->mode == WINDOW_CELL &&
         is_known_read(m, &w->cells[offset >> w->shift])))
        return p;
    return access_cells(m, p, s);
}

void simt_step(struct machine *m, const struct site *s)
{
    if (RARELY(m->pending.is_active))
        pending_settle(m);
    if (RARELY(--m->slice < 0))
        fiber_preempt(m, s);
}

uint64_t simt_divisor(struct machine *m, uint64_t value, uint64_t divisor,
                      int64_t bits, const struct site *s)
{
    unsigned width = (unsigned)(bits < 0 ? -bits : bits);
    uint64_t mask = UINT64_MAX >> (64 - width);
    bool overflows = bits > 0 && (divisor & mask) == mask &&
                     (value & mask) == (mask >> 1) + 1;
    if (divisor & mask && !overflows)
        return divisor;
    finding_add(m, SIMT_FAULT_division_by_zero, s, NULL, NULL);
    return 1;
}

void *simt_local(struct machine *m, const struct region *r)
{
    return r->base + r->stride * m->current->place;
}
