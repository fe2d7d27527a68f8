// collapse: merges two neighbouring dimensions of an array whose indices are
// always the digits of one number.
//
//   X: f32[m, n], Y: f32[m, n]             X: f32[m * n], Y: f32[m * n]
//   Y[v / n, v % n] = X[v / n, v % n]  =>  Y[v] = X[v]
//
// This is for arrays indexed by fused loops: their accesses become contiguous,
// and different iterations are seen to access different elements, for any n. v /
// n * n + v % n is v for any v, since both round towards zero.
//
// So are vectors of a row that is whole ones: 4 * v + k, where n is 4 * m.
//
//   Y[v / m, v % m * 4 + k]            =>  Y[v * 4 + k]

#include "passes/opt/collapse.h"

#include "ir/accesses.h"
#include "ir/affine.h"
#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"

// The rewrite of one array.
struct collapse {
    struct pass *p;
    struct facts facts; // of the kernel
    struct map values;  // `let`s -> their values
    struct ir_buffer *array;
    uint32_t rank;          // before
    uint32_t at;            // the first of the two dimensions
    struct ir_expr *column; // its extent
    struct ir_expr *row;    // that of the second one
    size_t accesses;
    bool failed; // some access is not of that form
};

// Note the value of a `let`.
static void note_let(struct collapse *c, struct ir_stmt *s)
{
    if (s->kind == STMT_let && type_is_index(s->u.let.var->type) &&
        ir_is_stable(s->u.let.value))
        map_set(&c->values, s->u.let.var, s->u.let.value);
}

// Return what a name stands for, or the expression.
static struct ir_expr *resolve(const struct collapse *c, struct ir_expr *x)
{
    struct ir_expr *value =
        x->op == OP_var ? map_get(&c->values, x->u.var) : NULL;
    return value ? value : x;
}

// Return whether two index expressions are the same number.
static bool is_same(const struct collapse *c, struct ir_expr *x,
                    struct ir_expr *y)
{
    struct affine form = affine_of(c->p->scratch, x);
    struct affine other = affine_of(c->p->scratch, y);
    struct affine rest = affine_add(c->p->scratch, &form, -1, &other);
    return !rest.failed && affine_is_number(&rest) && rest.constant == 0;
}

// Return x of x % n, NULL if it is something else.
static struct ir_expr *rest_of(const struct collapse *c, struct ir_expr *x,
                               struct ir_expr *n)
{
    x = resolve(c, x);
    return x->op == OP_mod && is_same(c, x->args[1], n) ? x->args[0] : NULL;
}

// Return x of x / n, or of x / a / b where a * b is n; NULL if it is something
// else.
static struct ir_expr *quotient_of(const struct collapse *c, struct ir_expr *x,
                                   struct ir_expr *n)
{
    struct ir_expr *by = NULL;
    for (x = resolve(c, x); x->op == OP_div; x = resolve(c, x->args[0])) {
        by = by ? ir_mul(c->p->scratch, x->args[1], by) : x->args[1];
        if (is_same(c, by, n))
            return x->args[0];
    }
    return NULL;
}

// Return whether a row is `width` times m, which may be a quotient: 4 * (n / 2) of
// rows of 2 * n, where n is a multiple of 2.
static bool is_of_vectors(struct collapse *c, struct ir_expr *m, int64_t width)
{
    struct arena *a = c->p->scratch;
    int64_t by;
    if (m->op != OP_div || !ir_int_value(m->args[1], &by) || by < 1)
        return is_same(c, ir_mul(a, m, ir_int(a, width)), c->row);
    struct affine whole = affine_of(a, m->args[0]);
    return facts_multiple(&c->facts, &whole, by) &&
           is_same(c, ir_mul(a, m->args[0], ir_int(a, width)),
                   ir_mul(a, c->row, ir_int(a, by)));
}

// Return v * w + k where the indices are v / m and v % m * w + k, and a row is w
// times m; NULL if they are not.
static struct ir_expr *join_vectors(struct collapse *c,
                                    struct ir_expr *const *index)
{
    struct arena *a = c->p->arena;
    struct affine low = affine_of(a, resolve(c, index[c->at + 1]));
    for (size_t i = 0; i < low.terms.n && !low.failed; i++) {
        const struct affine_term *t = &low.terms.at[i];
        struct ir_expr *rest = resolve(c, t->atoms[0]);
        if (t->n != 1 || t->factor < 2 || rest->op != OP_mod ||
            !is_of_vectors(c, rest->args[1], t->factor))
            continue;
        struct ir_expr *from = quotient_of(c, index[c->at], rest->args[1]);
        if (!from || !is_same(c, from, rest->args[0]))
            continue;
        struct affine old = affine_atom(a, t->atoms[0]);
        struct affine whole = affine_of(a, rest->args[0]);
        struct affine sum = affine_add(a, &low, -t->factor, &old);
        sum = affine_add(a, &sum, t->factor, &whole);
        return sum.failed ? NULL : affine_expr(a, &sum, rest->type);
    }
    return NULL;
}

// Return the number whose digits the two indices are, NULL if they are not: v of
// (v / n, v % n), and v % (m * n) of (v / n % m, v % n).
static struct ir_expr *join(struct collapse *c, struct ir_expr *const *index)
{
    struct arena *a = c->p->arena;
    struct ir_expr *high = index[c->at];
    struct ir_expr *low = rest_of(c, index[c->at + 1], c->row);
    struct ir_expr *digit = rest_of(c, high, c->column);
    struct ir_expr *from = quotient_of(c, digit ? digit : high, c->row);
    if (!low || !from || !is_same(c, low, from))
        return join_vectors(c, index);
    return digit ? ir_binary(a, OP_mod, low, ir_mul(a, c->column, c->row))
                 : low;
}

// Look at what may be an access of the array.
static void check_use(struct collapse *c, struct ir_expr *x)
{
    if (!(ir_op_info(x->op)->flags & (OP_READS | OP_WRITES)) ||
        x->u.buffer != c->array)
        return;
    c->accesses++;
    c->failed |= x->op != OP_load || x->type.lanes > 1 || !join(c, x->args);
}

// An access of a statement to the array.
struct stmt_access {
    struct ir_expr ***index; // NULL: there is none
    uint32_t *n;
};

// Return the access to the array that a store or a copy of a thread makes.
static struct stmt_access access_of(const struct collapse *c, struct ir_stmt *s)
{
    struct ir_place *far = &s->u.copy.far;
    if (s->kind == STMT_store && s->u.store.buffer == c->array)
        return (struct stmt_access){&s->u.store.index, &s->u.store.n};
    if (s->kind == STMT_copy && far->buffer == c->array)
        return (struct stmt_access){&far->index, &far->n};
    return (struct stmt_access){NULL, NULL};
}

// Look at the access of a statement to the array, if there is one.
static void check_access(struct collapse *c, struct ir_stmt *s)
{
    struct stmt_access x = access_of(c, s);
    if (!x.index)
        return;
    c->accesses++;
    c->failed |= (*x.index)[*x.n - 1]->type.lanes > 1 || !join(c, *x.index);
}

// Return the indices with two of them joined.
static struct ir_expr **joined(struct collapse *c, struct ir_expr *const *index)
{
    struct ir_expr **r =
        arena_array(c->p->arena, struct ir_expr *, c->rank - 1);
    for (uint32_t i = 0; i + 1 < c->rank; i++)
        r[i] = index[i < c->at ? i : i + 1];
    r[c->at] = join(c, index);
    return r;
}

// Join the indices of a load from the array.
static struct ir_expr *rewrite_load(struct arena *a, struct ir_expr *x,
                                    void *context)
{
    struct collapse *c = context;
    if (x->op != OP_load || x->u.buffer != c->array || x->n != c->rank)
        return x;
    struct ir_expr *r = ir_load(a, c->array, c->rank - 1, joined(c, x->args));
    return ir_at(a, r, x->span);
}

// Join the indices of the access of a statement to the array.
static void rewrite_access(struct collapse *c, struct ir_stmt *s)
{
    struct stmt_access x = access_of(c, s);
    if (!x.index)
        return;
    *x.index = joined(c, *x.index);
    *x.n = c->rank - 1;
}

// Join dimensions `at` and the one behind it; false if an access needs both.
static bool collapse_at(struct collapse *c, uint32_t at)
{
    struct ir_buffer *b = c->array;
    struct ir_block *body = &c->p->kernel->body;
    struct arena *a = c->p->arena;
    c->rank = b->rank;
    c->at = at;
    c->column = b->shape[at];
    c->row = b->shape[at + 1];
    c->accesses = 0;
    c->failed = false;
    ir_foreach_expr_in(x, body)
        check_use(c, x);
    ir_foreach_stmt(s, body)
        check_access(c, s);
    if (c->failed || c->accesses == 0)
        return false;
    struct ir_expr **shape = arena_array(a, struct ir_expr *, b->rank - 1);
    for (uint32_t i = 0; i + 1 < b->rank; i++)
        shape[i] = b->shape[i < at ? i : i + 1];
    shape[at] = ir_mul(a, c->column, c->row);
    b->shape = shape;
    b->rank--;
    ir_rewrite_in(a, body, rewrite_load, c);
    ir_foreach_stmt(t, body)
        rewrite_access(c, t);
    return true;
}

// Join what can be joined of an array, from the last dimension on; again, as what
// has become one may be digits with the next.
static bool collapse_array(struct collapse *c)
{
    uint32_t before = c->array->rank, rank = before + 1;
    while (c->array->rank < rank) {
        rank = c->array->rank;
        for (uint32_t at = rank; at-- > 1;)
            collapse_at(c, at - 1);
    }
    return rank < before;
}

// Return whether TMA copies something, which sees arrays as they were declared.
static bool has_tma(const struct ir_block *body)
{
    ir_foreach_stmt(s, body)
        if (ir_is_tma_copy(s))
            return true;
    return false;
}

// Return whether the elements of an array are in memory as its dimensions say.
static bool is_row_major(const struct ir_buffer *b)
{
    return b->space == SPACE_global && !b->strides && !b->pitches &&
           !b->swizzle.bits;
}

bool collapse_dims(struct pass *p, bool of_stages)
{
    struct ir_kernel *k = p->kernel;
    struct collapse c = {.p = p, .values.arena = p->scratch};
    struct VEC(struct ir_buffer *) arrays = {0};
    bool changed = false;
    if (has_tma(&k->body))
        return false;
    facts_start(&c.facts, p->scratch, k);
    for (size_t i = 0; i < k->params.n; i++)
        if (k->params.at[i].buffer)
            vec_push(p->scratch, &arrays, k->params.at[i].buffer);
    ir_foreach_stmt(s, &k->body) {
        note_let(&c, s);
        if (of_stages && s->kind == STMT_alloc)
            vec_push(p->scratch, &arrays, s->u.buffer);
    }
    vec_foreach_value(array, &arrays) {
        c.array = array;
        changed |= is_row_major(array) && collapse_array(&c);
    }
    return changed;
}

enum pass_result pass_collapse(struct pass *p)
{
    return collapse_dims(p, false) ? PASS_CHANGED : PASS_SAME;
}
