// The order in which threads run, by policy; all chance comes from the seed.

#include "ir/base/num.h"
#include "tools/simt/machine.h"

// Steps between which no other thread runs, unless the policy is random: so
// many that threads which wait for another one do not wait for ever.
enum { SLICE = 1 << 20, SLICE_RANDOM = 24 };

uint64_t random_below(struct machine *m, uint64_t n)
{
    m->random += UINT64_C(0x9e3779b97f4a7c15);
    return num_mix(m->random) % n;
}

void order_grant(struct machine *m)
{
    m->granted = m->policy == SIMT_random
                     ? 1 + (int64_t)random_below(m, SLICE_RANDOM)
                     : SLICE;
    m->slice = m->granted;
}

// Bring `n` numbers into random order.
static void shuffle(struct machine *m, uint32_t *numbers, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = (uint32_t)random_below(m, i), kept = numbers[i - 1];
        numbers[i - 1] = numbers[k];
        numbers[k] = kept;
    }
}

// Put warps in random order, the last of which may be short.
static void order_warps(struct machine *m)
{
    uint32_t warps[FIBERS_MOST / WARP_LANES], at = 0;
    uint32_t n = (m->n_fibers + WARP_LANES - 1) / WARP_LANES;
    for (uint32_t w = 0; w < n; w++)
        warps[w] = w;
    shuffle(m, warps, n);
    for (uint32_t w = 0; w < n; w++) {
        uint32_t from = warps[w] * WARP_LANES, to = from + WARP_LANES;
        for (uint32_t t = from; t < to && t < m->n_fibers; t++)
            m->order[at++] = t;
    }
}

void order_threads(struct machine *m)
{
    uint32_t n = m->n_fibers, ahead;
    for (uint32_t i = 0; i < n; i++)
        m->order[i] = m->policy == SIMT_reverse ? n - 1 - i : i;
    switch (m->policy) {
    case SIMT_random: shuffle(m, m->order, n); break;
    case SIMT_warp_contiguous: order_warps(m); break;
    case SIMT_one_ahead:
        ahead = (uint32_t)random_below(m, n);
        m->order[0] = ahead;
        m->order[ahead] = 0;
        break;
    case SIMT_forward:
    case SIMT_reverse:
    case SIMT_POLICIES: break;
    }
}
