// Runs one block, or the blocks of a cluster: their threads run round-robin
// until all have ended.

#include "tools/simt/async.h"

#include "tools/simt/fiber.h"
#include "tools/simt/trace.h"

#include <string.h>

// At how many different lines of a page stacks end; how many lines of a stack a
// thread needs to go on.
enum { STACK_COLOURS = 64, STACK_LINES = 4 };

void fiber_yield(struct machine *m)
{
    fiber_switch(&m->current->stack, m->scheduler);
}

void fiber_wait(struct machine *m, enum fiber_state state, const struct site *s)
{
    m->current->state = state;
    m->current->site = s;
    fiber_yield(m);
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
    m->body(m->parameters);
    m->current->state = FIBER_DONE;
    m->progress++;
    fiber_yield(m);
}

// Set the coordinates of a thread.
static void place_fiber(const struct machine *m, struct fiber *f)
{
    const uint32_t *n = m->block, *c = m->cluster;
    f->place = (uint32_t)(f - m->all);
    f->rank = f->number / m->threads;
    f->tid = f->number % m->threads;
    f->thread[0] = f->tid % n[0];
    f->thread[1] = f->tid / n[0] % n[1];
    f->thread[2] = f->tid / n[0] / n[1];
    f->block[0] = m->at[0] + f->rank % c[0];
    f->block[1] = m->at[1] + f->rank / c[0] % c[1];
    f->block[2] = m->at[2] + f->rank / c[0] / c[1];
}

// Return where the stack of a thread ends: were all ends as far apart as the
// stacks, the lines that are used most would be in the same few sets of the
// processor's caches.
static size_t stack_end(const struct machine *m, const struct fiber *f)
{
    return m->stack_bytes - f->place % STACK_COLOURS * LINE_BYTES;
}

// Give every thread a fresh stack.
static void start_fibers(struct machine *m)
{
    m->clock = 1;
    for (uint32_t i = 0; i < m->n_fibers; i++) {
        struct fiber *f = &m->fibers[i];
        *f = (struct fiber){.number = i, .stamp = m->clock, .floor = m->clock};
        place_fiber(m, f);
        f->stack = fiber_prepare(m->stacks + f->place * m->stack_bytes,
                                 stack_end(m, f), fiber_run, m);
    }
    if (m->async)
        async_begin(m);
}

// Count the steps that a thread has made; if they are more than a run has, it
// hangs where the thread waits.
static void count_steps(struct machine *m)
{
    m->steps += (uint64_t)(m->granted - (m->slice < 0 ? 0 : m->slice));
    if (m->steps <= m->most_steps || m->is_stopped)
        return;
    finding_add(m, SIMT_FAULT_hang, m->current->site, NULL, NULL);
    m->is_stopped = true;
}

void fiber_go_on(struct machine *m, struct fiber *f)
{
    m->current = f;
    fiber_switch(&m->scheduler, f->stack);
    if (m->trace)
        trace_settle(m);
    if (m->pending.is_active)
        pending_settle(m);
    count_steps(m);
    m->current = NULL;
}

// Have the processor load what the next threads of a round need to go on: of
// many threads it is no longer in the cache that is nearest.
static inline void load_ahead(const struct machine *m, uint32_t i)
{
    if (i + 1 < m->n_fibers) {
        const char *stack = m->fibers[m->order[i + 1]].stack;
        for (int l = 0; l < STACK_LINES; l++)
            __builtin_prefetch(stack + l * LINE_BYTES, 1);
    }
    if (i + 2 < m->n_fibers) {
        const char *f = (const char *)&m->fibers[m->order[i + 2]];
        __builtin_prefetch(f, 1);
        __builtin_prefetch(f + LINE_BYTES, 1);
    }
}

// Let every thread that can run do so once.  Returns whether any did.
static bool run_round(struct machine *m)
{
    bool any = false;
    order_threads(m);
    for (uint32_t i = 0; i < m->n_fibers && !m->is_stopped; i++) {
        struct fiber *f = &m->fibers[m->order[i]];
        if (f->state != FIBER_READY || (m->may_wait && wait_is_idle(m, f)))
            continue;
        any = true;
        load_ahead(m, i);
        order_grant(m);
        fiber_go_on(m, f);
    }
    return any;
}

// Return the first of some threads in a state, or NULL.
static struct fiber *first_in(struct fiber *from, uint32_t n,
                              enum fiber_state state)
{
    for (uint32_t i = 0; i < n; i++)
        if (from[i].state == state)
            return &from[i];
    return NULL;
}

void note_wait(struct machine *m, enum simt_fault fault, const struct fiber *f,
               const struct fiber *other)
{
    struct simt_finding finding;
    struct fiber *last = m->current;
    m->current = &m->fibers[f->number];
    finding_make(m, fault, f->site, NULL, NULL, &finding);
    m->current = last;
    if (other)
        finding_set_waiting(m, other, &finding);
    finding_note(m, &finding);
}

// Let all threads of a block that are at its barrier go on, together.
static void release(struct machine *m, struct fiber *block)
{
    struct fiber *who[THREADS_MOST];
    m->clock++;
    m->progress++;
    m->result->barriers++;
    for (uint32_t i = 0; i < m->threads; i++) {
        struct fiber *f = &block[i];
        bool is_here = f->state == FIBER_BARRIER;
        who[i] = is_here ? f : NULL;
        if (!is_here)
            continue;
        f->state = FIBER_READY;
        if (!m->has_clocks)
            f->stamp = f->floor = m->clock;
    }
    if (m->has_clocks)
        clocks_meet(m, who, m->threads, true);
}

// Open the barrier of a block at which all wait that have not ended.  Returns
// whether there was one.
static bool open_barrier(struct machine *m, struct fiber *block)
{
    struct fiber *at = first_in(block, m->threads, FIBER_BARRIER);
    struct fiber *gone = first_in(block, m->threads, FIBER_DONE);
    for (uint32_t i = 0; i < m->threads; i++)
        if (block[i].state != FIBER_BARRIER && block[i].state != FIBER_DONE)
            return false;
    if (!at)
        return false;
    if (gone)
        note_wait(m, SIMT_FAULT_divergent_barrier, at, gone);
    for (uint32_t i = 0; i < m->threads; i++) {
        const struct fiber *f = &block[i];
        if (f->state == FIBER_BARRIER && f->site != at->site) {
            note_wait(m, SIMT_FAULT_mismatched_barrier, f, at);
            break;
        }
    }
    if (m->trace)
        trace_meet(m, SIMT_EVENT_barrier, at, at->site);
    release(m, block);
    return true;
}

// Open the barriers of the blocks.  Returns whether any did.
static bool open_barriers(struct machine *m)
{
    bool any = false;
    for (uint32_t i = 0; i < m->n_fibers; i += m->threads)
        any |= open_barrier(m, &m->fibers[i]);
    return any;
}

// What it is to wait for ever, by state.
static const struct {
    enum fiber_state state;
    enum simt_fault fault;
} waits[] = {
    {FIBER_WARP, SIMT_FAULT_divergent_warp},
    {FIBER_MBARRIER, SIMT_FAULT_stuck_mbarrier},
    {FIBER_NAMED, SIMT_FAULT_stuck_named},
    {FIBER_REGISTERS, SIMT_FAULT_registers},
    {FIBER_CLUSTER, SIMT_FAULT_divergent_cluster},
    {FIBER_BARRIER, SIMT_FAULT_divergent_barrier},
};

// Return a thread that does not come: one that waits elsewhere, or has ended.
static const struct fiber *missing(struct machine *m, enum fiber_state state)
{
    for (size_t i = sizeof waits / sizeof *waits; i-- > 0;) {
        const struct fiber *f =
            first_in(m->fibers, m->n_fibers, waits[i].state);
        if (f && waits[i].state != state)
            return f;
    }
    return first_in(m->fibers, m->n_fibers, FIBER_DONE);
}

// Return whether all threads have ended.
static bool have_ended(const struct machine *m)
{
    for (uint32_t i = 0; i < m->n_fibers; i++)
        if (m->fibers[i].state != FIBER_DONE)
            return false;
    return true;
}

void note_stuck(struct machine *m)
{
    size_t n = sizeof waits / sizeof *waits;
    bool is_first = true;
    m->is_stopped = true;
    for (size_t i = 0; i < n; i++) {
        const struct fiber *f =
            first_in(m->fibers, m->n_fibers, waits[i].state);
        bool is_cause =
            waits[i].state != FIBER_BARRIER && waits[i].state != FIBER_CLUSTER;
        if (!f || (!is_first && !is_cause))
            continue;
        note_wait(m, waits[i].fault, f, missing(m, waits[i].state));
        is_first = false;
    }
}

// Fill the arrays of the block with what no result should be.
static void poison_arrays(struct machine *m)
{
    uint32_t blocks = m->n_fibers / m->threads;
    int byte = (int)(m->poison & 0xff);
    for (size_t i = 1; i < m->n_regions; i++) {
        const struct region *r = &m->regions[i];
        if (r->space != SPACE_shared && r->space != SPACE_local)
            continue;
        for (uint32_t b = 0; r->copy && b < blocks; b++)
            memset(r->base + r->copy * (m->slot + b + 1), byte, r->part);
        if (!r->copy && r->stride)
            memset(r->base + r->stride * m->fibers->place, byte,
                   r->stride * m->n_fibers);
        else if (!r->copy)
            memset(r->base, byte, r->bytes);
    }
}

void block_begin(struct machine *m)
{
    if (m->trace)
        trace_settle(m);
    start_fibers(m);
    poison_arrays(m);
}

// End a block, whose threads have.
static void end_block(struct machine *m)
{
    if (m->async)
        async_end(m);
    for (uint32_t i = 0; i < m->n_fibers; i++)
        view_clear(&m->fibers[i].view);
    m->result->blocks += m->n_fibers / m->threads;
    m->slots[m->slot].is_live = false;
}

bool block_advance(struct machine *m)
{
    if (run_round(m)) {
        if (m->async)
            async_between(m);
        return true;
    }
    if (have_ended(m)) {
        end_block(m);
        return true;
    }
    return open_barriers(m) || (m->async && async_go_on(m));
}

void simt_barrier(struct machine *m, const struct site *s)
{
    fiber_wait(m, FIBER_BARRIER, s);
}
