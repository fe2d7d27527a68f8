// Copies that a thread asks for and waits for in groups (cp.async), and the
// events that happen while threads go on.  When: at once, at random, or as
// late as the program allows, by policy.

#include "tools/simt/async.h"
#include "tools/simt/intrinsics.h"

#include <stdlib.h>
#include <string.h>

enum { CHANCE = 4 };

// ---- Copies of a thread ---------------------------------------------------

// Return the number of a new copy, 0 without memory.
static uint32_t copy_new(struct async *a)
{
    uint32_t i = a->free_copy;
    if (i) {
        a->free_copy = a->copies[i].next;
        return i;
    }
    if (a->n_copies >= a->most_copies) {
        uint32_t most = a->most_copies ? 2 * a->most_copies : 4096;
        struct copy *more = realloc(a->copies, most * sizeof *more);
        if (!more)
            return 0;
        a->copies = more;
        a->most_copies = most;
    }
    return a->n_copies++;
}

// Describe the two sides of a copy.
static struct under_way side_of(const struct copy *c, uint32_t by,
                                bool is_write)
{
    return (struct under_way){.bytes = is_write ? c->bytes : c->valid,
                              .align = c->bytes,
                              .kind = (is_write ? ACCESS_WRITE : ACCESS_READ) |
                                      ACCESS_LATER,
                              .agent = by,
                              .site = c->site};
}

// Bring the bytes.
static void copy_do(struct copy *c)
{
    if (c->is_done)
        return;
    memset(c->to, 0, c->bytes);
    memcpy(c->to, c->from, c->valid);
    c->is_done = true;
}

// Complete a copy that thread `by` asked for: an agent did it.
static void copy_end(struct machine *m, struct copy *c, uint32_t by,
                     uint32_t agent, uint32_t stamp)
{
    struct under_way to = side_of(c, by, true), from = side_of(c, by, false);
    copy_do(c);
    access_end(m, c->to, &to, agent, stamp);
    if (c->valid)
        access_end(m, c->from, &from, agent, stamp);
}

// Return a number in [0, n).
static bool is_now(struct machine *m)
{
    const struct async *a = m->async;
    return a->is_at_once || (a->is_random && !random_below(m, CHANCE));
}

// Begin a copy, if both sides are where they should be.
static void copy_begin(struct machine *m, const struct site *s, void *to,
                       void *from, uint32_t valid)
{
    struct async *a = m->async;
    struct fiber *f = m->current;
    uint32_t i = copy_new(a);
    struct copy c = {.bytes = s->bytes,
                     .valid = valid < s->bytes ? valid : s->bytes,
                     .group = f->group,
                     .site = s,
                     .next = f->copies};
    struct under_way write = side_of(&c, f->number, true);
    struct under_way read = side_of(&c, f->number, false);
    c.from = c.valid ? access_begin(m, from, &read) : m->sink;
    c.to = access_begin(m, to, &write);
    if (!i || !c.to)
        return;
    c.from = c.from ? c.from : m->sink;
    if (is_now(m))
        copy_do(&c);
    a->copies[i] = c;
    f->copies = i;
}

uint64_t async_copy(struct machine *m, const struct site *s, const uint64_t *o)
{
    copy_begin(m, s, pointer_of(o[0]), pointer_of(o[1]), s->bytes);
    return 0;
}

uint64_t async_copy_part(struct machine *m, const struct site *s,
                         const uint64_t *o)
{
    copy_begin(m, s, pointer_of(o[0]), pointer_of(o[1]), (uint32_t)o[2]);
    return 0;
}

uint64_t async_commit(struct machine *m, const struct site *s,
                      const uint64_t *o)
{
    (void)s, (void)o;
    m->current->group++;
    return 0;
}

// Give a copy back.
static void copy_free(struct async *a, uint32_t i)
{
    a->copies[i].next = a->free_copy;
    a->free_copy = i;
}

// Complete the copies of this thread in groups before one.
static void wait_before(struct machine *m, uint32_t group)
{
    struct async *a = m->async;
    struct fiber *f = m->current;
    uint32_t *at = &f->copies;
    if (m->has_clocks)
        f->stamp = ++m->clock;
    while (*at) {
        uint32_t i = *at;
        if (a->copies[i].group >= group) {
            at = &a->copies[i].next;
            continue;
        }
        *at = a->copies[i].next;
        copy_end(m, &a->copies[i], f->number, f->number, f->stamp);
        copy_free(a, i);
    }
}

uint64_t async_wait(struct machine *m, const struct site *s, const uint64_t *o)
{
    (void)s;
    uint32_t open = m->current->group, most = (uint32_t)o[0];
    wait_before(m, open > most ? open - most : 0);
    return 0;
}

uint64_t async_wait_all(struct machine *m, const struct site *s,
                        const uint64_t *o)
{
    (void)s, (void)o;
    wait_before(m, ++m->current->group);
    return 0;
}

// ---- Copies that signal an mbarrier ---------------------------------------

// The copies of a thread are done: complete them, and arrive.
static void arrive_after(struct machine *m, struct event *e)
{
    struct async *a = m->async;
    uint32_t stamp = mbarrier_bring(m, e->signals), next;
    for (uint32_t i = e->copies; i; i = next) {
        next = a->copies[i].next;
        copy_end(m, &a->copies[i], e->fiber, mbarrier_agent(m, e->signals),
                 stamp);
        copy_free(a, i);
    }
    mbarrier_complete(m, e->signals, 0, 1);
}

uint64_t async_arrive(struct machine *m, const struct site *s,
                      const uint64_t *o)
{
    struct fiber *f = m->current;
    struct mbarrier *b = mbarrier_at(m, pointer_of(o[0]), s);
    if (!b)
        return 0;
    b->pending += s->bytes == 0;
    if (!f->copies) {
        clock_release(m, f, b->now);
        mbarrier_complete(m, b, 0, 1);
        return 0;
    }
    struct event *e = event_new(m, arrive_after);
    if (!e)
        return 0;
    e->signals = b;
    e->copies = f->copies;
    f->copies = 0;
    event_ready(m, e);
    return 0;
}

// ---- Fences ---------------------------------------------------------------

uint64_t fence_proxy(struct machine *m, const struct site *s, const uint64_t *o)
{
    (void)s, (void)o;
    clock_fence(m, m->current);
    return 0;
}

uint64_t fence_memory(struct machine *m, const struct site *s,
                      const uint64_t *o)
{
    (void)o;
    model_fence(m, (enum reach)s->bytes, ORDER_ACQUIRE | ORDER_RELEASE);
    return 0;
}

uint64_t nothing(struct machine *m, const struct site *s, const uint64_t *o)
{
    (void)m, (void)s, (void)o;
    return 0;
}

// ---- Events ---------------------------------------------------------------

struct event *event_new(struct machine *m,
                        void (*happen)(struct machine *m, struct event *e))
{
    struct async *a = m->async;
    if (a->n_events == a->most_events) {
        uint32_t most = a->most_events ? 2 * a->most_events : 256;
        struct event *more = realloc(a->events, most * sizeof *more);
        if (!more)
            return NULL;
        a->events = more;
        a->most_events = most;
    }
    struct event *e = &a->events[a->n_events++];
    *e = (struct event){.happen = happen, .fiber = m->current->number};
    a->waiting_events++;
    return e;
}

// Let an event happen.
static void event_happen(struct machine *m, struct event *e)
{
    e->has_happened = true;
    m->async->waiting_events--;
    e->happen(m, e);
}

void event_settle(struct machine *m, struct event *e)
{
    if (!e->has_happened)
        event_happen(m, e);
}

void event_ready(struct machine *m, struct event *e)
{
    if (is_now(m))
        event_happen(m, e);
}

// Forget events that have happened and that nobody will wait for.
static void forget_events(struct async *a)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n_events; i++)
        if (!a->events[i].has_happened || a->events[i].group)
            a->events[n++] = a->events[i];
    a->n_events = n;
}

// Let one of the waiting events happen.  Returns whether there was one.
static bool happen_one(struct machine *m)
{
    struct async *a = m->async;
    if (!a->waiting_events)
        return false;
    uint64_t which = random_below(m, a->waiting_events);
    for (uint32_t i = 0; i < a->n_events; i++) {
        if (a->events[i].has_happened || which--)
            continue;
        event_happen(m, &a->events[i]);
        break;
    }
    forget_events(a);
    return true;
}

void async_between(struct machine *m)
{
    if (m->async->waiting_events && is_now(m))
        happen_one(m);
}

bool async_go_on(struct machine *m)
{
    return happen_one(m) || cluster_open(m) || mbarrier_wake(m);
}

void async_launch(struct machine *m)
{
    struct async *a = m->async;
    a->is_at_once = m->arrival == ARRIVAL_at_once;
    a->is_random = m->arrival == ARRIVAL_random;
    a->n_copies = 1;
    a->free_copy = 0;
    if (m->has_order)
        readers_forget(m);
}

void async_begin(struct machine *m)
{
    struct async *a = m->async;
    a->n_mbarriers = a->n_events = a->waiting_events = a->n_products = 0;
    if (m->n_slots == 1) {
        a->n_copies = 1;
        a->free_copy = 0;
    }
    memset(a->named, 0,
           (m->n_fibers / m->threads) * NAMED_BARRIERS * sizeof *a->named);
    for (uint32_t i = 0; i < m->n_fibers; i++)
        m->fibers[i].registers = registers_at_start(m);
    if (!m->has_clocks)
        return;
    clocks_begin(m);
    if (!m->has_order)
        readers_forget(m);
}

void async_end(struct machine *m)
{
    struct async *a = m->async;
    for (uint32_t i = 0; i < a->n_events && !m->is_stopped; i++) {
        struct event *e = &a->events[i];
        tensor_end(m, e);
        event_settle(m, e);
    }
    a->n_events = a->waiting_events = 0;
    if (!m->is_stopped)
        cluster_end(m);
}
