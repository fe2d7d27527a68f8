// One launch: its blocks, or clusters of them, one after another in the order of
// the policy.

#include "tools/simt/machine.h"

// Return the greatest common divisor.
static uint64_t common(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// An order of `n` blocks: one after another, or with strides around.
struct tour {
    uint64_t n, at, step;
};

// Return the order of blocks under the policy.
static struct tour tour_of(struct machine *m, uint64_t n)
{
    struct tour t = {n, 0, 1};
    if (m->policy == SIMT_forward || m->policy == SIMT_one_ahead)
        return t;
    t.at = m->policy == SIMT_reverse ? n - 1 : random_below(m, n);
    t.step = n - 1;
    while (m->policy != SIMT_reverse && n > 2 &&
           (t.step == n - 1 || common(t.step, n) != 1))
        t.step = 1 + random_below(m, n - 1);
    return t;
}

void blocks_run(struct machine *m)
{
    uint32_t n[3];
    for (int d = 0; d < 3; d++)
        n[d] = m->grid[d] / m->cluster[d];
    uint64_t all = (uint64_t)n[0] * n[1] * n[2];
    uint64_t most =
        m->most_blocks && m->most_blocks < all ? m->most_blocks : all;
    struct tour t = tour_of(m, most);
    m->first = ++m->serial;
    for (uint64_t i = 0; i < most && !m->is_stopped; i++) {
        uint64_t at = most > 1 ? t.at * (all - 1) / (most - 1) : t.at;
        m->at[0] = (uint32_t)(at % n[0]) * m->cluster[0];
        m->at[1] = (uint32_t)(at / n[0] % n[1]) * m->cluster[1];
        m->at[2] = (uint32_t)(at / n[0] / n[1]) * m->cluster[2];
        m->serial++;
        block_run(m);
        t.at = (t.at + t.step) % most;
    }
}
