// The lanes of a vector loop, and which of its accesses reach neighbours.

#include "passes/lower/vectorize_body.h"

#include "ir/build.h"
#include "ir/layout.h"
#include "ir/walk.h"
#include "passes/opt/fold.h"

enum { ACCESS_BYTES_MOST = 16 };

const struct ir_for *vectorize_loop_of(const struct vectorizer *w)
{
    return &w->stmt->u.loop;
}

bool vectorize_varies(const struct vectorizer *w, const struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        if (e->op == OP_var && (e->u.var == vectorize_loop_of(w)->var ||
                                map_has(&w->vectors, e->u.var)))
            return true;
    return false;
}

// Return the value of the loop's variable in a lane.
static struct ir_expr *counter(const struct vectorizer *w, unsigned lane)
{
    struct arena *a = w->p->arena;
    const struct ir_for *loop = vectorize_loop_of(w);
    struct ir_expr *k = ir_const_int(a, loop->var->type, lane);
    return ir_add(a, loop->from, ir_mul(a, k, loop->step));
}

// What ir_rewrite is told to take a lane.
struct lane {
    const struct vectorizer *w;
    unsigned k;
};

// Take the lane of a variable.
static struct ir_expr *take_lane(struct arena *a, struct ir_expr *x,
                                 void *context)
{
    const struct lane *lane = context;
    if (x->op != OP_var)
        return x;
    if (x->u.var == vectorize_loop_of(lane->w)->var)
        return counter(lane->w, lane->k);
    struct ir_var *vector = map_get(&lane->w->vectors, x->u.var);
    return vector ? ir_lane(a, ir_read(a, vector), lane->k) : x;
}

struct ir_expr *vectorize_in_lane(const struct vectorizer *w, struct ir_expr *x,
                                  unsigned k)
{
    struct lane lane = {w, k};
    return ir_rewrite(w->p->arena, x, take_lane, &lane);
}

// Return whether a comparison that varies is the same in all lanes: it changes
// only where lanes of two vectors meet.
static bool is_same(const struct vectorizer *w, const struct ir_expr *c)
{
    struct arena *a = w->p->scratch;
    const struct ir_for *loop = vectorize_loop_of(w);
    struct affine form, rest;
    int64_t factor;
    if (!ir_for_counts(loop) || !facts_form(a, c, &form) ||
        !affine_linear(a, &form, loop->var, &factor, &rest) ||
        (factor != 1 && factor != -1) ||
        vectorize_varies(w, affine_expr(a, &rest, c->args[0]->type)))
        return false;
    struct affine one = affine_number(factor < 0);
    rest = affine_add(a, &rest, 1, &one);
    return facts_multiple(w->facts, &rest, w->lanes);
}

struct ir_expr *vectorize_same(const struct vectorizer *w, struct ir_expr *c)
{
    struct conditions all = fold_split(w->p->scratch, c);
    for (size_t i = 0; i < all.n; i++) {
        if (!vectorize_varies(w, all.at[i]))
            continue;
        if (!is_same(w, all.at[i]))
            return NULL;
        all.at[i] = vectorize_in_lane(w, all.at[i], 0);
    }
    return fold_all(w->p->arena, all.at, all.n);
}

// Return how many elements an aligned access in an array may have at most.
static unsigned widest(const struct vectorizer *w, const struct ir_buffer *b)
{
    unsigned fit = ACCESS_BYTES_MOST / (unsigned)type_bytes(b->elem);
    if (b->swizzle.bits && b->swizzle.base < 4 && fit > 1u << b->swizzle.base)
        fit = 1u << b->swizzle.base;
    return fit < w->lanes ? fit : w->lanes;
}

// Return whether each row of an array starts at a multiple of n elements.
static bool rows_are_aligned(const struct vectorizer *w,
                             const struct ir_buffer *b, int64_t n)
{
    struct arena *a = w->p->scratch;
    struct ir_expr **strides = layout_strides(a, b);
    for (uint32_t i = 0; strides && i < b->rank; i++) {
        struct affine stride = affine_of(a, strides[i]);
        bool last = i + 1 == b->rank;
        if (last ? !ir_is_int_const(strides[i], 1)
                 : !facts_multiple(w->facts, &stride, n))
            return false;
    }
    if (strides || b->rank == 1)
        return true;
    struct affine row = affine_of(a, b->shape[b->rank - 1]);
    return facts_multiple(w->facts, &row, n);
}

// Return whether the element that lane 0 selects is a multiple of n elements from
// the array's begin, whether or not its row starts at one.
static bool element_is_aligned(const struct vectorizer *w,
                               const struct ir_buffer *b,
                               struct ir_expr *const *index, int64_t n)
{
    struct arena *a = w->p->scratch;
    struct ir_expr **first = arena_array(a, struct ir_expr *, b->rank);
    for (uint32_t i = 0; i < b->rank; i++)
        first[i] = vectorize_in_lane(w, index[i], 0);
    struct affine place = affine_of(a, layout_place(a, b, first));
    return !b->swizzle.bits && facts_multiple(w->facts, &place, n);
}

// Note that accesses of what may be neighbours stay scalar; what each thread has
// for itself is in registers anyway.
static unsigned stay_scalar(struct vectorizer *w, const struct ir_buffer *b,
                            struct span span, bool is_aligned)
{
    if (!w->fault.array && b->space != SPACE_local)
        w->fault = (struct vectorize_fault){b, span, is_aligned};
    return 0;
}

// Return whether lanes may be neighbours by an index, though that is not seen.
static bool is_open(const struct vectorizer *w, const struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        if ((e->op == OP_div || e->op == OP_mod) && vectorize_varies(w, e))
            return ir_is_stable(x);
    return false;
}

// Return whether lanes are neighbours by the last index, and none differs in
// another one.
static bool are_neighbours(const struct vectorizer *w, uint32_t n,
                           struct ir_expr *const *index)
{
    struct arena *a = w->p->scratch;
    struct affine rest, form = affine_of(a, index[n - 1]);
    int64_t factor, step;
    for (uint32_t i = 0; i + 1 < n; i++)
        if (vectorize_varies(w, index[i]))
            return false;
    return ir_int_value(vectorize_loop_of(w)->step, &step) && step == 1 &&
           affine_linear(a, &form, vectorize_loop_of(w)->var, &factor, &rest) &&
           factor == 1 &&
           !vectorize_varies(w, affine_expr(a, &rest, index[n - 1]->type));
}

unsigned vectorize_contiguous(struct vectorizer *w, const struct ir_buffer *b,
                              struct ir_expr *const *index, struct span span)
{
    if (b->rank == 0)
        return 0;
    if (!are_neighbours(w, b->rank, index)) {
        bool open = false;
        for (uint32_t i = 0; i < b->rank; i++)
            open |= is_open(w, index[i]);
        return open ? stay_scalar(w, b, span, true) : 0;
    }
    struct affine base =
        affine_of(w->p->scratch, vectorize_in_lane(w, index[b->rank - 1], 0));
    unsigned n = widest(w, b);
    while (n > 1 &&
           !(facts_multiple(w->facts, &base, n) && rows_are_aligned(w, b, n)) &&
           !element_is_aligned(w, b, index, n))
        n /= 2;
    return n > 1 ? n : stay_scalar(w, b, span, false);
}

struct ir_expr **vectorize_ramp(struct vectorizer *w, struct ir_buffer *b,
                                struct ir_expr *const *index, unsigned lane,
                                unsigned n)
{
    struct ir_expr **r = arena_array(w->p->arena, struct ir_expr *, b->rank);
    for (uint32_t i = 0; i < b->rank; i++)
        r[i] = vectorize_in_lane(w, index[i], lane);
    r[b->rank - 1] = ir_ramp(w->p->arena, r[b->rank - 1], n);
    struct vectorize_access access = {b, n * (uint32_t)type_bytes(b->elem)};
    vec_push(w->p->scratch, &w->accesses, access);
    return r;
}
