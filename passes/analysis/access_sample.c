// The cost of one access.
//
//   A[(block.y * 8 + thread.x / 32) * n + thread.x % 32 + k]
//
// The index is a sum.  Terms that are the same in all lanes of a warp, here the
// first and k, only say where in a sector it begins: every place that their
// factors allow is tried.  The others are computed in every lane, in every
// iteration of the loops that they depend on.

#include "passes/analysis/access_sample.h"

#include "ir/base/num.h"
#include "ir/walk.h"
#include "passes/analysis/access_depends.h"
#include "passes/analysis/lane_value.h"

enum { RUNS_MOST = 1024, LARGE = 4096, SETTINGS = 4 };

// A variable that an index depends on.
struct choice {
    const struct ir_var *var;
    int64_t count; // 0, 1, ... count - 1 are tried; 0: it is open
    bool is_size;
};

// An access that is looked at.
struct sampler {
    struct arena *arena;
    const struct access_place *place;
    struct access_cost *cost;
    int64_t element;         // bytes
    struct ir_expr *varying; // what differs between the lanes of a warp
    int64_t period;          // at most 32; the rest counts modulo this
    uint32_t rests;          // bit r: the rest may be r
    struct VEC(struct access_guard) guards; // that lanes decide
    struct VEC(struct choice) choices;
    unsigned depends; // of all these
    struct lane_place here;
};

// ---- What is to be tried --------------------------------------------------

// Return whether a product is the same in all lanes of each warp, and not
// known in each.
static bool is_rest(const struct access_place *p, const struct affine_term *t)
{
    unsigned on = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        on |= access_depends(p, t->atoms[i]);
        if (!access_is_uniform(p, t->atoms[i]))
            return false;
    }
    return on != ON_THREADS;
}

// Return the largest power of two up to `period` that divides a term.
static int64_t divisor_of(const struct sampler *s, const struct affine_term *t)
{
    struct affine x = {0};
    int64_t d = s->period;
    vec_push(s->arena, &x.terms, *t);
    while (d > 1 && !facts_multiple(&s->place->facts, &x, d))
        d /= 2;
    return d;
}

// Add a term to the rest: multiples of a number, as many as there are, or up
// to as many as its loop has iterations.
static void add_rest(struct sampler *s, const struct affine_term *t)
{
    bool is_var = t->n == 1 && t->atoms[0]->op == OP_var;
    const struct access_counter *counter =
        is_var ? access_find_counter(s->place, t->atoms[0]->u.var) : NULL;
    bool is_counted = counter && counter->most;
    int64_t unit = is_counted ? t->factor : divisor_of(s, t);
    int64_t most = is_counted ? counter->most : s->period;
    uint32_t sums = 0;
    for (int64_t i = 0; i < most && i < s->period; i++) {
        int64_t by = i * (unit % s->period + s->period) % s->period;
        for (int64_t r = 0; r < s->period; r++)
            if (s->rests >> r & 1)
                sums |= 1u << (r + by) % s->period;
    }
    s->rests = sums;
}

// Split an index into what differs between lanes and the rest.  Returns false
// if it has no normal form.
static bool split(struct sampler *s, struct ir_expr *index)
{
    struct affine form = affine_of(s->arena, index);
    struct affine varying = affine_number(form.constant);
    bool is_shared = s->cost->buffer->space == SPACE_shared;
    int64_t unit = is_shared ? BANK_BYTES : SECTOR_BYTES;
    if (form.failed)
        return false;
    s->period = unit > s->element ? unit / s->element : 1;
    s->rests = 1;
    for (size_t i = 0; i < form.terms.n; i++) {
        if (is_rest(s->place, &form.terms.at[i]))
            add_rest(s, &form.terms.at[i]);
        else
            vec_push(s->arena, &varying.terms, form.terms.at[i]);
    }
    s->varying = affine_expr(s->arena, &varying, type_scalar(TYPE_int));
    return true;
}

// Add a variable to those that are tried.
static void try_var(struct sampler *s, const struct ir_var *var)
{
    for (size_t i = 0; i < s->choices.n; i++)
        if (s->choices.at[i].var == var)
            return;
    unsigned on = access_var_depends(s->place, var);
    const struct access_counter *counter = access_find_counter(s->place, var);
    struct choice c = {var, on == ON_COUNTERS ? counter->most : 0,
                       var->kind == VAR_param};
    vec_push(s->arena, &s->choices, c);
}

// Let an expression be computed in every lane.
static void depend(struct sampler *s, struct ir_expr *x)
{
    s->depends |= access_depends(s->place, x);
    ir_foreach_expr(e, x)
        if (e->op == OP_var)
            try_var(s, e->u.var);
}

// Keep the conditions that positions and counters decide.
static void choose_guards(struct sampler *s)
{
    for (size_t i = 0; i < s->place->guards.n; i++) {
        struct access_guard g = s->place->guards.at[i];
        unsigned on = access_depends(s->place, g.condition);
        bool decides =
            on == ON_THREADS || (on == (ON_THREADS | ON_COUNTERS) &&
                                 !access_is_uniform(s->place, g.condition));
        if (!decides)
            continue;
        vec_push(s->arena, &s->guards, g);
        depend(s, g.condition);
    }
}

// Return the number of combinations to try: of counters, and, if something is
// open, of settings.  Counters of too many become open.
static int64_t count_runs(struct sampler *s)
{
    int64_t warps =
        (lane_threads(s->place->launch) + WARP_LANES - 1) / WARP_LANES;
    int64_t runs = 1;
    vec_foreach(c, &s->choices) {
        if (c->count && runs * c->count * warps > RUNS_MOST) {
            c->count = 0;
            s->depends |= ON_OPEN;
        }
        runs *= c->count ? c->count : 1;
    }
    return s->depends & ON_OPEN ? runs * SETTINGS : runs;
}

// Return a size to assume: a multiple of what is known to divide it, and of no
// more; or of a power of two, too.
static int64_t assumed_size(const struct facts *f, const struct ir_var *var,
                            bool is_round)
{
    const struct fact_var *known = facts_var(f, var);
    int64_t unit = is_round ? 128 : 1;
    vec_foreach(m, &f->multiples)
        if (m->atom->op == OP_var && m->atom->u.var == var && m->of <= LARGE &&
            unit <= LARGE)
            unit *= m->of / num_gcd(unit, m->of);
    int64_t times = LARGE / unit;
    int64_t size = unit * (is_round ? times + !times : times | 1);
    if (known && size > known->range.hi)
        size = known->range.hi - known->range.hi % unit;
    return known && size < known->range.lo ? known->range.lo : size;
}

// Give every variable its value in a run.
static void set_choices(struct sampler *s, int64_t run)
{
    bool is_round = true;
    int64_t number = 0;
    if (s->depends & ON_OPEN) {
        is_round = run % 2;
        number = run / 2 % 2;
        run /= SETTINGS;
    }
    for (int d = 0; d < 3; d++)
        s->here.block[d] = number;
    s->here.vars.n = 0;
    vec_foreach(c, &s->choices) {
        struct lane_var v = {c->var, number};
        if (c->is_size)
            v.value = assumed_size(&s->place->facts, c->var, is_round);
        else if (c->count)
            v.value = run % c->count;
        run /= c->count ? c->count : 1;
        vec_push(s->arena, &s->here.vars, v);
    }
}

// ---- Trying ---------------------------------------------------------------

// Return whether a cost exceeds its least by more than another, or by as much
// and is greater.
static bool is_worse(struct warp_cost x, struct warp_cost y)
{
    uint64_t left = (uint64_t)x.taken * y.least;
    uint64_t right = (uint64_t)y.taken * x.least;
    return left > right || (left == right && x.taken > y.taken);
}

// Take note of a cost.
static void note(struct access_cost *cost, struct warp_cost c)
{
    bool is_first = cost->worst.taken == 0;
    if (is_first || is_worse(c, cost->worst))
        cost->worst = c;
    uint64_t own = (uint64_t)c.taken * cost->best.least;
    uint64_t best = (uint64_t)cost->best.taken * c.least;
    if (is_first || own < best || (own == best && c.taken > cost->best.taken))
        cost->best = c;
}

// Return whether this thread runs the access.
static bool takes_part(const struct sampler *s)
{
    int64_t value;
    vec_foreach(g, &s->guards)
        if (lane_value(&s->here, g->condition, &value) &&
            (value != 0) != g->holds)
            return false;
    return true;
}

// Compute where the lanes of a warp are, whose first thread has the number
// `first`.  Returns false if that is unknown.
static bool place_lanes(struct sampler *s, uint32_t first,
                        struct warp_access *w)
{
    uint32_t threads = lane_threads(s->place->launch);
    *w = (struct warp_access){.bytes = s->cost->bytes};
    for (uint32_t i = 0; i < WARP_LANES && first + i < threads; i++) {
        lane_go_to(&s->here, s->place->launch, first + i);
        if (!takes_part(s))
            continue;
        if (!lane_value(&s->here, s->varying, &w->at[i]) ||
            !num_mul(w->at[i], s->element, &w->at[i]))
            return false;
        w->active |= 1u << i;
    }
    return true;
}

// Return whether the accesses of all lanes are aligned.
static bool is_aligned(const struct warp_access *w)
{
    bool aligned = true;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        if (w->active >> i & 1)
            aligned &= w->at[i] % warp_piece(w->bytes) == 0;
    return aligned;
}

// Try all places in a sector for a warp.  Returns false if its addresses are
// unknown.
static bool try_warp(struct sampler *s, uint32_t first)
{
    struct warp_access w;
    bool is_shared = s->cost->buffer->space == SPACE_shared;
    if (!place_lanes(s, first, &w))
        return false;
    for (int64_t r = 0; w.active && r < s->period; r++) {
        if (s->rests >> r & 1 && is_aligned(&w))
            note(s->cost, is_shared ? warp_wavefronts(&w) : warp_sectors(&w));
        for (uint32_t i = 0; i < WARP_LANES; i++)
            w.at[i] += s->element;
    }
    return true;
}

void access_sample(struct arena *scratch, const struct access_place *place,
                   struct ir_expr *index, struct access_cost *cost)
{
    struct sampler s = {.arena = scratch, .place = place, .cost = cost};
    uint32_t threads = lane_threads(place->launch);
    cost->basis = COST_UNKNOWN;
    s.element = (int64_t)type_bytes(cost->buffer->elem);
    if (!split(&s, index))
        return;
    depend(&s, s.varying);
    choose_guards(&s);
    int64_t runs = count_runs(&s);
    bool is_known = !(s.depends & ON_DATA);
    for (int64_t run = 0; is_known && run < runs; run++) {
        set_choices(&s, run);
        for (uint32_t t = 0; is_known && t < threads; t += WARP_LANES)
            is_known = try_warp(&s, t);
    }
    if (is_known && cost->worst.taken)
        cost->basis = s.depends & ON_OPEN ? COST_ASSUMED : COST_PROVED;
    else
        cost->best = cost->worst = (struct warp_cost){0, 0};
}
