// Registers that warps give up for others (setmaxnreg): no more than the
// launch has.

#include "tools/simt/async.h"
#include "tools/simt/intrinsics.h"

enum { REGISTERS = 64 * 1024, STEP = 8, MOST = 248 };

uint32_t registers_at_start(const struct machine *m)
{
    uint32_t threads = m->threads * (m->min_blocks ? m->min_blocks : 1);
    uint32_t most = REGISTERS / threads / STEP * STEP;
    return m->registers ? m->registers : most < MOST ? most : MOST;
}

// Return those of all warps of a block together, one lane each.
static uint32_t registers_in_use(struct machine *m, uint32_t rank)
{
    uint32_t sum = 0;
    for (uint32_t t = 0; t < m->threads; t += WARP_LANES)
        sum += m->fibers[rank * m->threads + t].registers;
    return sum;
}

// Let warps go on whose registers are free by now.
static void grant_registers(struct machine *m)
{
    uint32_t all = registers_at_start(m) * (m->threads / WARP_LANES);
    for (uint32_t i = 0; i < m->n_fibers; i++) {
        struct fiber *f = &m->fibers[i];
        struct fiber *first = &m->fibers[i - f->tid % WARP_LANES];
        if (f->state != FIBER_REGISTERS)
            continue;
        uint32_t more = f->waits_for - first->registers;
        if (f->waits_for > first->registers &&
            registers_in_use(m, f->rank) + more > all)
            continue;
        first->registers = f->waits_for;
        f->state = FIBER_READY;
    }
}

uint64_t set_registers(struct machine *m, const struct site *s,
                       const uint64_t *o)
{
    struct fiber *f = m->current;
    struct fiber *first = &m->fibers[f->number - f->tid % WARP_LANES];
    uint32_t to = (uint32_t)o[0];
    bool is_up = s->bytes;
    bool is_wrong = is_up ? to < first->registers : to > first->registers;
    simt_collective(m, COLLECTIVE_together, UINT32_MAX, 0, 0, 0, s);
    if (is_wrong && f == first)
        finding_add(m, SIMT_FAULT_registers, s, NULL, NULL);
    f->waits_for = to;
    f->state = FIBER_REGISTERS;
    f->site = s;
    grant_registers(m);
    if (f->state != FIBER_READY)
        fiber_yield(m);
    return 0;
}
