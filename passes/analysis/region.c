// Which part of an array the statements of a kernel access.

#include "passes/analysis/region.h"

#include "ir/accesses.h"
#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"
#include "passes/analysis/region_index.h"
#include "passes/opt/fold.h"

// A walk over the kernel: it collects accesses, or moves their indices.
struct region_walk {
    struct region_place here;
    struct map values; // iteration variables and `let`s -> their struct value
    struct map names;  // of these the ones met in accesses and conditions so
                       // far -> what they stand for
    bool is_inside;    // below q->within
    struct ir_path to_within;         // down to it; nothing if it is NULL
    struct ir_buffer *const *buffers; // with a region each; NULL: those
    size_t n_buffers;                 // of the question have one
    struct region *out;
    const bool *moves; // NULL: collect
};

// What a variable stands for, as the program writes it.
struct value {
    struct ir_expr *expr;
    struct facts_mark place; // what was known there
};

static void resolve(struct region_walk *w, const struct ir_expr *x);

// Put in an expression what variables stand for.
static struct ir_expr *substitute(struct region_walk *w, struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        resolve(w, e);
    return ir_substitute(w->here.q->arena, x, &w->names, NULL);
}

// Find what a variable stands for, under what was known at its place.
static void resolve(struct region_walk *w, const struct ir_expr *x)
{
    const struct value *v =
        x->op == OP_var ? map_get(&w->values, x->u.var) : NULL;
    if (!v || map_get(&w->names, x->u.var))
        return;
    struct ir_expr *by = substitute(w, v->expr);
    struct facts then = facts_at(&w->here.facts, v->place);
    by = fold_expr(w->here.q->arena, &then, by);
    w->here.facts.newest = then.newest;
    map_set(&w->names, x->u.var, by);
}

// Return an expression in the variables of loops and parameters, simplified.
static struct ir_expr *expand(struct region_walk *w, struct ir_expr *x)
{
    return fold_expr(w->here.q->arena, &w->here.facts, substitute(w, x));
}

// Return x - y as a number; false if it is none.
static bool distance(const struct region_walk *w, const struct affine *x,
                     const struct affine *y, int64_t *by)
{
    struct affine d = affine_add(w->here.q->arena, x, -1, y);
    *by = d.constant;
    return affine_is_number(&d);
}

// Extend a dimension by another one.
static void join(const struct region_walk *w, struct region_dim *x,
                 const struct region_dim *y)
{
    int64_t base = 0, lo = 0, hi = 0;
    x->is_known = x->is_known && y->is_known &&
                  distance(w, &x->base, &y->base, &base) && base == 0 &&
                  distance(w, &y->lo, &x->lo, &lo) &&
                  distance(w, &y->hi, &x->hi, &hi);
    bool grows = lo < 0 || hi > 0;
    x->is_dense = grows ? y->is_dense && lo <= 0 && hi >= 0 : x->is_dense;
    x->lo = lo < 0 ? y->lo : x->lo;
    x->hi = hi > 0 ? y->hi : x->hi;
}

// Add an index to what is known of its dimension.
static void collect(struct region_walk *w, const struct region *r,
                    struct region_dim *dim, struct ir_expr *index,
                    struct span span)
{
    struct ir_expr *x = expand(w, index);
    struct region_dim one = region_of_index(&w->here, x), old = *dim;
    if (r->is_accessed)
        join(w, dim, &one);
    else
        *dim = one;
    dim->culprit = old.culprit;
    dim->span = old.span;
    if (region_extent(dim) == 0 && !dim->culprit) {
        dim->culprit = x;
        dim->span = span;
    }
}

// Return the index of a dimension that moves, after its move.
static struct ir_expr *moved(struct region_walk *w,
                             const struct region_dim *dim,
                             struct ir_expr *index)
{
    struct affine base, rest;
    region_split(&w->here, expand(w, index), &base, &rest);
    rest.constant -= dim->lo.constant;
    struct ir_expr *x = affine_expr(w->here.q->arena, &rest, index->type);
    return ir_at(w->here.q->arena,
                 fold_expr(w->here.q->arena, &w->here.facts, x), index->span);
}

// Look at an access of an array with that region; returns its indices, after
// their move.
static struct ir_expr **take_access(struct region_walk *w, struct region *r,
                                    struct ir_expr *const *index,
                                    struct span span, unsigned flags)
{
    enum region_access of = w->here.q->access;
    bool counts =
        w->is_inside && (of == REGION_all ||
                         (flags & (of == REGION_loads ? OP_READS : OP_WRITES)));
    struct ir_expr **new =
        arena_array(w->here.q->arena, struct ir_expr *, r->rank);
    for (uint32_t i = 0; i < r->rank; i++) {
        new[i] = index[i];
        if (w->moves && w->moves[i])
            new[i] = moved(w, &r->dims[i], index[i]);
        else if (!w->moves && counts)
            collect(w, r, &r->dims[i], index[i], span);
    }
    r->is_accessed |= counts;
    return new;
}

// Return the region of an array, or NULL if the question is not about it.
static struct region *region_of(const struct region_walk *w,
                                const struct ir_buffer *b)
{
    const struct region_question *q = w->here.q;
    for (size_t i = 0; i < w->n_buffers; i++)
        if (w->buffers[i] == b)
            return &w->out[i];
    bool found = !w->n_buffers && b == q->buffer;
    for (size_t i = 0; i < q->n_more; i++)
        found |= b == q->more[i];
    return found ? w->out : NULL;
}

// Look at a node that may be an access; returns it or what replaces it.
static struct ir_expr *take_node(struct arena *a, struct ir_expr *x,
                                 void *context)
{
    struct region_walk *w = context;
    unsigned flags = ir_op_info(x->op)->flags;
    struct region *r =
        flags & (OP_READS | OP_WRITES) ? region_of(w, x->u.buffer) : NULL;
    if (!r)
        return x;
    struct ir_expr **args = arena_array(a, struct ir_expr *, x->n);
    struct ir_expr **index = take_access(w, r, x->args, x->span, flags);
    for (uint32_t i = 0; i < x->n; i++)
        args[i] = i < r->rank ? index[i] : x->args[i];
    return w->moves ? ir_at(a, ir_with_args(a, x, args), x->span) : x;
}

// Let a variable stand for an expression from here on.
static void name(struct region_walk *w, const struct ir_var *var,
                 struct ir_expr *expr)
{
    if (!ir_is_stable(expr))
        return;
    struct value *v = arena_new(w->here.q->scratch, struct value);
    *v = (struct value){expr, facts_mark(&w->here.facts)};
    map_set(&w->values, var, v);
    map_set(&w->names, var, NULL);
}

static void walk(struct region_walk *w, struct ir_block *block);

// Look at a block inside a statement, or where a condition holds or does not.
static void walk_inside(struct region_walk *w, const struct ir_stmt *s,
                        struct ir_block *block, struct ir_expr *condition,
                        bool holds)
{
    struct facts_mark here = facts_mark(&w->here.facts);
    bool cuts = !w->here.q->whole_tiles;
    if (s && (s->kind != STMT_stage || cuts))
        facts_enter(&w->here.facts, s);
    if (condition && cuts)
        facts_assume(&w->here.facts, substitute(w, condition), holds);
    walk(w, block);
    facts_leave(&w->here.facts, here);
}

// Look at the init of a stage.
static void walk_init(struct region_walk *w, struct ir_stmt *s)
{
    struct ir_stage *stage = &s->u.stage;
    struct facts_mark here = facts_mark(&w->here.facts);
    bool cuts = !w->here.q->whole_tiles;
    if (cuts)
        facts_enter(&w->here.facts, s);
    if (stage->predicate && cuts)
        facts_assume(&w->here.facts, substitute(w, stage->predicate), true);
    struct facts all = w->here.facts;
    w->here.facts = facts_of_init(&all, stage);
    walk(w, &stage->init);
    all.newest = w->here.facts.newest;
    w->here.facts = all;
    facts_leave(&w->here.facts, here);
}

// Look at a statement.
static void walk_stmt(struct region_walk *w, struct ir_stmt *s)
{
    struct region *stored =
        s->kind == STMT_store ? region_of(w, s->u.store.buffer) : NULL;
    ir_foreach_place(place, s) {
        struct ir_expr *x = ir_rewrite(w->here.q->arena, *place, take_node, w);
        *place = w->moves ? x : *place;
    }
    if (stored) {
        struct ir_expr **index =
            take_access(w, stored, s->u.store.index, s->span, OP_WRITES);
        s->u.store.index = w->moves ? index : s->u.store.index;
    } else if (s->kind == STMT_for) {
        map_set(&w->here.loops, s->u.loop.var, &s->u.loop);
        walk_inside(w, s, &s->u.loop.body, NULL, false);
    } else if (s->kind == STMT_if) {
        walk_inside(w, NULL, &s->u.branch.then, s->u.branch.cond, true);
        walk_inside(w, NULL, &s->u.branch.otherwise, s->u.branch.cond, false);
    } else if (s->kind == STMT_stage) {
        for (size_t i = 0; i < s->u.stage.iters.n; i++)
            name(w, s->u.stage.iters.at[i].var, s->u.stage.iters.at[i].binding);
        struct ir_expr *predicate = s->u.stage.predicate;
        if (s->u.stage.has_init)
            walk_init(w, s);
        walk_inside(w, s, &s->u.stage.body, predicate, true);
    } else if (s->kind == STMT_let) {
        facts_enter(&w->here.facts, s);
        name(w, s->u.let.var, s->u.let.value);
    }
}

// Return whether a statement accesses arrays of the question.
static bool uses_any(const struct region_walk *w, const struct ir_stmt *s)
{
    const struct region_question *q = w->here.q;
    bool found = !w->n_buffers && ir_stmt_uses(s, q->buffer);
    for (size_t i = 0; i < w->n_buffers && !found; i++)
        found = ir_stmt_uses(s, w->buffers[i]);
    for (size_t i = 0; i < q->n_more && !found; i++)
        found = ir_stmt_uses(s, q->more[i]);
    return found;
}

// Return whether a statement of a block has nothing for the answer: it is beside
// what is looked at, or does not access the arrays.  A `let` is a name for what
// follows, and what is alone was looked at with what is around it.
static bool is_aside(const struct region_walk *w, const struct ir_block *block,
                     const struct ir_stmt *s)
{
    bool leads = false;
    if (w->moves || s->kind == STMT_let)
        return false;
    if (w->is_inside)
        return block->n > 1 && !uses_any(w, s);
    for (uint32_t i = 0; i < w->to_within.n && !leads; i++)
        leads = w->to_within.stmts[i] == s;
    return !leads;
}

// Look at the statements of a block.
static void walk(struct region_walk *w, struct ir_block *block)
{
    struct facts_mark here = facts_mark(&w->here.facts);
    for (size_t i = 0; i < block->n; i++) {
        bool was_inside = w->is_inside;
        w->is_inside |= block->at[i] == w->here.q->within;
        if (!is_aside(w, block, block->at[i]))
            walk_stmt(w, block->at[i]);
        w->is_inside = was_inside;
    }
    facts_leave(&w->here.facts, here);
}

// Walk over the whole kernel.
static void start(struct region_walk *w, const struct region_question *q)
{
    w->here.q = q;
    w->here.loops.arena = w->values.arena = w->names.arena = q->scratch;
    w->is_inside = !q->within;
    if (q->within)
        ir_find(q->scratch, &q->kernel->body, q->within, &w->to_within);
    facts_start(&w->here.facts, q->scratch, q->kernel);
    walk(w, &q->kernel->body);
}

int64_t region_extent(const struct region_dim *dim)
{
    int64_t n;
    if (!dim->is_known || !affine_is_number(&dim->lo) ||
        !affine_is_number(&dim->hi) ||
        !num_sub(dim->hi.constant, dim->lo.constant, &n) || !num_add(n, 1, &n))
        return 0;
    return n > 0 ? n : 0;
}

bool region_covers(struct arena *scratch, const struct region_dim *x,
                   const struct region_dim *y)
{
    if (!x->is_known || !y->is_known || !x->is_dense)
        return false;
    struct affine base = affine_add(scratch, &x->base, -1, &y->base);
    struct affine lo = affine_add(scratch, &y->lo, -1, &x->lo);
    struct affine hi = affine_add(scratch, &x->hi, -1, &y->hi);
    return affine_is_number(&base) && base.constant == 0 &&
           affine_is_number(&lo) && lo.constant >= 0 && affine_is_number(&hi) &&
           hi.constant >= 0;
}

// Return the region of an array before any access.
static struct region no_region(struct arena *a, const struct ir_buffer *b)
{
    struct region r = {.rank = b->rank};
    r.dims = arena_array(a, struct region_dim, r.rank);
    for (uint32_t i = 0; i < r.rank; i++)
        r.dims[i] = (struct region_dim){.is_known = true};
    return r;
}

struct region region_find(const struct region_question *q)
{
    struct region r = no_region(q->arena, q->buffer);
    struct region_walk w = {.out = &r};
    start(&w, q);
    return r;
}

struct region *region_find_each(const struct region_question *q,
                                struct ir_buffer *const *buffers, size_t n)
{
    struct region *all = arena_array(q->arena, struct region, n + 1);
    struct region_walk w = {.buffers = buffers, .n_buffers = n, .out = all};
    for (size_t i = 0; i < n; i++)
        all[i] = no_region(q->arena, buffers[i]);
    start(&w, q);
    return all;
}

void region_shift(const struct region_question *q, const struct region *r,
                  const bool *moves)
{
    struct region copy = *r;
    struct region_walk w = {.out = &copy, .moves = moves};
    start(&w, q);
}

// Return whether a condition is more than bounds.
static bool is_no_bound(struct ir_expr *condition)
{
    struct arena scratch = {0};
    bool found = false;
    struct conditions all = fold_split(&scratch, condition);
    for (size_t i = 0; i < all.n; i++) {
        enum ir_op op = all.at[i]->op;
        found |= op != OP_lt && op != OP_le && op != OP_gt && op != OP_ge;
    }
    arena_reset(&scratch);
    return found;
}

bool region_is_partial(const struct ir_stmt *nest)
{
    ir_foreach_stmt_from(t, nest)
        if (t->kind == STMT_if ||
            (t->kind == STMT_stage && t->u.stage.predicate &&
             is_no_bound(t->u.stage.predicate)))
            return true;
    return false;
}
