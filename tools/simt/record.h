// Records of accesses: who, where, when, packed into 64 bits.
//
//   29 bits stamp, atomic, several readers of the block (of a write: by the
//   asynchronous proxy), several readers of the warp, 14 bits agent, 18 bits
//   site

#ifndef TOOLS_SIMT_RECORD_H
#define TOOLS_SIMT_RECORD_H

#include "tools/simt/machine.h"

enum { SITE_BITS = 18, AGENT_BITS = 14, AGENT_SHIFT = SITE_BITS };
#define SITE_MASK   ((1u << SITE_BITS) - 1)
#define AGENT_MASK  ((1u << AGENT_BITS) - 1)
#define WARP_FLAG   (UINT64_C(1) << 32)
#define BLOCK_FLAG  (UINT64_C(1) << 33)
#define PROXY_FLAG  BLOCK_FLAG
#define WRITE_FLAG  BLOCK_FLAG // of a write among readers
#define ATOMIC_FLAG (UINT64_C(1) << 34)
#define STAMP_SHIFT 35
#define STAMP_BITS  29

// The stamp of what is under way: it came before nothing.
#define STAMP_NEVER ((1u << STAMP_BITS) - 1)

static inline uint32_t stamp_of(uint64_t record)
{
    return (uint32_t)(record >> STAMP_SHIFT);
}

static inline uint32_t agent_of(uint64_t record)
{
    return (uint32_t)(record >> AGENT_SHIFT) & AGENT_MASK;
}

// Return the record of an access by an agent.
static inline uint64_t record_of(uint32_t agent, uint32_t stamp,
                                 const struct site *s)
{
    uint64_t atomic = s->kind & ACCESS_ATOMIC ? ATOMIC_FLAG : 0;
    return (uint64_t)stamp << STAMP_SHIFT | atomic |
           (uint64_t)agent << AGENT_SHIFT | (s->number & SITE_MASK);
}

// Return the record of an access of this thread.
static inline uint64_t record_make(const struct fiber *f, const struct site *s)
{
    return record_of(f->number, f->stamp, s);
}

// Return whether an access of this block came before this thread's last
// meeting with the one that did it.
static inline bool is_before(const struct fiber *f, uint64_t record)
{
    uint32_t stamp = stamp_of(record), agent = agent_of(record);
    if (f->clock.seen)
        return stamp < f->clock.seen[agent] || stamp < f->floor;
    bool same_warp = agent / WARP_LANES == f->number / WARP_LANES;
    return stamp < f->floor ||
           (same_warp && !(record & BLOCK_FLAG) && stamp < f->warp_floor);
}

// Return whether a record is of this thread alone, and done.
static inline bool is_own(const struct fiber *f, uint64_t record)
{
    bool is_one = f->clock.seen || !(record & (WARP_FLAG | BLOCK_FLAG));
    return agent_of(record) == f->number && is_one &&
           stamp_of(record) != STAMP_NEVER;
}

// Return whether a record of this block is of another thread at the same time.
static inline bool meets(const struct fiber *f, uint64_t record)
{
    return record && !is_own(f, record) && !is_before(f, record);
}

// Return whether a record is of another block of this launch.
static inline bool is_foreign(const struct machine *m, const struct region *r,
                              uint32_t by)
{
    return r->space == SPACE_global && by >= m->first && by != m->serial;
}

// Return whether an access of another block is one that nothing puts before
// this thread.
static inline bool meets_foreign(const struct machine *m, uint64_t record,
                                 uint32_t by)
{
    return !m->has_order || !model_knows(m, record, by);
}

// Return whether two accesses are atomics, each of a scope that holds both
// threads.
static inline bool are_atomic(const struct machine *m, const struct site *s,
                              uint64_t record, uint32_t by)
{
    return s->kind & ACCESS_ATOMIC && record & ATOMIC_FLAG &&
           ((by == m->serial && m->n_fibers == m->threads) ||
            model_reaches(m, s, record, by));
}

// Return the record of a byte of a region.
static inline struct cell *cell_at(const struct region *r, size_t offset)
{
    return &r->cells[offset >> r->shift];
}

#endif
