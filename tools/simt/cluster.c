// Clusters: their barrier, and the shared memory of their other blocks.

#include "tools/simt/async.h"
#include "tools/simt/intrinsics.h"

uint64_t cluster_arrive(struct machine *m, const struct site *s,
                        const uint64_t *o)
{
    (void)s, (void)o;
    struct fiber *f = m->current;
    if (s->bytes)
        clock_release(m, f, m->async->cluster);
    f->has_arrived = true;
    f->site = s;
    return 0;
}

bool cluster_open(struct machine *m)
{
    bool any = false;
    for (uint32_t i = 0; i < m->n_fibers; i++) {
        const struct fiber *f = &m->fibers[i];
        any |= f->state == FIBER_CLUSTER;
        if (!f->has_arrived && f->state != FIBER_DONE)
            return false;
    }
    for (uint32_t i = 0; i < m->n_fibers && any; i++) {
        struct fiber *f = &m->fibers[i];
        f->has_arrived = false;
        f->may_pass = true;
        if (f->state == FIBER_CLUSTER)
            f->state = FIBER_READY;
    }
    return any;
}

uint64_t cluster_wait(struct machine *m, const struct site *s,
                      const uint64_t *o)
{
    (void)o;
    struct fiber *f = m->current;
    if (!f->may_pass)
        fiber_wait(m, FIBER_CLUSTER, s);
    f->may_pass = false;
    clock_acquire(m, f, m->async->cluster);
    return 0;
}

void *address_in(struct machine *m, void *p, uint32_t rank)
{
    const struct region *r = region_of(m, p);
    size_t offset = (size_t)((unsigned char *)p - r->base);
    return r->copy ? r->base + r->copy * (rank + 1) + offset % r->copy : p;
}

uint32_t rank_of(struct machine *m, void *p)
{
    const struct region *r = region_of(m, p);
    size_t offset = (size_t)((unsigned char *)p - r->base);
    return r->copy && offset >= r->copy ? (uint32_t)(offset / r->copy) - 1
                                        : m->current->rank;
}

uint64_t cluster_map(struct machine *m, const struct site *s, const uint64_t *o)
{
    unsigned char *p = pointer_of(o[0]);
    if (o[1] < m->n_fibers / m->threads)
        return (uintptr_t)address_in(m, p, (uint32_t)o[1]);
    finding_add(m, SIMT_FAULT_out_of_bounds, s, region_of(m, p), p);
    return o[0];
}
