// Footprints: each index is the sum of a part that stands still, the base, and
// a part that moves with the loops inside, whose range gives the extent.
//
//   for i_0 { for i_1 in 0..128 { ... A[i_0 * 128 + i_1 + 2] ... } }
//
// For loop i_0: base i_0 * 128, extent 130 if A[i_0 * 128 + i_1] is read, too.

#include "passes/analysis/footprint.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"

// The indices base + low .. base + high of one dimension.
struct span_of {
    bool is_whole, is_dense;
    struct affine base;      // stands still
    struct affine low, high; // numbers, or sizes
};

// The state of a walk.
struct walk {
    const struct footprint_query *q;
    struct arena *a; // for results
    struct facts facts;
    struct map values;     // what lets and iteration variables stand for
    struct map moving;     // loop variables -> their loops
    struct span_of *spans; // of each dimension
    bool any;
};

static void walk_block(struct walk *w, struct ir_block *block);

// The context of see_moving.
struct motion {
    const struct walk *w;
    bool found;
};

// Note a variable that moves, or memory.
static void see_moving(struct ir_expr *x, void *context)
{
    struct motion *m = context;
    m->found |= x->op == OP_load ||
                (x->op == OP_var && (map_has(&m->w->moving, x->u.var) ||
                                     x->u.var->kind == VAR_mutable));
}

// Return whether an expression differs between iterations.
static bool moves(const struct walk *w, struct ir_expr *x)
{
    struct motion m = {w, false};
    ir_each_expr(x, see_moving, &m);
    return m.found;
}

// Return whether a term moves.
static bool term_moves(const struct walk *w, const struct affine_term *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (moves(w, t->atoms[i]))
            return true;
    }
    return false;
}

// Return x + 1 * term.
static struct affine add_term(struct walk *w, const struct affine *x,
                              const struct affine_term *t)
{
    struct affine one = affine_number(1);
    struct affine scaled = affine_scale(w->a, &one, t);
    return affine_add(w->a, x, 1, &scaled);
}

// Widen a span by a term that is factor * v, v a loop from 0 to a size, where
// numbers do not bound it.
static bool widen_by_size(struct walk *w, const struct affine_term *t,
                          struct span_of *s)
{
    const struct ir_stmt *loop = t->n == 1 && t->atoms[0]->op == OP_var
                                     ? map_get(&w->moving, t->atoms[0]->u.var)
                                     : NULL;
    if (!loop || !ir_is_int_const(loop->u.loop.from, 0) ||
        moves(w, loop->u.loop.to))
        return false;
    struct affine last = affine_of(w->a, loop->u.loop.to);
    struct affine one = affine_number(1);
    last = affine_add(w->a, &last, -1, &one);
    struct affine *side = t->factor > 0 ? &s->high : &s->low;
    *side = affine_add(w->a, side, t->factor, &last);
    return true;
}

// Widen a span by the range of a moving term; false if it has none.
static bool widen(struct walk *w, const struct affine_term *t,
                  struct span_of *s)
{
    struct affine zero = affine_number(0);
    struct affine alone = add_term(w, &zero, t);
    struct interval r = facts_range_of(&w->facts, &alone);
    if (r.lo == INT64_MIN || r.hi == INT64_MAX)
        return widen_by_size(w, t, s);
    struct affine lo = affine_number(r.lo), hi = affine_number(r.hi);
    s->low = affine_add(w->a, &s->low, 1, &lo);
    s->high = affine_add(w->a, &s->high, 1, &hi);
    return true;
}

// Return the extent of a moving term that is factor * v with v from 0, else 0.
static int64_t digit_extent(struct walk *w, const struct affine_term *t)
{
    struct affine atom = affine_atom(w->a, t->atoms[0]);
    struct interval r = facts_range_of(&w->facts, &atom);
    bool fits = t->n == 1 && t->factor > 0 && r.lo == 0 && r.hi < INT32_MAX;
    return fits ? r.hi + 1 : 0;
}

// Return whether the moving terms are the digits of a number whose weights
// fit, so that all of low .. high occurs: 8 * i + j, j in 0..8.
static bool is_dense(struct walk *w, const struct affine *x)
{
    int64_t weight = 1;
    size_t found = 0;
    bool *used = arena_array(w->q->pass->scratch, bool, x->terms.n + 1);
    for (size_t i = 0; i < x->terms.n; i++) {
        int64_t extent = digit_extent(w, &x->terms.at[i]);
        if (used[i] || extent == 0 ||
            (extent > 1 && x->terms.at[i].factor != weight))
            continue;
        weight *= extent;
        used[i] = true;
        found++;
        i = (size_t)-1;
    }
    return found == x->terms.n;
}

// Return the span of one index.
static struct span_of span_of_index(struct walk *w, struct ir_expr *x)
{
    struct affine all = affine_of(w->a, x), zero = affine_number(0);
    struct affine inner = zero;
    struct span_of s = {.base = affine_number(all.constant)};
    s.is_whole = all.failed;
    for (size_t i = 0; i < all.terms.n && !s.is_whole; i++) {
        const struct affine_term *t = &all.terms.at[i];
        if (!term_moves(w, t))
            s.base = add_term(w, &s.base, t);
        else if (widen(w, t, &s))
            inner = add_term(w, &inner, t);
        else
            s.is_whole = true;
    }
    struct ir_expr *moving = affine_expr(w->a, &inner, type_scalar(TYPE_int));
    s.is_dense =
        !s.is_whole && ((moving->op == OP_var && affine_is_number(&s.low) &&
                         s.low.constant == 0) ||
                        is_dense(w, &inner));
    return s;
}

// Return the greater (or lesser) of two bounds that differ by a number.
static bool join_bound(struct walk *w, struct affine *x, const struct affine *y,
                       bool greater)
{
    struct affine d = affine_add(w->a, y, -1, x);
    if (d.failed || !affine_is_number(&d))
        return false;
    if (greater ? d.constant > 0 : d.constant < 0)
        *x = *y;
    return true;
}

// Join the span of another access to a span.
static void join(struct walk *w, struct span_of *x, struct span_of y)
{
    struct affine d = affine_add(w->a, &y.base, -1, &x->base);
    if (x->is_whole || y.is_whole || d.failed || !affine_is_number(&d)) {
        x->is_whole = true;
        return;
    }
    y.low = affine_add(w->a, &y.low, 1, &d);
    y.high = affine_add(w->a, &y.high, 1, &d);
    struct span_of old = *x;
    x->is_whole = !join_bound(w, &x->low, &y.low, false) ||
                  !join_bound(w, &x->high, &y.high, true);
    struct affine low = affine_add(w->a, &x->low, -1, &old.low);
    struct affine high = affine_add(w->a, &x->high, -1, &old.high);
    x->is_dense = old.is_dense && affine_is_number(&low) && !low.constant &&
                  affine_is_number(&high) && !high.constant;
}

// Add an access.
static void add_access(struct walk *w, struct ir_expr *const *index)
{
    for (uint32_t i = 0; i < w->q->buffer->rank; i++) {
        struct span_of s = span_of_index(w, index[i]);
        if (w->any)
            join(w, &w->spans[i], s);
        else
            w->spans[i] = s;
    }
    w->any = true;
}

// Add a load or an atomic.
static void see_access(struct ir_expr *x, void *context)
{
    struct walk *w = context;
    unsigned flags = ir_op_info(x->op)->flags;
    if ((flags & (w->q->writes ? OP_WRITES : OP_READS)) &&
        x->u.buffer == w->q->buffer)
        add_access(w, x->args);
}

// Return an expression over loops, after noting its accesses.
static struct ir_expr *walk_expr(struct walk *w, struct ir_expr *x)
{
    x = ir_substitute(w->a, x, &w->values, NULL);
    ir_each_expr(x, see_access, w);
    return x;
}

// Walk a stage.
static void walk_stage(struct walk *w, struct ir_stmt *s)
{
    struct ir_stage *stage = &s->u.stage;
    for (size_t i = 0; i < stage->iters.n; i++)
        map_set(&w->values, stage->iters.at[i].var,
                walk_expr(w, stage->iters.at[i].binding));
    if (stage->predicate)
        walk_expr(w, stage->predicate);
    walk_block(w, &stage->init);
    walk_block(w, &stage->body);
}

// Walk a store.
static void walk_store(struct walk *w, struct ir_stmt *s)
{
    uint32_t n = s->u.store.n;
    struct ir_expr **index = arena_array(w->a, struct ir_expr *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        index[i] = walk_expr(w, s->u.store.index[i]);
    if (w->q->writes && s->u.store.buffer == w->q->buffer)
        add_access(w, index);
    walk_expr(w, s->u.store.value);
}

// Walk a statement.
static void walk_stmt(struct walk *w, struct ir_stmt *s)
{
    struct ir_block *inside[IR_BLOCKS_MOST];
    struct facts_mark mark = facts_mark(&w->facts);
    if (s->kind == STMT_stage) {
        walk_stage(w, s);
        return;
    }
    if (s->kind == STMT_for)
        map_set(&w->moving, s->u.loop.var, s);
    if (s->kind == STMT_store)
        walk_store(w, s);
    if (s->kind == STMT_let || s->kind == STMT_var || s->kind == STMT_assign)
        walk_expr(w, s->u.let.value);
    if (s->kind == STMT_let)
        map_set(&w->values, s->u.let.var, walk_expr(w, s->u.let.value));
    if (s->kind == STMT_if)
        walk_expr(w, s->u.branch.cond);
    if (s->kind == STMT_eval)
        walk_expr(w, s->u.value);
    facts_enter(&w->facts, s);
    uint32_t n = ir_stmt_blocks(s, inside);
    for (uint32_t i = 0; i < n; i++)
        walk_block(w, inside[i]);
    if (s->kind != STMT_let)
        facts_leave(&w->facts, mark);
}

// Walk a block.
static void walk_block(struct walk *w, struct ir_block *block)
{
    struct facts_mark mark = facts_mark(&w->facts);
    for (size_t i = 0; i < block->n; i++)
        walk_stmt(w, block->at[i]);
    facts_leave(&w->facts, mark);
}

// Learn of the loops around, and which of them move.
static void enter_around(struct walk *w)
{
    struct ir_path path = {0};
    ir_find(w->a, &w->q->pass->kernel->body, w->q->loop, &path);
    for (uint32_t i = 0; i < path.n; i++) {
        struct ir_stmt *s = path.stmts[i];
        facts_enter(&w->facts, s);
        if (s->kind == STMT_let)
            map_set(&w->values, s->u.let.var, s->u.let.value);
        if (s->kind == STMT_for && w->q->across_threads &&
            axis_kind(s->u.loop.axis) == AXIS_THREAD)
            map_set(&w->moving, s->u.loop.var, s);
    }
}

// Return a dimension of the result.
static struct footprint_dim dim_of(struct walk *w, uint32_t i)
{
    struct span_of *s = &w->spans[i];
    struct type type = type_scalar(TYPE_int);
    struct affine one = affine_number(1);
    struct affine base = affine_add(w->a, &s->base, 1, &s->low);
    struct affine extent = affine_add(w->a, &s->high, -1, &s->low);
    extent = affine_add(w->a, &extent, 1, &one);
    if (s->is_whole || base.failed || extent.failed)
        return (struct footprint_dim){.base = ir_int(w->a, 0),
                                      .extent = w->q->buffer->shape[i],
                                      .is_whole = true};
    return (struct footprint_dim){.base = affine_expr(w->a, &base, type),
                                  .extent = affine_expr(w->a, &extent, type),
                                  .is_dense = s->is_dense};
}

struct footprint footprint_of(const struct footprint_query *query)
{
    struct pass *p = query->pass;
    struct walk w = {.q = query, .a = p->arena};
    uint32_t n = query->buffer->rank;
    w.values.arena = w.moving.arena = p->scratch;
    w.spans = arena_array(p->scratch, struct span_of, n + 1);
    facts_start(&w.facts, p->scratch, p->kernel);
    enter_around(&w);
    walk_block(&w, &query->loop->u.loop.body);
    struct footprint f = {.any = w.any, .n = n};
    f.dims = arena_array(p->arena, struct footprint_dim, n + 1);
    for (uint32_t i = 0; i < n && w.any; i++)
        f.dims[i] = dim_of(&w, i);
    return f;
}
