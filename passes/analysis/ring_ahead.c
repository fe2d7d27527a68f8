// How far ahead of its use each ring of a loop is filled.

#include "passes/analysis/ring_ahead.h"

// Set how far ahead ring number `i` is filled, and read: by the fills of those
// behind it, and by what is no fill.
static void set_ahead(const struct ir_stmt *loop, struct ring_aheads *rings,
                      size_t i)
{
    struct ring_ahead *x = &rings->at[i];
    const struct ir_block *body = &loop->u.loop.body;
    int64_t least = INT64_MAX;
    for (size_t k = 0; k < body->n; k++) {
        int64_t ahead = 0;
        if (!ring_is_read(&x->ring, body->at[k]) ||
            ring_has_fill(&x->ring, body->at[k]))
            continue;
        for (size_t j = i + 1; j < rings->n; j++) {
            if (ring_has_fill(&rings->at[j].ring, body->at[k]))
                ahead = rings->at[j].ahead;
        }
        least = ahead < least ? ahead : least;
        x->most = ahead > x->most ? ahead : x->most;
    }
    x->least = least == INT64_MAX || x->ring.by_tma ? 0 : least;
    x->ahead = x->least + x->ring.of->slots - 1;
}

const char *ring_ahead_find(struct arena *a, const struct ir_stmt *loop,
                            struct ring_aheads *rings)
{
    const char *fault = NULL;
    for (size_t i = rings->n; i-- > 0;) {
        const struct ring_ahead *x = &rings->at[i];
        set_ahead(loop, rings, i);
        if (x->ahead > x->most)
            continue;
        const char *name = x->ring.arrays.at[0]->name;
        fault = arena_printf(a,
                             "a ring that is filled from `%s` runs ahead by "
                             "%lld: `%s` needs %lld slots",
                             name, (long long)x->most, name,
                             (long long)(x->most - x->least + 2));
    }
    return fault;
}

struct ring ring_find_all(struct arena *a, struct ir_kernel *kernel,
                          struct ir_stmt *loop)
{
    struct ring_aheads all = {0};
    struct ring ring = {.loop = loop};
    for (size_t i = 0; i < loop->u.loop.rings.n && !ring.fault; i++) {
        ring = ring_find(a, kernel, loop, i);
        vec_push(a, &all, ((struct ring_ahead){.ring = ring}));
    }
    if (!ring.fault) {
        ring.at = loop;
        ring.fault = ring_ahead_find(a, loop, &all);
    }
    return ring;
}
