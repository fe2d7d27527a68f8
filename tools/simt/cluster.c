// Clusters: their barrier, and the shared memory of their other blocks.

#include "tools/simt/async.h"
#include "tools/simt/intrinsics.h"
#include "tools/simt/trace.h"

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
    if (m->trace)
        trace_meet(m, SIMT_EVENT_cluster, f, s);
    clock_acquire(m, f, m->async->cluster);
    return 0;
}

// Note an access of another block to the shared memory of one that has ended,
// unless some thread of it knew of that.
static void check_end(struct machine *m, struct region *r, void *p,
                      uint64_t record, uint32_t rank)
{
    uint32_t agent = agent_of(record);
    bool is_foreign = agent < m->n_fibers && agent / m->threads != rank;
    if (!is_foreign || stamp_of(record) < m->async->joined.seen[agent])
        return;
    m->current = &m->fibers[agent];
    finding_add(m, SIMT_FAULT_race_cluster, m->sites[record & SITE_MASK], r, p);
    m->current = NULL;
}

// Check what other blocks did in an array of one that has ended. Where a thread comes
// to a barrier that orders nothing, what it reads may be under way.
static void end_array(struct machine *m, struct region *r, uint32_t rank)
{
    size_t from = r->copy * (rank + 1), step = (size_t)1 << r->shift;
    for (size_t at = from; at < from + r->part; at += step) {
        const struct cell *c = cell_at(r, at);
        if (c->write_by == m->serial)
            check_end(m, r, r->base + at, c->write, rank);
        if (c->read_by != m->serial)
            continue;
        check_end(m, r, r->base + at, c->read, rank);
        for (uint32_t i = (uint32_t)c->other_read; i;
             i = m->async->readers[i].next)
            check_end(m, r, r->base + at, m->async->readers[i].record, rank);
    }
}

void cluster_end(struct machine *m)
{
    uint32_t blocks = m->n_fibers / m->threads;
    for (uint32_t rank = 0; rank < blocks && blocks > 1; rank++) {
        clock_clear(m, m->async->joined);
        for (uint32_t i = 0; i < m->threads; i++)
            clock_pass(m, m->async->joined,
                       m->fibers[rank * m->threads + i].clock);
        for (size_t i = 1; i < m->n_regions; i++)
            if (m->regions[i].copy && m->regions[i].cells)
                end_array(m, &m->regions[i], rank);
    }
}

void *address_in(struct machine *m, void *p, uint32_t rank)
{
    const struct region *r = region_of(m, p);
    size_t offset = (size_t)((unsigned char *)p - r->base);
    return r->copy ? r->base + r->copy * (m->slot + rank + 1) + offset % r->copy
                   : p;
}

uint32_t rank_of(struct machine *m, void *p)
{
    const struct region *r = region_of(m, p);
    size_t offset = (size_t)((unsigned char *)p - r->base);
    return r->copy && offset >= r->copy
               ? (uint32_t)(offset / r->copy) - 1 - m->slot
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
