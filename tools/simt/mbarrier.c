// mbarriers: PTX ISA, "Parallel Synchronization and Communication
// Instructions: mbarrier".  Their state is kept beside memory; an arrival
// orders what came before it before those who wait for its phase.

#include "tools/simt/async.h"
#include "tools/simt/intrinsics.h"
#include "tools/simt/trace.h"

#include <stdlib.h>

enum { BYTES = 8, BYTES_MOST = (1 << 20) - 1 };

// How a wait is done: the numbers of its rows.
enum { TEST = 1, BY_STATE = 2, RELAXED = 4, EXPECT = 8, DROP = 16 };

// Return the record of the last write of an mbarrier's memory.
static uint64_t written_at(struct machine *m, const unsigned char *p)
{
    const struct region *r = region_of(m, p);
    const struct cell *c = &r->cells[(size_t)(p - r->base) >> r->shift];
    return c->write_by == m->serial ? c->write : 0;
}

// Return the mbarrier made at an address, or NULL.
static struct mbarrier *find(struct machine *m, const unsigned char *p)
{
    struct async *a = m->async;
    for (uint32_t i = 0; i < a->n_mbarriers; i++)
        if (a->mbarriers[i].at == p)
            return &a->mbarriers[i];
    return NULL;
}

// Return whether an mbarrier is at its place: nobody has ended it, or written
// over it.
static bool is_alive(struct machine *m, const struct mbarrier *b)
{
    return b->is_live && written_at(m, b->at) == b->record;
}

struct mbarrier *mbarrier_at(struct machine *m, void *p, const struct site *s)
{
    unsigned char *at = own_address(m, p);
    struct mbarrier *b = find(m, at);
    if (!b || !is_alive(m, b)) {
        finding_add(m, SIMT_FAULT_no_mbarrier, s, region_of(m, p), at);
        return NULL;
    }
    return access_now(m, p, BYTES, ACCESS_READ | ACCESS_ATOMIC, s) ? b : NULL;
}

void mbarrier_need_fence(struct machine *m, const struct mbarrier *b,
                         const struct site *s)
{
    const uint32_t *fenced = m->current->clock.fenced;
    if (stamp_of(b->record) >= fenced[agent_of(b->record)])
        finding_add_other(m, SIMT_FAULT_missing_fence, s, region_of(m, b->at),
                          b->at, b->record);
}

uint32_t mbarrier_agent(const struct machine *m, const struct mbarrier *b)
{
    return agent_of_mbarriers(m) + (uint32_t)(b - m->async->mbarriers);
}

uint32_t mbarrier_user(const struct machine *m, uint32_t agent)
{
    return m->async->mbarriers[agent - agent_of_mbarriers(m)].user;
}

// ---- Phases ---------------------------------------------------------------

// End the phase if nothing is missing any more.
static void end_phase(struct machine *m, struct mbarrier *b)
{
    if (b->pending || b->bytes)
        return;
    b->phase++;
    b->pending = b->count;
    clock_pass(m, b->ended, b->now);
    clock_clear(m, b->now);
    m->progress++;
    for (uint32_t i = 0; i < m->n_fibers; i++) {
        struct fiber *f = &m->fibers[i];
        if (f->state == FIBER_MBARRIER &&
            &m->async->mbarriers[f->waits_for] == b)
            f->state = FIBER_READY;
    }
}

uint32_t mbarrier_bring(struct machine *m, struct mbarrier *b)
{
    uint32_t stamp = ++m->clock;
    b->now.seen[mbarrier_agent(m, b)] = stamp + 1;
    return stamp;
}

void mbarrier_complete(struct machine *m, struct mbarrier *b, int64_t bytes,
                       uint32_t arrivals)
{
    m->changes++;
    b->bytes -= bytes;
    b->pending -= arrivals < b->pending ? arrivals : b->pending;
    end_phase(m, b);
}

// Make an mbarrier known.  Returns NULL if there are too many.
static struct mbarrier *add(struct machine *m, unsigned char *at)
{
    struct async *a = m->async;
    if (a->n_mbarriers == MBARRIERS_MOST)
        return NULL;
    struct mbarrier *b = &a->mbarriers[a->n_mbarriers++];
    *b =
        (struct mbarrier){.at = at, .now = clock_new(m), .ended = clock_new(m)};
    m->n_agents = agent_of_mbarriers(m) + a->n_mbarriers;
    return b;
}

// Note that an mbarrier is made anew, and who has made it.
static void note_alive(struct machine *m, const struct mbarrier *b,
                       const struct site *s)
{
    struct simt_finding f;
    finding_make(m, SIMT_FAULT_mbarrier_alive, s, region_of(m, b->at), b->at,
                 &f);
    finding_set_other(m, b->record, m->serial, &f);
    f.is_write = f.other_is_write = true;
    finding_note(m, &f);
}

// ---- Called by the code ---------------------------------------------------

uint64_t mbarrier_init(struct machine *m, const struct site *s,
                       const uint64_t *o)
{
    struct mbarrier *old = find(m, own_address(m, pointer_of(o[0])));
    if (old && is_alive(m, old))
        note_alive(m, old, s);
    unsigned char *at = access_now(m, pointer_of(o[0]), BYTES, ACCESS_WRITE, s);
    struct mbarrier *b = at ? find(m, at) : NULL;
    if (at && !b)
        b = add(m, at);
    if (!b)
        return 0;
    b->record = written_at(m, at);
    b->count = b->pending = (uint32_t)o[1];
    b->phase = 0;
    b->bytes = 0;
    b->is_live = true;
    clock_clear(m, b->now);
    clock_clear(m, b->ended);
    return 0;
}

uint64_t mbarrier_inval(struct machine *m, const struct site *s,
                        const uint64_t *o)
{
    struct mbarrier *b = mbarrier_at(m, pointer_of(o[0]), s);
    if (!b)
        return 0;
    access_now(m, pointer_of(o[0]), BYTES, ACCESS_WRITE, s);
    b->is_live = false;
    return 0;
}

// Expect more bytes in this phase.
static void expect(struct machine *m, struct mbarrier *b, int64_t bytes,
                   const struct site *s)
{
    m->changes++;
    b->bytes += bytes;
    if (llabs(b->bytes) > BYTES_MOST)
        finding_add(m, SIMT_FAULT_mbarrier_overflow, s, region_of(m, b->at),
                    b->at);
}

// Arrive, `n` times.
static uint64_t arrive(struct machine *m, struct mbarrier *b, uint32_t n,
                       const struct site *s)
{
    uint64_t state = b->phase << 32 | b->pending;
    if (n > b->pending)
        finding_add(m, SIMT_FAULT_mbarrier_overflow, s, region_of(m, b->at),
                    b->at);
    if (s->bytes & DROP)
        b->count -= n < b->count ? n : b->count;
    if (!(s->bytes & RELAXED))
        clock_release(m, m->current, b->now);
    mbarrier_complete(m, b, 0, n);
    return state;
}

uint64_t mbarrier_arrive(struct machine *m, const struct site *s,
                         const uint64_t *o)
{
    struct mbarrier *b = mbarrier_at(m, pointer_of(o[0]), s);
    if (b && s->bytes & EXPECT)
        expect(m, b, (int32_t)o[1], s);
    uint32_t n = s->bytes & EXPECT ? 1 : (uint32_t)o[1];
    return b ? arrive(m, b, n, s) : 0;
}

uint64_t mbarrier_arrive_once(struct machine *m, const struct site *s,
                              const uint64_t *o)
{
    struct mbarrier *b = mbarrier_at(m, pointer_of(o[0]), s);
    return b ? arrive(m, b, 1, s) : 0;
}

uint64_t mbarrier_expect(struct machine *m, const struct site *s,
                         const uint64_t *o)
{
    struct mbarrier *b = mbarrier_at(m, pointer_of(o[0]), s);
    if (b)
        expect(m, b, (int32_t)o[1], s);
    return 0;
}

uint64_t mbarrier_bytes_done(struct machine *m, const struct site *s,
                             const uint64_t *o)
{
    struct mbarrier *b = mbarrier_at(m, pointer_of(o[0]), s);
    if (b)
        mbarrier_complete(m, b, (int32_t)o[1], 0);
    return 0;
}

uint64_t mbarrier_pending(struct machine *m, const struct site *s,
                          const uint64_t *o)
{
    (void)m, (void)s;
    return (uint32_t)o[0];
}

// Return whether the phase that a thread asks for is complete.
static bool is_complete(const struct mbarrier *b, uint64_t which,
                        const struct site *s)
{
    return s->bytes & BY_STATE ? b->phase > which >> 32
                               : (b->phase & 1) != (which & 1);
}

uint64_t mbarrier_wait(struct machine *m, const struct site *s,
                       const uint64_t *o)
{
    struct fiber *f = m->current;
    uint64_t which = o[1];
    struct mbarrier *b = mbarrier_at(m, pointer_of(o[0]), s);
    f->insists = !(s->bytes & TEST);
    while (b && !is_complete(b, which, s)) {
        f->waits_for = (uint32_t)(b - m->async->mbarriers);
        fiber_wait(m, FIBER_MBARRIER, s);
        if (!f->insists && !is_complete(b, which, s))
            return 0;
    }
    if (b && m->trace)
        trace_meet(m, SIMT_EVENT_wait, f, s);
    if (b && !(s->bytes & RELAXED))
        clock_acquire(m, f, b->ended);
    return 1;
}

bool mbarrier_wake(struct machine *m)
{
    bool any = false;
    for (uint32_t i = 0; i < m->n_fibers; i++) {
        struct fiber *f = &m->fibers[i];
        if (f->state != FIBER_MBARRIER || f->insists ||
            f->waited == m->progress + 1)
            continue;
        f->waited = m->progress + 1;
        f->state = FIBER_READY;
        any = true;
    }
    return any;
}
