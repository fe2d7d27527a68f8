// What a stage reduces, and how.

#include "passes/analysis/reducer_parts.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"

bool reducer_loads_own(const struct ir_stmt *store, const struct ir_expr *x)
{
    return x->op == OP_load && x->u.buffer == store->u.store.buffer &&
           ir_all_equal(x->n, x->args, store->u.store.index);
}

// Return whether an expression uses one of the arrays of a reduction.
static bool uses_arrays(const struct reducer *r, const struct ir_expr *root)
{
    ir_foreach_expr(x, root) {
        if (!(ir_op_info(x->op)->flags & (OP_READS | OP_WRITES)))
            continue;
        for (size_t i = 0; i < r->n; i++)
            if (x->u.buffer == r->values[i].store->u.store.buffer)
                return true;
    }
    return false;
}

// Return whether an expression can be combined with a partial result: it is
// free of effects and does not depend on the result.
static bool is_operand(const struct reducer *r, struct ir_expr *x)
{
    return !uses_arrays(r, x) && ir_is_pure(x, false);
}

// Return whether starting from a constant once or once in each part is the
// same: the operation takes it as its identity, or takes it once only.
static bool can_repeat(enum ir_op op, const struct ir_expr *start)
{
    double value = type_is_float(start->type) ? start->u.f : (double)start->u.i;
    switch ((int)op) {
    case OP_min:
    case OP_max:
    case OP_or:
    case OP_and:
    case OP_bit_or:
    case OP_bit_and: return true;
    case OP_add:
    case OP_bit_xor: return value == 0;
    case OP_mul: return value == 1;
    }
    return false;
}

// Return whether no iteration variable of the reduction selects the element
// that a store writes, and nothing but such variables and numbers does.
static bool has_own_index(const struct ir_stage *stage,
                          const struct ir_stmt *store)
{
    for (uint32_t i = 0; i < store->u.store.n; i++) {
        const struct ir_expr *x = store->u.store.index[i];
        for (size_t k = 0; k < stage->iters.n; k++)
            if (stage->iters.at[k].is_reduce &&
                ir_mentions(x, stage->iters.at[k].var))
                return false;
        if (!ir_is_pure(x, true))
            return false;
    }
    return true;
}

// Find what each value starts from: the init is one store of a constant to
// each element.
static bool find_identities(struct reducer *r)
{
    const struct ir_block *init = &r->stage->init;
    if (!r->stage->has_init || init->n != r->n)
        return false;
    for (size_t i = 0; i < r->n; i++) {
        const struct ir_stmt *own = r->values[i].store, *s = NULL;
        for (size_t k = 0; k < init->n; k++)
            if (init->at[k]->kind == STMT_store &&
                init->at[k]->u.store.buffer == own->u.store.buffer)
                s = init->at[k];
        if (!s || !ir_is_const(s->u.store.value) ||
            !ir_all_equal(s->u.store.n, s->u.store.index, own->u.store.index))
            return false;
        r->values[i].identity = s->u.store.value;
    }
    return true;
}

// Take a store as that of the next value.
static bool add_value(struct reducer *r, const struct ir_stmt *store)
{
    if (r->n == REDUCER_ARRAYS || store->kind != STMT_store ||
        !has_own_index(r->stage, store))
        return false;
    r->values[r->n++].store = store;
    return true;
}

// Find `S = S + x`.
static bool find_operation(struct reducer *r)
{
    const struct ir_block *body = r->block;
    if (body->n != 1 || !add_value(r, body->at[0]) || !find_identities(r))
        return false;
    struct reducer_value *v = &r->values[0];
    const struct ir_expr *x = v->store->u.store.value;
    if (x->n != 2 || !can_repeat(x->op, v->identity))
        return false;
    v->operand = reducer_loads_own(v->store, x->args[0]) ? 1 : 0;
    return reducer_loads_own(v->store, x->args[1 - v->operand]) &&
           is_operand(r, x->args[v->operand]);
}

// Return the last store to an array in a block; NULL if there is none.
static const struct ir_stmt *last_store(const struct ir_block *block,
                                        const struct ir_buffer *array)
{
    const struct ir_stmt *last = NULL;
    ir_foreach_stmt(s, block)
        if (s->kind == STMT_store && s->u.store.buffer == array)
            last = s;
    return last;
}

// Take the names of both sides of the next value, statements `at` and
// `at + 1`; false if they are something else.
static bool take_names(struct reducer *r, size_t at)
{
    const struct ir_block *body = r->block;
    if (at + 1 >= body->n || body->at[at]->kind != STMT_let ||
        body->at[at + 1]->kind != STMT_let ||
        body->at[at]->u.let.value->op != OP_load)
        return false;
    const struct ir_expr *own = body->at[at]->u.let.value;
    struct ir_block rest = {body->at + at + 2, body->n - at - 2, 0};
    const struct ir_stmt *store = last_store(&rest, own->u.buffer);
    if (!store || !add_value(r, store))
        return false;
    r->values[r->n - 1].operand = at + 1;
    return reducer_loads_own(store, own);
}

// Return whether a function of two partial results may depend on a variable: it
// does not change, and does not say which iteration it is.
static bool may_depend(const struct reducer *r, const struct ir_var *var)
{
    for (size_t i = 0; i < r->stage->iters.n; i++)
        if (r->stage->iters.at[i].is_reduce && r->stage->iters.at[i].var == var)
            return false;
    return var->kind != VAR_loop && var->kind != VAR_mutable;
}

// Return whether a statement combines: it stores to one of the elements, or
// prepares that.
static bool combines(const struct reducer *r, const struct ir_stmt *s)
{
    for (size_t i = 0; i < r->n && s->kind == STMT_store; i++) {
        const struct ir_stmt *own = r->values[i].store;
        if (s->u.store.buffer == own->u.store.buffer &&
            ir_all_equal(s->u.store.n, s->u.store.index, own->u.store.index))
            return true;
    }
    return s->kind == STMT_let || s->kind == STMT_if;
}

// Return whether a block is a function of two partial results.
static bool is_combining(const struct reducer *r, const struct ir_block *block)
{
    ir_foreach_stmt(s, block) {
        if (!combines(r, s))
            return false;
        ir_foreach_place(place, s)
            if (uses_arrays(r, *place))
                return false;
        ir_foreach_expr_of(x, s)
            if (x->op == OP_var && !may_depend(r, x->u.var))
                return false;
    }
    return !(ir_flags_in(block) & (OP_WRITES | OP_TOGETHER));
}

// Find the names of both sides, one pair for each value, and a function of
// them behind.
static bool find_declared(struct reducer *r)
{
    r->kind = REDUCER_declared;
    while (take_names(r, 2 * r->n))
        continue;
    size_t names = 2 * r->n;
    if (r->n == 0 || !find_identities(r))
        return false;
    for (size_t i = 0; i < r->n; i++)
        if (!is_operand(r, r->block->at[r->values[i].operand]->u.let.value))
            return false;
    struct ir_block rest = {r->block->at + names, r->block->n - names, 0};
    return is_combining(r, &rest);
}

struct ir_expr *reducer_position(struct ir_expr *x)
{
    if (x->op == OP_cast)
        x = x->args[0];
    return type_is_index(x->type) && !ir_is_const(x) ? x : NULL;
}

// An index and what takes its place: the context of exchange.
struct exchange {
    const struct ir_expr *index;
    struct ir_expr *by;
};

// Replace a node that is the index.
static struct ir_expr *exchange(struct arena *a, struct ir_expr *x,
                                void *context)
{
    const struct exchange *e = context;
    (void)a;
    return ir_expr_equal(x, e->index) ? e->by : x;
}

struct ir_expr *reducer_at(struct arena *a, struct ir_expr *x,
                           const struct ir_expr *index, struct ir_expr *value)
{
    struct exchange e = {index, ir_cast(a, index->type, value)};
    return ir_rewrite(a, x, exchange, &e);
}

// Find `if x(vj) > x(I) { I = vj }`.
static bool find_position(struct pass *p, struct reducer *r)
{
    struct arena *a = p->scratch;
    const struct ir_block *body = r->block;
    const struct ir_stmt *s = body->n == 1 ? body->at[0] : NULL;
    r->kind = REDUCER_position;
    if (!s || s->kind != STMT_if || s->u.branch.otherwise.n ||
        s->u.branch.then.n != 1 || !add_value(r, s->u.branch.then.at[0]) ||
        !find_identities(r))
        return false;
    const struct ir_stmt *store = r->values[0].store;
    const struct ir_expr *cond = s->u.branch.cond;
    struct ir_expr *at = reducer_position(store->u.store.value);
    if (!at || (cond->op != OP_gt && cond->op != OP_lt) ||
        !is_operand(r, cond->args[0]))
        return false;
    struct ir_expr *own = ir_load(a, store->u.store.buffer, store->u.store.n,
                                  store->u.store.index);
    struct ir_expr *best = reducer_at(a, cond->args[0], at, own);
    return ir_expr_equal(best, cond->args[1]);
}

// Return whether a branch stores to an array that its condition uses.
static bool stores_condition(const struct ir_stmt *branch)
{
    ir_foreach_stmt(s, &branch->u.branch.then) {
        const struct reducer one = {.n = 1, .values = {{.store = s}}};
        if (s->kind == STMT_store && uses_arrays(&one, branch->u.branch.cond))
            return true;
    }
    return false;
}

// Return the block that combines: the body, or what it does under a condition
// that does not depend on the result.
static const struct ir_block *combining_block(const struct ir_stage *stage)
{
    const struct ir_block *body = &stage->body;
    struct ir_stmt *s = body->n == 1 ? body->at[0] : NULL;
    if (!s || s->kind != STMT_if || s->u.branch.otherwise.n)
        return body;
    return stores_condition(s) ? body : &s->u.branch.then;
}

bool reducer_find(struct pass *p, const struct ir_stage *stage,
                  struct reducer *out)
{
    const struct reducer none = {.stage = stage,
                                 .block = combining_block(stage)};
    *out = none;
    if (find_operation(out))
        return true;
    *out = none;
    if (find_declared(out))
        return true;
    *out = none;
    return find_position(p, out);
}
