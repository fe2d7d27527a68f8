// Named barriers, which wait for a part of a block.

#include "tools/simt/async.h"
#include "tools/simt/intrinsics.h"
#include "tools/simt/trace.h"

enum { ARRIVE = 1, ALL = 2 };

// Let those go on that wait at a named barrier.
static void open_named(struct machine *m, struct named *b, uint32_t number)
{
    for (uint32_t i = 0; i < m->n_fibers; i++) {
        struct fiber *f = &m->fibers[i];
        if (f->state != FIBER_NAMED || f->waits_for != number)
            continue;
        clock_acquire(m, f, b->clock);
        f->state = FIBER_READY;
    }
    clock_clear(m, b->clock);
    b->threads = b->arrived = 0;
    m->progress++;
    m->result->barriers++;
}

uint64_t named_barrier(struct machine *m, const struct site *s,
                       const uint64_t *o)
{
    struct fiber *f = m->current;
    bool is_all = s->bytes & ALL;
    uint32_t id = (uint32_t)o[0] % NAMED_BARRIERS;
    uint32_t threads = is_all ? m->threads : (uint32_t)o[1];
    uint32_t number = f->rank * NAMED_BARRIERS + id;
    struct named *b = &m->async->named[number];
    if (is_all && !id) {
        fiber_wait(m, FIBER_BARRIER, s);
        return 0;
    }
    if (!b->clock.seen)
        b->clock = clock_new(m);
    if (!b->arrived) {
        b->threads = threads;
        b->first = f->number;
    }
    f->site = s;
    if (b->threads != threads || threads % WARP_LANES)
        note_wait(m, SIMT_FAULT_mismatched_barrier, f, &m->fibers[b->first]);
    clock_release(m, f, b->clock);
    f->waits_for = number;
    bool is_last = ++b->arrived >= b->threads;
    if (is_last && !(s->bytes & ARRIVE))
        clock_acquire(m, f, b->clock);
    if (is_last && m->trace)
        trace_meet(m, SIMT_EVENT_named, f, s);
    if (is_last)
        open_named(m, b, number);
    else if (!(s->bytes & ARRIVE))
        fiber_wait(m, FIBER_NAMED, s);
    return 0;
}
