// What the lanes of a warp do at once: each brings its operands and waits; the
// last to arrive computes the result of all.

#include "tools/simt/async.h"

enum { LANE_BITS = 31 };

enum {
#define REGISTER(name, intrinsic, value) REGISTER_##name,
#include "tools/simt/registers.def"
#undef REGISTER
};

// The lanes that take part, in the order of the warp; NULL: not in the mask,
// or the block has no such thread.
struct party {
    struct fiber *lane[WARP_LANES];
};

// Return the threads of a warp that are in its mask.
static struct party party_of(struct machine *m, const struct fiber *f)
{
    struct party p = {{NULL}};
    uint32_t first = f->tid / WARP_LANES * WARP_LANES;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        if (f->mask >> i & 1 && first + i < m->threads)
            p.lane[i] = &m->fibers[f->number - f->tid + first + i];
    return p;
}

// Return whether a lane waits where another one does.
static bool is_with(const struct fiber *other, const struct fiber *f)
{
    return other->state == FIBER_WARP && other->site == f->site &&
           other->what == f->what && other->mask == f->mask;
}

// Return whether a neighbour in the mask is still to come: lanes mostly run in
// order, so this tells nearly always that not all have arrived.
static bool is_ahead(const struct machine *m, const struct fiber *f)
{
    uint32_t lane = f->tid % WARP_LANES, mask = f->mask;
    bool has_last = lane > 0 && mask >> (lane - 1) & 1;
    bool has_next = lane + 1 < WARP_LANES && mask >> (lane + 1) & 1 &&
                    f->tid + 1 < m->threads;
    return (has_next && !is_with(f + 1, f)) || (has_last && !is_with(f - 1, f));
}

// Return whether all have arrived at the same place.
static bool has_arrived(const struct party *p, const struct fiber *f)
{
    for (int i = 0; i < WARP_LANES; i++) {
        const struct fiber *other = p->lane[i];
        if (other && other != f && !is_with(other, f))
            return false;
    }
    return true;
}

// Return the lane that a shuffle takes its value from: the rules of PTX ISA,
// "shfl.sync".
static int shuffle_source(const struct fiber *f, int lane)
{
    int by = (int)(f->operands[1] & LANE_BITS);
    int clamp = (int)(f->operands[2] & LANE_BITS);
    int segment = (int)(f->operands[2] >> 8 & LANE_BITS);
    int least = lane & segment, most = least | (clamp & ~segment), from = lane;
    switch ((int)f->what) {
    case COLLECTIVE_shuffle: from = least | (by & ~segment); break;
    case COLLECTIVE_shuffle_up: return lane - by >= most ? lane - by : lane;
    case COLLECTIVE_shuffle_down: from = lane + by; break;
    case COLLECTIVE_shuffle_xor: from = lane ^ by; break;
    }
    return from <= most ? from : lane;
}

// Combine two values as a reduction does.
static uint64_t combine(enum collective what, uint64_t a, uint64_t b)
{
    switch (what) {
#define COLLECTIVE(name, intrinsic, mask, x, y, z, combined)                   \
    case COLLECTIVE_##name:                                                    \
        return combined;
#include "tools/simt/collectives.def"
#undef COLLECTIVE
    case COLLECTIVES: break;
    }
    return a;
}

// Return the lanes whose value equals this one.
static uint64_t matching(const struct party *p, uint64_t value)
{
    uint64_t lanes = 0;
    for (int i = 0; i < WARP_LANES; i++)
        if (p->lane[i] && p->lane[i]->operands[0] == value)
            lanes |= UINT64_C(1) << i;
    return lanes;
}

// Return all values combined.
static uint64_t reduced(const struct party *p, enum collective what)
{
    bool any = false;
    uint64_t result = 0;
    for (int i = 0; i < WARP_LANES; i++) {
        if (!p->lane[i])
            continue;
        uint64_t value = p->lane[i]->operands[0];
        result = any ? combine(what, result, value) : value;
        any = true;
    }
    return result;
}

// Return what a shuffle gives to a lane.
static uint64_t shuffled(struct machine *m, const struct party *p, int lane)
{
    struct fiber *f = p->lane[lane], *last = m->current;
    const struct fiber *from = p->lane[shuffle_source(f, lane)];
    if (from)
        return from->operands[0];
    m->current = f;
    finding_add(m, SIMT_FAULT_absent_lane, f->site, NULL, NULL);
    m->current = last;
    return UINT32_MAX;
}

// Return the leader that a warp elects, and in the upper half whether this
// lane is it: always the same, and no lane that code may count on.
static uint64_t elected(const struct machine *m, const struct party *p,
                        int lane)
{
    bool is_last = m->policy == SIMT_reverse;
    int leader = is_last ? WARP_LANES - 1 : 0;
    while (!p->lane[leader])
        leader += is_last ? -1 : 1;
    return (uint64_t)(lane == leader) << 32 | (uint32_t)leader;
}

// Return the result for one lane.
static uint64_t result_of(struct machine *m, const struct party *p, int lane)
{
    const struct fiber *f = p->lane[lane];
    switch ((int)f->what) {
    case COLLECTIVE_shuffle:
    case COLLECTIVE_shuffle_up:
    case COLLECTIVE_shuffle_down:
    case COLLECTIVE_shuffle_xor: return shuffled(m, p, lane);
    case COLLECTIVE_ballot: return matching(p, 1);
    case COLLECTIVE_match32:
    case COLLECTIVE_match64: return matching(p, f->operands[0]);
    case COLLECTIVE_elect: return elected(m, p, lane);
    case COLLECTIVE_together: return f == m->current;
    case COLLECTIVE_sync: return 0;
    }
    return reduced(p, f->what);
}

// Return whether what the lanes do has one result for all of them.
static bool is_common(enum collective what)
{
    switch ((int)what) {
    case COLLECTIVE_shuffle:
    case COLLECTIVE_shuffle_up:
    case COLLECTIVE_shuffle_down:
    case COLLECTIVE_shuffle_xor:
    case COLLECTIVE_match32:
    case COLLECTIVE_match64:
    case COLLECTIVE_elect:
    case COLLECTIVE_together: return false;
    }
    return true;
}

// Give every lane its result.
static void give_results(struct machine *m, const struct party *p,
                         enum collective what)
{
    const struct fiber *first = NULL;
    for (int i = 0; i < WARP_LANES; i++) {
        struct fiber *f = p->lane[i];
        if (!f)
            continue;
        f->result =
            first && is_common(what) ? first->result : result_of(m, p, i);
        first = first ? first : f;
    }
}

// Give every lane its result, and let all go on.
static void finish(struct machine *m, const struct party *p,
                   const struct fiber *last)
{
    bool is_sync = last->what == COLLECTIVE_sync;
    m->clock += is_sync;
    give_results(m, p, last->what);
    for (int i = 0; i < WARP_LANES; i++) {
        struct fiber *f = p->lane[i];
        if (!f)
            continue;
        f->state = FIBER_READY;
        m->progress += wait_moves(m, f);
        if (is_sync && !m->has_clocks)
            f->stamp = f->warp_floor = m->clock;
    }
    if (is_sync && m->has_clocks)
        clocks_meet(m, p->lane, WARP_LANES, false);
}

uint64_t simt_collective(struct machine *m, uint64_t what, uint64_t mask,
                         uint64_t a, uint64_t b, uint64_t c,
                         const struct site *s)
{
    struct fiber *f = m->current;
    f->state = FIBER_WARP;
    f->site = s;
    f->what = (enum collective)what;
    f->mask = (uint32_t)mask;
    f->operands[0] = a;
    f->operands[1] = b;
    f->operands[2] = c;
    struct party p;
    if (!is_ahead(m, f)) {
        p = party_of(m, f);
        if (has_arrived(&p, f)) {
            finish(m, &p, f);
            return f->result;
        }
    }
    fiber_yield(m);
    return f->result;
}

uint32_t simt_register(struct machine *m, uint32_t i)
{
    const struct fiber *f = m->current;
    switch (i) {
#define REGISTER(name, intrinsic, value)                                       \
    case REGISTER_##name:                                                      \
        return value;
#include "tools/simt/registers.def"
#undef REGISTER
    }
    return 0;
}
