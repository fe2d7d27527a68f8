// One launch: its blocks, or clusters of them, one after another in the order of
// the policy.

#include "ir/base/num.h"
#include "tools/simt/async.h"

#include <string.h>

// Return the order of `n` blocks of a launch under the policy: one after
// another, or with strides around.
static struct tour tour_of(struct machine *m, uint64_t n, uint64_t all)
{
    struct tour t = {n, 0, 1, all};
    if (m->policy == SIMT_forward || m->policy == SIMT_one_ahead)
        return t;
    t.at = m->policy == SIMT_reverse ? n - 1 : random_below(m, n);
    t.step = n - 1;
    while (m->policy != SIMT_reverse && n > 2 &&
           (t.step == n - 1 || num_gcd((int64_t)t.step, (int64_t)n) != 1))
        t.step = 1 + random_below(m, n - 1);
    return t;
}

void block_at(const struct machine *m, uint32_t serial, uint32_t at[3])
{
    const struct tour *t = &m->tour;
    uint64_t i = serial - m->first - 1, rest;
    i = (t->at + i * t->step) % t->n;
    rest = t->n > 1 ? i * (t->all - 1) / (t->n - 1) : i;
    for (int d = 0; d < 3; d++) {
        uint32_t n = m->grid[d] / m->cluster[d];
        at[d] = (uint32_t)(d < 2 ? rest % n : rest) * m->cluster[d];
        rest /= n;
    }
}

void slot_enter(struct machine *m, uint32_t slot)
{
    struct slot *from = &m->slots[m->slot], *to = &m->slots[slot];
    if (m->slot == slot)
        return;
    from->serial = m->serial;
    from->clock = m->clock;
    memcpy(from->at, m->at, sizeof m->at);
    m->slot = slot;
    m->fibers = to->fibers;
    m->serial = to->serial;
    m->clock = to->clock;
    memcpy(m->at, to->at, sizeof m->at);
}

// Make room for the blocks that are resident at a time.
static void make_slots(struct machine *m, uint64_t blocks)
{
    uint64_t n = m->resident < blocks ? m->resident : blocks;
    while (n > 1 && n * m->n_fibers > FIBERS_MOST)
        n--;
    m->n_slots = n ? (uint32_t)n : 1;
    for (uint32_t i = 0; i < m->n_slots; i++)
        m->slots[i] = (struct slot){.fibers = m->all + i * m->n_fibers};
    m->slot = 0;
    m->fibers = m->all;
}

// Begin a block in the slot that runs.
static void begin_block(struct machine *m)
{
    m->serial = ++m->last_serial;
    block_at(m, m->serial, m->at);
    block_begin(m);
    m->slots[m->slot].is_live = true;
}

// Return whether a block runs as far as it can before another one does.
static bool runs_on(const struct machine *m)
{
    return m->n_slots == 1 || m->policy == SIMT_forward ||
           m->policy == SIMT_reverse;
}

// Run the block of a slot, a new one if that has ended.  Returns whether
// anything went on.
static bool run_slot(struct machine *m, uint32_t slot, uint64_t *unbegun)
{
    bool any = false;
    slot_enter(m, slot);
    if (!m->slots[slot].is_live) {
        if (!*unbegun)
            return false;
        --*unbegun;
        begin_block(m);
    }
    while (m->slots[slot].is_live && !m->is_stopped && block_advance(m)) {
        any = true;
        if (!runs_on(m))
            break;
    }
    return any;
}

// Return whether a block has begun and not ended.
static bool any_live(const struct machine *m)
{
    bool any = false;
    for (uint32_t i = 0; i < m->n_slots; i++)
        any |= m->slots[i].is_live;
    return any;
}

void blocks_run(struct machine *m)
{
    uint64_t all = 1;
    for (int d = 0; d < 3; d++)
        all *= m->grid[d] / m->cluster[d];
    uint64_t most =
        m->most_blocks && m->most_blocks < all ? m->most_blocks : all;
    m->tour = tour_of(m, most, all);
    m->serial = m->first = ++m->last_serial;
    m->trial.is_on = false;
    m->written.bytes = 0;
    make_slots(m, most);
    pairs_begin(m);
    model_begin(m);
    if (m->async)
        async_launch(m);
    for (uint64_t unbegun = most; !m->is_stopped;) {
        bool any = false;
        for (uint32_t i = 0; i < m->n_slots && !m->is_stopped; i++)
            any |= run_slot(m, i, &unbegun);
        if (!unbegun && !any_live(m))
            break;
        if (!any && !m->is_stopped)
            wait_resolve(m, unbegun);
    }
    model_begin(m);
}
