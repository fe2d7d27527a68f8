// One block: its threads run in turns until all have ended.

#define _DEFAULT_SOURCE // MAP_ANONYMOUS

#include "tools/simt/machine.h"

#include "tools/simt/fiber.h"

#include <string.h>
#include <sys/mman.h>

void fiber_yield(struct machine *m)
{
    fiber_switch(&m->current->stack, m->scheduler);
}

// Stop the run; nothing of it goes on.
static void stop(struct machine *m)
{
    m->is_stopped = true;
    if (m->current)
        fiber_yield(m);
}

void fiber_preempt(struct machine *m, const struct site *s)
{
    if (m->steps + (uint64_t)m->granted > m->most_steps) {
        finding_add(m, SIMT_FAULT_hang, s, NULL, NULL);
        stop(m);
    }
    fiber_yield(m);
}

// Run a thread from its beginning.
static void fiber_run(void *argument)
{
    struct machine *m = argument;
    m->body(m->slots);
    m->current->state = FIBER_DONE;
    fiber_yield(m);
}

// Give every thread of the block a fresh stack.
static void start_fibers(struct machine *m)
{
    m->clock++;
    m->began = m->clock;
    for (uint32_t i = 0; i < m->threads; i++) {
        struct fiber *f = &m->fibers[i];
        struct simt_thread t = thread_of(m, i);
        *f = (struct fiber){.number = i, .stamp = m->clock, .floor = m->clock};
        for (int d = 0; d < 3; d++)
            f->thread[d] = t.thread[d];
        f->stack = fiber_prepare(m->stacks + i * m->stack_bytes, m->stack_bytes,
                                 fiber_run, m);
    }
}

// Let every thread that can run do so once.  Returns whether any did.
static bool run_round(struct machine *m)
{
    bool any = false;
    order_threads(m);
    for (uint32_t i = 0; i < m->threads && !m->is_stopped; i++) {
        struct fiber *f = &m->fibers[m->order[i]];
        if (f->state != FIBER_READY)
            continue;
        any = true;
        m->current = f;
        order_grant(m);
        fiber_switch(&m->scheduler, f->stack);
        if (m->pending.is_active)
            pending_settle(m);
        m->steps += (uint64_t)(m->granted - (m->slice < 0 ? 0 : m->slice));
        m->current = NULL;
    }
    return any;
}

// Return the first thread in a state, or NULL.
static struct fiber *first_in(struct machine *m, enum fiber_state state)
{
    for (uint32_t i = 0; i < m->threads; i++)
        if (m->fibers[i].state == state)
            return &m->fibers[i];
    return NULL;
}

// Note that a thread waits for one that does not come.
static void note_wait(struct machine *m, enum simt_fault fault,
                      const struct fiber *f, const struct fiber *other)
{
    struct simt_finding finding;
    m->current = &m->fibers[f->number];
    finding_make(m, fault, f->site, NULL, NULL, &finding);
    m->current = NULL;
    finding.has_other = other;
    if (other) {
        finding.other_thread = thread_of(m, other->number);
        if (other->site) {
            finding.other = other->site->place;
            finding.other_schedule = other->site->schedule;
        }
    }
    finding_note(m, &finding);
}

// Let all threads at the barrier go on, together.
static void release(struct machine *m)
{
    m->clock++;
    m->result->barriers++;
    for (uint32_t i = 0; i < m->threads; i++) {
        struct fiber *f = &m->fibers[i];
        if (f->state != FIBER_BARRIER)
            continue;
        f->state = FIBER_READY;
        f->stamp = f->floor = m->clock;
    }
}

// Nothing can run: open the barrier at which all wait, or say who is missing.
static void meet(struct machine *m)
{
    struct fiber *at = first_in(m, FIBER_BARRIER);
    struct fiber *in_warp = first_in(m, FIBER_WARP);
    struct fiber *gone = first_in(m, FIBER_DONE);
    if (in_warp) {
        note_wait(m, SIMT_FAULT_divergent_warp, in_warp, at ? at : gone);
        m->is_stopped = true;
        return;
    }
    if (gone)
        note_wait(m, SIMT_FAULT_divergent_barrier, at, gone);
    for (uint32_t i = 0; i < m->threads; i++) {
        const struct fiber *f = &m->fibers[i];
        if (f->state == FIBER_BARRIER && f->site != at->site) {
            note_wait(m, SIMT_FAULT_mismatched_barrier, f, at);
            break;
        }
    }
    release(m);
}

// Fill the arrays of the block with what no result should be.
static void poison_arrays(struct machine *m)
{
    for (size_t i = 1; i < m->n_regions; i++) {
        const struct region *r = &m->regions[i];
        if (r->space == SPACE_shared || r->space == SPACE_local)
            memset(r->base, m->poison,
                   r->stride ? r->stride * m->threads : r->bytes);
    }
}

void block_run(struct machine *m)
{
    start_fibers(m);
    poison_arrays(m);
    while (!m->is_stopped) {
        if (run_round(m))
            continue;
        if (!first_in(m, FIBER_BARRIER) && !first_in(m, FIBER_WARP))
            break;
        meet(m);
    }
    m->result->blocks++;
}

void simt_barrier(struct machine *m, const struct site *s)
{
    m->current->state = FIBER_BARRIER;
    m->current->site = s;
    fiber_yield(m);
}
