// What came before what, where threads meet otherwise than all of a block at
// once: vector clocks, after FastTrack.  A second one for each thread says
// what the asynchronous proxy knows of.

#define _DEFAULT_SOURCE // MAP_ANONYMOUS, MAP_NORESERVE

#include "tools/simt/async.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CLOCKS_MOST = FIBERS_MOST + 2 * MBARRIERS_MOST + 258 + CLUSTER_MOST };

// Return zero pages, or NULL.
static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

#define CLOCKS_BYTES  ((size_t)CLOCKS_MOST * 2 * AGENTS_MOST * sizeof(uint32_t))
#define VALUES_BYTES  ((size_t)FIBERS_MOST * OPERANDS_MOST * sizeof(uint64_t))
#define READERS_BYTES (((size_t)1 << 26) * sizeof(struct reader))

bool async_open(struct machine *m)
{
    struct async *a = m->async = calloc(1, sizeof *a);
    if (!a)
        return false;
    a->clocks = reserve(CLOCKS_BYTES);
    a->readers = reserve(READERS_BYTES);
    a->values = reserve(VALUES_BYTES);
    return a->clocks && a->readers && a->values;
}

void async_close(struct machine *m)
{
    struct async *a = m->async;
    if (!a)
        return;
    if (a->clocks)
        munmap(a->clocks, CLOCKS_BYTES);
    if (a->readers)
        munmap(a->readers, READERS_BYTES);
    if (a->values)
        munmap(a->values, VALUES_BYTES);
    free(a->products);
    free(a->copies);
    free(a->events);
    free(a);
    m->async = NULL;
}

struct clock clock_new(struct machine *m)
{
    struct async *a = m->async;
    uint32_t *seen = a->clocks + 2 * a->length * a->used++;
    memset(seen, 0, 2 * a->length * sizeof *seen);
    return (struct clock){seen, seen + a->length};
}

void clocks_begin(struct machine *m)
{
    struct async *a = m->async;
    uint32_t warps = m->n_fibers / WARP_LANES + CLUSTER_MOST;
    a->length = m->n_fibers + (m->has_agents ? warps + MBARRIERS_MOST : 0);
    m->n_agents = m->n_fibers + (m->has_agents ? warps : 0);
    for (uint32_t i = 0; i < m->n_fibers; i++) {
        a->used = m->fibers[i].place;
        m->fibers[i].clock = clock_new(m);
    }
    a->used = m->n_slots * m->n_fibers;
    a->joined = clock_new(m);
    a->cluster = clock_new(m);
}

// Let one clock know what another one knows.
static void join(const struct machine *m, struct clock to, struct clock from)
{
    for (uint32_t i = 0; i < m->n_agents; i++) {
        to.seen[i] = to.seen[i] > from.seen[i] ? to.seen[i] : from.seen[i];
        to.fenced[i] =
            to.fenced[i] > from.fenced[i] ? to.fenced[i] : from.fenced[i];
    }
}

void clock_clear(const struct machine *m, struct clock c)
{
    memset(c.seen, 0, m->n_agents * sizeof *c.seen);
    memset(c.fenced, 0, m->n_agents * sizeof *c.fenced);
}

void clock_release(struct machine *m, struct fiber *f, struct clock to)
{
    f->clock.seen[f->number] = f->stamp + 1;
    join(m, to, f->clock);
    f->stamp = ++m->clock;
}

void clock_acquire(struct machine *m, struct fiber *f, struct clock from)
{
    join(m, f->clock, from);
}

void clock_pass(const struct machine *m, struct clock to, struct clock from)
{
    join(m, to, from);
}

void clock_fence(struct machine *m, struct fiber *f)
{
    f->clock.seen[f->number] = f->stamp + 1;
    for (uint32_t i = 0; i < m->n_agents; i++)
        if (f->clock.fenced[i] < f->clock.seen[i])
            f->clock.fenced[i] = f->clock.seen[i];
    f->stamp = ++m->clock;
}

// All threads of the block meet: all that came before is known to each.
static void all_meet(struct machine *m, struct fiber *const *who, uint32_t n)
{
    m->clock++;
    for (uint32_t i = 0; i < n; i++)
        if (who[i])
            who[i]->stamp = who[i]->floor = m->clock;
}

void clocks_meet(struct machine *m, struct fiber *const *who, uint32_t n,
                 bool is_block)
{
    struct clock all = m->async->joined;
    uint32_t floor = 0;
    model_meet(m, who, n);
    if (!m->has_agents && is_block) {
        all_meet(m, who, n);
        return;
    }
    clock_clear(m, all);
    for (uint32_t i = 0; i < n; i++) {
        if (!who[i])
            continue;
        who[i]->clock.seen[who[i]->number] = who[i]->stamp + 1;
        floor = who[i]->floor > floor ? who[i]->floor : floor;
        join(m, all, who[i]->clock);
    }
    m->clock++;
    for (uint32_t i = 0; i < n; i++) {
        if (!who[i])
            continue;
        who[i]->floor = floor;
        memcpy(who[i]->clock.seen, all.seen, m->n_agents * sizeof *all.seen);
        memcpy(who[i]->clock.fenced, all.fenced,
               m->n_agents * sizeof *all.fenced);
        who[i]->stamp = m->clock;
    }
}
