// The body of a vector loop as operations on vectors.
//
// What does not depend on the loop is computed once and broadcast; what cannot
// be done on vectors is done lane by lane; loads and stores of neighbours
// that are proved to be aligned become accesses of up to 16 bytes.

#include "passes/lower/vectorize_body.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/analysis/copies.h"
#include "passes/opt/fold.h"

static bool vectorize_block(struct vectorizer *w, struct ir_block *block,
                            struct ir_block *out);

// Return the vector of what an expression is in each lane.
static struct ir_expr *by_lanes(const struct vectorizer *w, struct ir_expr *x)
{
    struct ir_expr *all[16];
    for (unsigned k = 0; k < w->lanes; k++)
        all[k] = vectorize_in_lane(w, x, k);
    return ir_lanes(w->p->arena, w->lanes, all);
}

// Vectorize a load.
static struct ir_expr *vectorize_load(struct vectorizer *w, struct ir_expr *x)
{
    struct arena *a = w->p->arena;
    struct ir_expr *all[16], *part = NULL;
    unsigned n = vectorize_contiguous(w, x->u.buffer, x->args, x->span);
    if (n == 0)
        return by_lanes(w, x);
    for (unsigned k = 0; k < w->lanes; k++) {
        if (k % n == 0)
            part = ir_load(a, x->u.buffer, x->n,
                           vectorize_ramp(w, x->u.buffer, x->args, k, n));
        all[k] = ir_lane(a, part, k % n);
    }
    return n == w->lanes ? part : ir_lanes(a, w->lanes, all);
}

// Return whether an operation is done on each lane of vectors.
static bool is_elementwise(const struct vectorizer *w, const struct ir_expr *x)
{
    if (x->op == OP_select)
        return vectorize_same(w, x->args[0]) != NULL;
    if (ir_op_info(x->op)->flags !=
        (ir_op_info(x->op)->flags & (OP_PURE | OP_COMMUTES | OP_ASSOCIATES)))
        return false;
    for (uint32_t i = 0; i < x->n; i++) {
        struct type t = x->args[i]->type;
        if (type_is_index(t) || t.kind == TYPE_bool || t.lanes > 1)
            return false;
    }
    return x->type.kind != TYPE_bool && x->n > 0;
}

struct ir_expr *vectorize_expr(struct vectorizer *w, struct ir_expr *x)
{
    struct arena *a = w->p->arena;
    struct ir_expr *r;
    if (!vectorize_varies(w, x))
        return ir_broadcast(a, x, w->lanes);
    struct ir_var *vector =
        x->op == OP_var ? map_get(&w->vectors, x->u.var) : NULL;
    if (vector) {
        r = ir_read(a, vector);
    } else if (x->op == OP_load) {
        r = vectorize_load(w, x);
    } else if (is_elementwise(w, x)) {
        struct ir_expr **args = arena_array(a, struct ir_expr *, x->n);
        for (uint32_t i = 0; i < x->n; i++)
            args[i] = x->op == OP_select && i == 0
                          ? vectorize_same(w, x->args[0])
                          : vectorize_expr(w, x->args[i]);
        r = x->op == OP_cast ? ir_cast(a, x->type, args[0])
                             : ir_call(a, x->op, x->n, args);
    } else {
        r = by_lanes(w, x);
    }
    return ir_at(a, r, x->span);
}

// Append a statement with the places of another.
static void append(struct vectorizer *w, struct ir_block *out,
                   struct ir_stmt *s, const struct ir_stmt *from)
{
    ir_append(w->p->arena, out, ir_stmt_from(s, from));
}

// Return a store in the place of another one, with its marks.
static struct ir_stmt *store_like(const struct vectorizer *w,
                                  const struct ir_stmt *like,
                                  struct ir_expr **index, struct ir_expr *value)
{
    struct ir_buffer *b = like->u.store.buffer;
    struct ir_stmt *s = ir_stmt_store(w->p->arena, b, b->rank, index, value);
    s->u.store.hint = like->u.store.hint;
    s->u.store.copied = like->u.store.copied;
    s->u.store.hinted = like->u.store.hinted;
    return ir_stmt_from(s, like);
}

// Vectorize a store: one or more vectors, or one element a lane.
static void vectorize_store(struct vectorizer *w, struct ir_stmt *s,
                            struct ir_block *out)
{
    struct arena *a = w->p->arena;
    struct ir_buffer *b = s->u.store.buffer;
    struct ir_expr *all[16], **index = s->u.store.index;
    unsigned n = vectorize_contiguous(w, b, index, s->span);
    struct ir_expr *value = vectorize_expr(w, s->u.store.value);
    if (n == w->lanes) {
        ir_append(a, out,
                  store_like(w, s, vectorize_ramp(w, b, index, 0, n), value));
        return;
    }
    struct ir_var *var = ir_var_new(a, b->name, value->type, VAR_let, b->span);
    append(w, out, ir_stmt_let(a, var, value), s);
    for (unsigned k = 0; k < w->lanes; k += n ? n : 1) {
        for (unsigned i = 0; i < n || i == 0; i++)
            all[i] = ir_lane(a, ir_read(a, var), k + i);
        struct ir_expr **at = arena_array(a, struct ir_expr *, b->rank + 1);
        for (uint32_t i = 0; i < b->rank && n == 0; i++)
            at[i] = vectorize_in_lane(w, index[i], k);
        if (n)
            at = vectorize_ramp(w, b, index, k, n);
        struct ir_expr *x = n ? ir_lanes(a, n, all) : all[0];
        ir_append(a, out, store_like(w, s, at, x));
    }
}

// Vectorize a declaration; a `let` that does not vary stays a scalar.
static void vectorize_declaration(struct vectorizer *w, struct ir_stmt *s,
                                  struct ir_block *out)
{
    struct ir_var *var = s->u.let.var;
    if (s->kind == STMT_let && !vectorize_varies(w, s->u.let.value)) {
        ir_append(w->p->arena, out, s);
        return;
    }
    struct ir_expr *value = vectorize_expr(w, s->u.let.value);
    struct ir_var *vector =
        ir_var_new(w->p->arena, var->name, value->type, var->kind, var->span);
    map_set(&w->vectors, var, vector);
    append(w, out, ir_stmt_let(w->p->arena, vector, value), s);
}

// Which iteration a condition is looked at in.
enum extreme { HARDEST, EASIEST };

// Return the comparison with the loop's variable at the iteration where it is
// hardest, or easiest, to satisfy; NULL if that is not known.
static struct ir_expr *in_extreme(struct vectorizer *w, struct ir_expr *c,
                                  enum extreme which)
{
    struct arena *a = w->p->scratch;
    struct affine form, rest;
    int64_t factor;
    if (!vectorize_varies(w, c))
        return c;
    if (!facts_form(a, c, &form) ||
        !affine_linear(a, &form, vectorize_loop_of(w)->var, &factor, &rest) ||
        vectorize_varies(w, affine_expr(a, &rest, c->args[0]->type)))
        return NULL;
    bool is_last = (factor < 0) == (which == HARDEST);
    return vectorize_in_lane(w, c, is_last ? w->lanes - 1 : 0);
}

// Return a condition that holds if `c` does in every lane, or one that holds
// unless `c` does in none; NULL if there is none to be seen.
static struct ir_expr *in_lanes(struct vectorizer *w, struct ir_expr *c,
                                enum extreme which)
{
    struct conditions all = fold_split(w->p->scratch, c);
    for (size_t i = 0; i < all.n; i++) {
        all.at[i] = in_extreme(w, all.at[i], which);
        if (!all.at[i])
            return NULL;
    }
    return fold_all(w->p->arena, all.at, all.n);
}

// Return the loop over one statement, iteration by iteration.
static struct ir_block scalar_loop(struct vectorizer *w, struct ir_stmt *s)
{
    const struct ir_for *l = vectorize_loop_of(w);
    struct arena *a = w->p->arena;
    struct ir_block block = {0};
    struct ir_stmt *loop =
        ir_stmt_for(a, l->var, l->from, l->to, l->step, AXIS_serial);
    ir_stmt_from(loop, w->stmt);
    ir_append(a, &loop->u.loop.body, s);
    ir_append(a, &block, loop);
    return ir_copy_block(a, &block, NULL, NULL);
}

// Return what a branch without `else` does lane by lane, where its condition does
// not hold in all lanes: nothing if it holds in none.
static struct ir_block scalar_lanes(struct vectorizer *w, struct ir_stmt *s)
{
    struct arena *a = w->p->arena;
    struct ir_stmt *any = ir_stmt_if(a, in_lanes(w, s->u.branch.cond, EASIEST));
    struct ir_block block = {0};
    any->u.branch.then = scalar_loop(w, s);
    append(w, &block, any, s);
    return block;
}

bool vectorize_whole(struct vectorizer *w, struct ir_block *out)
{
    struct ir_block *body = &w->stmt->u.loop.body;
    struct ir_stmt *s = body->n == 1 ? body->at[0] : NULL;
    if (!s || s->kind != STMT_if || s->u.branch.otherwise.n)
        return false;
    struct ir_expr *all = in_lanes(w, s->u.branch.cond, HARDEST);
    if (!all)
        return false;
    struct ir_stmt *branch = ir_stmt_if(w->p->arena, all);
    branch->u.branch.otherwise = scalar_lanes(w, s);
    *body = s->u.branch.then;
    ir_append(w->p->arena, &branch->u.branch.then, w->stmt);
    append(w, out, branch, s);
    return true;
}

// Append the copies of `n` neighbours each that make up one of all lanes, as `s`
// does at once; `from` is what they read, zeros where `condition` fails.
static void append_copies(struct vectorizer *w, struct ir_stmt *s, unsigned n,
                          const struct ir_expr *from, struct ir_expr *condition,
                          struct ir_block *out)
{
    struct arena *a = w->p->arena;
    struct ir_buffer *b = s->u.store.buffer, *source = from->u.buffer;
    struct ir_expr *zero =
        condition ? ir_broadcast(a, s->u.store.value->args[2], n) : NULL;
    for (unsigned k = 0; k < w->lanes; k += n) {
        struct ir_expr *x =
            ir_load(a, source, source->rank,
                    vectorize_ramp(w, source, from->args, k, n));
        x = condition ? ir_select(a, condition, x, zero) : x;
        struct ir_stmt *part =
            store_like(w, s, vectorize_ramp(w, b, s->u.store.index, k, n), x);
        ir_append(a, out, copies_start(a, part));
    }
}

// Vectorize a copy: as few vectors as alignment allows; where not all lanes are
// known to copy, lane by lane.  Returns false if it has to stay scalar.
static bool vectorize_copy(struct vectorizer *w, struct ir_stmt *s,
                           struct ir_block *out)
{
    struct ir_stmt *once = ir_at_once(w->p->arena, s);
    const struct ir_expr *from = copies_source(once);
    struct ir_expr *x = once->u.store.value;
    struct ir_expr *condition = from && x != from ? x->args[0] : NULL;
    unsigned n = vectorize_contiguous(w, s->u.copy.near.buffer,
                                      s->u.copy.near.index, s->span);
    unsigned most =
        from ? vectorize_contiguous(w, from->u.buffer, from->args, from->span)
             : 0;
    n = n < most ? n : most;
    if (n == 0)
        return false;
    struct ir_expr *same = condition ? vectorize_same(w, condition) : NULL;
    if (!condition || same) {
        append_copies(w, once, n, from, same, out);
        return true;
    }
    struct ir_expr *all = in_lanes(w, condition, HARDEST);
    if (!all || w->vectors.n)
        return false;
    struct ir_stmt *branch = ir_stmt_if(w->p->arena, all);
    branch->u.branch.otherwise = scalar_loop(w, s);
    append_copies(w, once, n, from, NULL, &branch->u.branch.then);
    append(w, out, branch, s);
    return true;
}

// Vectorize a branch: under a condition that is the same in all lanes; or, if
// no vector variable is in sight, under one that holds in all, and lane by lane
// where it does not.
static bool vectorize_branch(struct vectorizer *w, struct ir_stmt *s,
                             struct ir_block *out)
{
    struct arena *a = w->p->arena;
    struct ir_expr *c = s->u.branch.cond;
    struct ir_expr *same = vectorize_same(w, c);
    struct ir_expr *all = same ? same : in_lanes(w, c, HARDEST);
    bool uniform = same != NULL;
    if (!all || (!uniform && (w->vectors.n || s->u.branch.otherwise.n)))
        return false;
    struct ir_stmt *branch = ir_stmt_if(a, all);
    branch->u.branch.otherwise =
        uniform ? (struct ir_block){0} : scalar_lanes(w, s);
    append(w, out, branch, s);
    return vectorize_block(w, &s->u.branch.then, &branch->u.branch.then) &&
           (!uniform || vectorize_block(w, &s->u.branch.otherwise,
                                        &branch->u.branch.otherwise));
}

// Vectorize a loop whose range is the same in all lanes.
static bool vectorize_loop(struct vectorizer *w, struct ir_stmt *s,
                           struct ir_block *out)
{
    struct ir_for *l = &s->u.loop;
    if (vectorize_varies(w, l->from) || vectorize_varies(w, l->to) ||
        vectorize_varies(w, l->step))
        return false;
    struct ir_block body = {0};
    struct facts_mark here = facts_mark(w->facts);
    facts_enter(w->facts, s);
    bool good = vectorize_block(w, &l->body, &body);
    facts_leave(w->facts, here);
    l->body = body;
    ir_append(w->p->arena, out, s);
    return good;
}

// Vectorize a statement; false if it has to stay scalar.
static bool vectorize_stmt(struct vectorizer *w, struct ir_stmt *s,
                           struct ir_block *out)
{
    struct ir_var *vector;
    if (w->is_dot && s->kind != STMT_if && s->kind != STMT_let)
        return vectorize_dot(w, s, out);
    switch ((int)s->kind) {
    case STMT_for: return vectorize_loop(w, s, out);
    case STMT_if: return vectorize_branch(w, s, out);
    case STMT_let:
    case STMT_var: vectorize_declaration(w, s, out); return true;
    case STMT_store: vectorize_store(w, s, out); return true;
    case STMT_copy: return ir_is_thread_copy(s) && vectorize_copy(w, s, out);
    case STMT_assign:
        vector = map_get(&w->vectors, s->u.let.var);
        if (vector)
            append(w, out,
                   ir_stmt_assign(w->p->arena, vector,
                                  vectorize_expr(w, s->u.let.value)),
                   s);
        return vector != NULL;
    }
    return false;
}

// Vectorize the statements of a block; false if one has to stay scalar.
static bool vectorize_block(struct vectorizer *w, struct ir_block *block,
                            struct ir_block *out)
{
    for (size_t i = 0; i < block->n; i++)
        if (!vectorize_stmt(w, block->at[i], out))
            return false;
    return true;
}

// Return whether a store is to another element in each iteration.
static bool moves(const struct vectorizer *w, const struct ir_stmt *store)
{
    for (uint32_t i = 0; i < store->u.store.n; i++) {
        struct arena *a = w->p->scratch;
        struct affine form = affine_of(a, store->u.store.index[i]), rest;
        int64_t factor = 0;
        if (affine_linear(a, &form, vectorize_loop_of(w)->var, &factor,
                          &rest) &&
            factor != 0)
            return true;
    }
    return false;
}

// Return whether an iteration may access what another one stores: all accesses
// of the array must be at the index of the store, which moves.
static bool conflicts(const struct vectorizer *w, const struct ir_stmt *store,
                      const struct ir_block *body)
{
    const struct ir_buffer *array = store->u.store.buffer;
    struct ir_expr **index = store->u.store.index;
    ir_foreach_stmt(s, body) {
        struct ir_stmt *once = ir_at_once(w->p->scratch, s);
        if (once->kind == STMT_store && once->u.store.buffer == array &&
            !ir_all_equal(array->rank, index, once->u.store.index))
            return true;
        ir_foreach_expr_of(x, once)
            if (ir_op_info(x->op)->flags & OP_WRITES || x->type.lanes > 1 ||
                (x->op == OP_load && x->u.buffer == array &&
                 !ir_all_equal(array->rank, index, x->args)))
                return true;
    }
    return !moves(w, store);
}

// Put the values of `let`s of an index type in place of their names.
static void expand_lets(struct vectorizer *w, struct ir_block *block)
{
    for (size_t i = 0; i < block->n;) {
        struct ir_stmt *s = block->at[i];
        ir_foreach_block(inner, s)
            expand_lets(w, inner);
        if (s->kind != STMT_let || !type_is_index(s->u.let.var->type) ||
            !ir_is_stable(s->u.let.value)) {
            i++;
            continue;
        }
        ir_expand_let(w->p->arena, block, i);
    }
}

// Align the arrays as their accesses ask for.
static void align_arrays(const struct vectorizer *w)
{
    vec_foreach(x, &w->accesses)
        if (x->buffer->align < x->bytes)
            x->buffer->align = x->bytes;
}

// Return whether the iterations can run at once: none accesses what another one
// stores, or they are one sum.
static bool may_vectorize(const struct vectorizer *w,
                          const struct ir_block *body)
{
    if (w->is_dot)
        return vectorize_is_sum(body);
    ir_foreach_stmt(s, body) {
        const struct ir_stmt *once = ir_at_once(w->p->scratch, s);
        if (once->kind == STMT_store && conflicts(w, once, body))
            return false;
    }
    return true;
}

bool vectorize_body(struct vectorizer *w, struct ir_block *out)
{
    w->vectors = (struct map){.arena = w->p->scratch};
    struct ir_block body =
        ir_copy_block(w->p->arena, &vectorize_loop_of(w)->body, NULL, NULL);
    expand_lets(w, &body);
    if (!may_vectorize(w, &body) || !vectorize_block(w, &body, out) ||
        (w->accesses.n == 0 && !w->is_dot))
        return false;
    align_arrays(w);
    return true;
}
