// Release and acquire through fences and atomics.

#include "tools/simt/async.h"

#include <stdlib.h>
#include <string.h>

enum { FLAGS_LEAST = 256 };

// What a run takes fences and atomics for, by enum simt_missing.
static const struct {
    bool is_wide, releases, acquires;
} assumed[] = {
    {false, false, false},
#define MISSING(name, is_wide, releases, acquires, text)                       \
    {is_wide, releases, acquires},
#include "tools/simt/missing.def"
#undef MISSING
};

// ---- What a thread knows --------------------------------------------------

void view_clear(struct view *v)
{
    known_drop(v->far);
    for (int l = 0; l < REACHES; l++) {
        known_drop(v->released[l]);
        known_drop(v->observed[l]);
    }
    *v = (struct view){0};
}

// Add to `*to` all that a thread knows and has done.
static void add_all(struct machine *m, struct fiber *f, struct known **to)
{
    f->clock.seen[f->number] = f->stamp + 1;
    known_join(to, f->view.far);
    known_add(to, m->serial, f->floor, f->clock.seen, m->n_agents);
    f->stamp = ++m->clock;
}

// Let a thread know what it acquires.
static void take(struct machine *m, struct fiber *f, struct known *what)
{
    if (!what)
        return;
    known_take(what, m->serial, &f->floor, f->clock.seen);
    known_join(&f->view.far, what);
}

// ---- Fences ---------------------------------------------------------------

// Do a fence: what was observed is acquired; what is known now, the thread's
// atomics behind release.
static void fence(struct machine *m, struct fiber *f, enum reach reach,
                  unsigned ordering)
{
    struct view *v = &f->view;
    for (int l = 0; l <= (int)reach && ordering & ORDER_ACQUIRE; l++) {
        take(m, f, v->observed[l]);
        known_drop(v->observed[l]);
        v->observed[l] = NULL;
    }
    if (!(ordering & ORDER_RELEASE))
        return;
    struct known *all = NULL;
    add_all(m, f, &all);
    for (int l = 0; l <= (int)reach; l++) {
        known_drop(v->released[l]);
        v->released[l] = known_share(all);
    }
    known_drop(all);
}

void model_fence(struct machine *m, enum reach reach, unsigned ordering)
{
    if (m->has_order)
        fence(m, m->current, assumed[m->assumed].is_wide ? REACH_GPU : reach,
              ordering);
}

void simt_fence(struct machine *m, uint32_t reach, uint32_t ordering)
{
    model_fence(m, (enum reach)reach, ordering);
}

// ---- Flags ----------------------------------------------------------------

void model_begin(struct machine *m)
{
    struct flags *all = &m->flags;
    for (size_t i = 0; i < all->most; i++)
        for (int l = 0; l < REACHES; l++)
            known_drop(all->at[i].released[l]);
    free(all->at);
    *all = (struct flags){0};
}

// Return where a cell's flag is, or may be.
static struct flag *place_of(const struct flags *all, const struct cell *c)
{
    size_t i = ((uintptr_t)c / sizeof *c * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    for (i %= all->most; all->at[i].cell && all->at[i].cell != c;)
        i = (i + 1) % all->most;
    return &all->at[i];
}

// Make room for one more.  Returns false without memory.
static bool grow(struct flags *all)
{
    if (2 * all->n < all->most)
        return true;
    size_t most = all->most ? 2 * all->most : FLAGS_LEAST;
    struct flags more = {calloc(most, sizeof *more.at), all->n, most};
    if (!more.at)
        return false;
    for (size_t i = 0; i < all->most; i++)
        if (all->at[i].cell)
            *place_of(&more, all->at[i].cell) = all->at[i];
    free(all->at);
    *all = more;
    return true;
}

// Return the flag of a cell, NULL if it has none; a new one if `is_new`.
static struct flag *flag_of(struct machine *m, const struct region *r,
                            const struct cell *c, bool is_new)
{
    struct flags *all = &m->flags;
    uint32_t by = r->space == SPACE_global ? 0 : m->serial;
    if (is_new ? !grow(all) : !all->most)
        return NULL;
    struct flag *f = place_of(all, c);
    if (!f->cell && !is_new)
        return NULL;
    all->n += !f->cell;
    if (f->by != by)
        for (int l = 0; l < REACHES; l++) {
            known_drop(f->released[l]);
            f->released[l] = NULL;
        }
    f->cell = c;
    f->by = by;
    return f;
}

// Return the number of the block or the cluster around this thread, 0 for all.
static uint32_t group_of(const struct machine *m, int reach)
{
    switch (reach) {
    case REACH_BLOCK: return m->serial * CLUSTER_MOST + m->current->rank;
    case REACH_CLUSTER: return m->serial;
    }
    return 0;
}

// ---- Atomics --------------------------------------------------------------

// Observe what was released by a flag: a fence behind acquires it.
static void observe(struct machine *m, const struct flag *flag,
                    enum reach reach)
{
    struct view *v = &m->current->view;
    for (int l = 0; flag && l <= (int)reach; l++)
        if (flag->releaser[l] == group_of(m, l))
            known_join(&v->observed[l], flag->released[l]);
}

// Release by a flag what the last fence kept; what threads of the same scope
// released by it stays.
static void release(struct machine *m, struct flag *flag, enum reach reach)
{
    const struct view *v = &m->current->view;
    for (int l = 0; flag && l <= (int)reach; l++) {
        uint32_t group = group_of(m, l);
        if (flag->releaser[l] != group) {
            known_drop(flag->released[l]);
            flag->released[l] = NULL;
        }
        flag->releaser[l] = group;
        known_join(&flag->released[l], v->released[l]);
    }
}

// Return whether a thread has had a fence, or met one that had.
static bool has_released(const struct view *v)
{
    return v->released[REACH_BLOCK] != NULL;
}

void model_atomic(struct machine *m, const struct region *r, const void *p,
                  const struct site *s, unsigned kind)
{
    const struct cell *c =
        cell_at(r, (size_t)((const unsigned char *)p - r->base));
    struct fiber *f = m->current;
    bool is_wide = assumed[m->assumed].is_wide;
    enum reach reach = is_wide ? REACH_GPU : s->reach;
    if (kind & ACCESS_READ) {
        observe(m, flag_of(m, r, c, false), reach);
        if (assumed[m->assumed].acquires)
            fence(m, f, REACH_GPU, ORDER_ACQUIRE);
        else if (s->ordering & ORDER_ACQUIRE)
            fence(m, f, reach, ORDER_ACQUIRE);
    }
    if (!(kind & ACCESS_WRITE))
        return;
    if (assumed[m->assumed].releases) {
        fence(m, f, REACH_GPU, ORDER_RELEASE);
        reach = REACH_GPU;
    } else if (s->ordering & ORDER_RELEASE)
        fence(m, f, reach, ORDER_RELEASE);
    if (has_released(&f->view))
        release(m, flag_of(m, r, c, true), reach);
}

// Check an atomic that reads, writes, or both.
static void *access_atomic(struct machine *m, void *p, struct site *s)
{
    void *at = simt_access(m, p, s);
    if (m->has_order && at != m->sink)
        model_atomic(m, region_of(m, at), at, s, s->kind);
    return at;
}

void *simt_access_atomic(struct machine *m, void *p, struct site *s)
{
    if (m->may_wait) {
        search_point(m, p, s);
        wait_poll(m, p, 0, s);
    }
    return access_atomic(m, p, s);
}

void *simt_access_if(struct machine *m, void *p, struct site *s,
                     uint64_t expected)
{
    uint64_t value = 0;
    struct site fails = *s;
    if (m->may_wait) {
        search_point(m, p, s);
        wait_poll(m, p, expected, s);
    }
    fails.kind = ACCESS_READ | ACCESS_ATOMIC;
    fails.window = (struct window){0};
    const void *at = own_address(m, p);
    if (region_of(m, at)->cells)
        memcpy(&value, at, s->bytes);
    return access_atomic(m, p, value == expected ? s : &fails);
}

// ---- What came before -----------------------------------------------------

// Join what one thread knows to what all do.
static void meet(struct known **all, struct known *one)
{
    if (*all != one)
        known_join(all, one);
}

void model_meet(struct machine *m, struct fiber *const *who, uint32_t n)
{
    struct view all = {0};
    for (uint32_t i = 0; i < n && m->has_order; i++) {
        if (!who[i])
            continue;
        meet(&all.far, who[i]->view.far);
        for (int l = 0; l < REACHES; l++) {
            meet(&all.released[l], who[i]->view.released[l]);
            meet(&all.observed[l], who[i]->view.observed[l]);
        }
    }
    for (uint32_t i = 0; i < n && m->has_order; i++) {
        if (!who[i])
            continue;
        view_clear(&who[i]->view);
        who[i]->view = all;
        known_share(all.far);
        for (int l = 0; l < REACHES; l++) {
            known_share(all.released[l]);
            known_share(all.observed[l]);
        }
    }
    view_clear(&all);
}

bool model_knows(const struct machine *m, uint64_t record, uint32_t by)
{
    const struct known *far = m->current->view.far;
    bool is_several = record & WARP_FLAG, all = far != NULL;
    uint32_t first = is_several ? 0 : agent_of(record);
    uint32_t end = is_several ? m->n_fibers : first + 1;
    for (uint32_t i = first; i < end && all; i++)
        all = known_has(far, by, i, stamp_of(record));
    return all;
}

bool model_reaches(const struct machine *m, const struct site *s,
                   uint64_t record, uint32_t by)
{
    const struct site *other = m->sites[record & SITE_MASK];
    uint32_t rank = agent_of(record) / m->threads;
    bool is_same = by == m->serial && rank == m->current->rank;
    enum reach needed = is_same           ? REACH_BLOCK
                        : by == m->serial ? REACH_CLUSTER
                                          : REACH_GPU;
    return assumed[m->assumed].is_wide || by < m->first ||
           (s->reach >= needed && other->reach >= needed);
}
