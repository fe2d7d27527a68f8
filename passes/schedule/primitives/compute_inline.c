// compute_inline -- compute an intermediate array where it is used.
//
//   P[i] = c(i) ? A[i - 3] : 0.0;  C[i] = P[i] + P[i + 1]
//     =>   compute_inline(P)
//   C[i] = (c(i) ? A[i - 3] : 0.0) + (c(i + 1) ? A[i + 1 - 3] : 0.0)
//
// The stage, the loops that held nothing else, and the array disappear.  The
// element may be at an index from which the iteration variables follow:
// P[w, v], P[v + 3], P[n - 1 - v], P[v * 4 + w] with w in 0..4.
//
// Requires:
//  1. the array is an intermediate one             E0628
//  2. the stage has no reduction                   E0629
//  3. the stage is one store, or a branch with one
//     in each arm, to such an index, of a value of
//     the iteration variables that does not read P E0630
//  4. nothing else writes P                        E0631
//  5. nothing behind the stage writes what it reads E0632
//  6. nothing has been said of how the stage runs   E0670

#include "passes/schedule/common/move.h"

#include "ir/accesses.h"
#include "ir/affine.h"
#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "passes/analysis/facts.h"

// How an iteration variable follows from an element's index:
// (index - rest) / weight % modulus, or rest - index.
struct solution {
    const struct ir_var *var; // NULL while it is not known
    uint32_t dimension;       // of the array
    struct affine rest;
    bool negated;
    int64_t weight, modulus; // modulus 0: none
};

// What is inlined.
struct inlining {
    struct pass *pass;
    struct ir_stmt *stage;
    struct ir_stmt *store;      // a store to P
    struct ir_expr *value;      // in terms of the iteration variables
    struct ir_buffer *array;    // P
    struct solution *solutions; // one for each iteration variable
    struct facts facts;         // at the place of an element
};

static struct ir_expr *block_value(struct inlining *in, struct ir_block *block,
                                   struct map *lets);

// Return whether two stores are to the same element.
static bool same_element(const struct ir_stmt *x, const struct ir_stmt *y)
{
    return x->u.store.buffer == y->u.store.buffer &&
           ir_all_equal(x->u.store.n, x->u.store.index, y->u.store.index);
}

// Return the value that a store or a branch gives to the element, or NULL.
static struct ir_expr *stmt_value(struct inlining *in, struct ir_stmt *s,
                                  struct map *lets)
{
    struct arena *a = in->pass->arena;
    if (s->kind == STMT_if) {
        struct ir_expr *x = block_value(in, &s->u.branch.then, lets);
        struct ir_expr *y =
            x ? block_value(in, &s->u.branch.otherwise, lets) : NULL;
        struct ir_expr *c = ir_substitute(a, s->u.branch.cond, lets, NULL);
        return y ? ir_select(a, c, x, y) : NULL;
    }
    if (s->kind != STMT_store || (in->store && !same_element(in->store, s)))
        return NULL;
    in->store = s;
    return ir_substitute(a, s->u.store.value, lets, NULL);
}

// Return the value of a block: lets, then a store or a branch.  NULL if it is
// not so.
static struct ir_expr *block_value(struct inlining *in, struct ir_block *block,
                                   struct map *lets)
{
    struct arena *a = in->pass->arena;
    for (size_t i = 0; i + 1 < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        if (s->kind != STMT_let)
            return NULL;
        map_set(lets, s->u.let.var,
                ir_substitute(a, s->u.let.value, lets, NULL));
    }
    return block->n ? stmt_value(in, block->at[block->n - 1], lets) : NULL;
}

// The iteration variables of one index.
struct digits VEC(struct solution *);

// Find out whether each digit weighs as much as all behind it can hold.
static bool weigh_digits(const struct ir_stage *stage,
                         const struct inlining *in, const struct digits *digits)
{
    int64_t weight = 1;
    bool found = true;
    for (size_t n = 0; n < digits->n; n++) {
        found = false;
        for (size_t i = 0; i < digits->n && !found; i++) {
            struct solution *s = digits->at[i];
            size_t which = (size_t)(s - in->solutions);
            bool is_last = n + 1 == digits->n;
            if (s->weight != weight || s->modulus)
                continue;
            found = is_last ||
                    (ir_int_value(stage->iters.at[which].extent, &s->modulus) &&
                     s->modulus > 1 && num_mul(weight, s->modulus, &weight));
        }
        if (!found)
            return false;
    }
    return true;
}

// Find the iteration variables that follow from one index.
static bool solve_dimension(struct inlining *in, uint32_t dimension)
{
    struct arena *a = in->pass->scratch;
    const struct ir_stage *stage = &in->stage->u.stage;
    struct ir_expr *index = in->store->u.store.index[dimension];
    struct affine rest = affine_of(a, index);
    struct digits digits = {0};
    for (size_t i = 0; i < stage->iters.n; i++) {
        struct solution *s = &in->solutions[i];
        const struct ir_var *var = stage->iters.at[i].var;
        if (!ir_mentions(index, var))
            continue;
        struct affine without;
        if (s->var || rest.failed ||
            !affine_linear(a, &rest, var, &s->weight, &without))
            return false;
        s->var = var;
        s->dimension = dimension;
        rest = without;
        vec_push(a, &digits, s);
    }
    for (size_t i = 0; i < digits.n; i++)
        digits.at[i]->rest = rest;
    if (digits.n == 1 && digits.at[0]->weight == -1) {
        digits.at[0]->negated = true;
        return true;
    }
    return weigh_digits(stage, in, &digits);
}

// Check that all iteration variables follow from the element's index.
static bool solve(struct inlining *in)
{
    const struct ir_stage *stage = &in->stage->u.stage;
    in->solutions =
        arena_array(in->pass->scratch, struct solution, stage->iters.n);
    for (uint32_t d = 0; d < in->store->u.store.n; d++)
        if (!solve_dimension(in, d))
            return false;
    for (size_t i = 0; i < stage->iters.n; i++)
        if (!in->solutions[i].var &&
            !ir_is_int_const(stage->iters.at[i].extent, 1))
            return false;
    return true;
}

// Return whether an expression has no variables but the stage's and parameters.
static bool is_of_stage(const struct ir_stage *stage,
                        const struct ir_expr *root)
{
    ir_foreach_expr(x, root) {
        bool known = x->op != OP_var || x->u.var->kind == VAR_param;
        for (size_t i = 0; i < stage->iters.n && !known; i++)
            known = x->u.var == stage->iters.at[i].var;
        if (!known)
            return false;
    }
    return true;
}

// Return whether value and index have a meaning at any place.
static bool is_closed(const struct inlining *in)
{
    const struct ir_stage *stage = &in->stage->u.stage;
    for (uint32_t i = 0; i < in->store->u.store.n; i++)
        if (!is_of_stage(stage, in->store->u.store.index[i]))
            return false;
    return is_of_stage(stage, in->value);
}

// Take the stage apart; false if it has not the form that is needed.
static bool take_apart(struct inlining *in)
{
    struct ir_block *body = &in->stage->u.stage.body;
    struct map lets = {.arena = in->pass->scratch};
    in->value = block_value(in, body, &lets);
    if (!in->value)
        return false;
    in->array = in->store->u.store.buffer;
    return is_closed(in) && solve(in) && ir_is_pure(in->value, false) &&
           !ir_block_reads(body, in->array);
}

// Report a stage that cannot be inlined.
static bool refuse(const struct sched_call *c, enum diag_code code,
                   struct ir_stmt *stage, const char *note)
{
    return sched_refuse(c, stage, note, code, sched_name_of(stage));
}

// Return whether a statement itself writes an array.
static bool writes(struct ir_stmt *s, const struct ir_buffer *buffer)
{
    return (s->kind == STMT_store || s->kind == STMT_eval ||
            s->kind == STMT_let || s->kind == STMT_var ||
            s->kind == STMT_assign) &&
           ir_stmt_writes(s, buffer);
}

// Return whether a statement changes what an expression reads.
static bool changes(struct ir_stmt *s, const struct ir_expr *root)
{
    ir_foreach_expr(x, root)
        if (x->op == OP_load && writes(s, x->u.buffer))
            return true;
    return false;
}

// Check that nothing else writes P or, behind the stage, its inputs.
static bool check_writers(const struct sched_call *c, const struct inlining *in)
{
    bool behind = false;
    const struct ir_stmt *other = NULL, *change = NULL;
    ir_foreach_stmt(s, &c->pass->kernel->body) {
        behind |= s == in->stage;
        if (s == in->stage)
            ir_skip(s);
        if (writes(s, in->array))
            other = s;
        if (behind && changes(s, in->value))
            change = s;
    }
    if (!other && !change)
        return true;
    refuse(c, other ? D_inline_writers : D_inline_changed, in->stage,
           "to be inlined");
    return diag_note(c->pass->diags, other ? other->span : change->span,
                     other ? "it is written here, too" : "it is changed here");
}

// Check that no loop around the stage changes what it reads for those that use
// its elements.
static bool check_loops(const struct sched_call *c, const struct inlining *in)
{
    const struct ir_buffer *array = in->array;
    struct sched_buffers stored = {&array, 1, 1};
    struct sched_uses uses = sched_uses_of(c->pass, array);
    for (size_t i = 0; i < uses.readers.n; i++) {
        struct ir_stmt *loop =
            sched_find_change(c->pass, in->stage, &stored, uses.readers.at[i]);
        if (!loop)
            continue;
        refuse(c, D_inline_changed, in->stage, "to be inlined");
        return sched_blame_one(c, loop, "changes it in each iteration");
    }
    return true;
}

// Check every precondition; fill `in` in.
static bool check(const struct sched_call *c, struct inlining *in)
{
    struct ir_stmt *stage = in->stage;
    if (stage->kind != STMT_stage)
        return refuse(c, D_inline_shape, stage, "not a stage");
    for (size_t i = 0; i < stage->u.stage.iters.n; i++)
        if (stage->u.stage.iters.at[i].is_reduce)
            return refuse(c, D_inline_reduction, stage, "has a reduction");
    if (!take_apart(in))
        return refuse(c, D_inline_shape, stage, "to be inlined");
    if (in->array->role != ROLE_alloc)
        return refuse(c, D_inline_output, stage, "computes a result");
    return check_writers(c, in) && check_loops(c, in);
}

// Return the part of an element's index that the iteration variables make.
static struct ir_expr *number_of(struct arena *a, const struct solution *s,
                                 struct ir_expr *const *index)
{
    struct ir_expr *x = index[s->dimension];
    struct affine of = affine_of(a, x);
    if (!s->negated && !s->rest.terms.n && !s->rest.constant)
        return x;
    struct affine number = s->negated ? affine_add(a, &s->rest, -1, &of)
                                      : affine_add(a, &of, -1, &s->rest);
    return affine_expr(a, &number, x->type);
}

// Return the value of an iteration variable for an element's index.
static struct ir_expr *solved(struct arena *a, const struct solution *s,
                              struct ir_expr *const *index)
{
    if (!s->var)
        return ir_int(a, 0);
    struct ir_expr *x = number_of(a, s, index);
    if (!s->negated && s->weight > 1)
        x = ir_binary(a, OP_div, x, ir_int(a, s->weight));
    return s->modulus ? ir_binary(a, OP_mod, x, ir_int(a, s->modulus)) : x;
}

// Add a condition to those that an element needs, unless it is proved.
static void require(struct inlining *in, struct ir_expr **all,
                    struct ir_expr *condition)
{
    if (!facts_holds(&in->facts, condition))
        *all = *all ? ir_binary(in->pass->arena, OP_and, *all, condition)
                    : condition;
}

// Return the condition that the stage computes the element at an index; NULL
// if that is proved.
static struct ir_expr *is_computed(struct inlining *in,
                                   struct ir_expr *const *index)
{
    struct arena *a = in->pass->arena;
    const struct ir_stage *stage = &in->stage->u.stage;
    struct ir_expr *all = NULL;
    for (uint32_t d = 0; d < in->store->u.store.n; d++) {
        bool found = false;
        for (size_t i = 0; i < stage->iters.n; i++) {
            const struct solution *s = &in->solutions[i];
            struct ir_expr *end = stage->iters.at[i].extent;
            if (!s->var || s->dimension != d || s->modulus)
                continue;
            struct ir_expr *x = number_of(a, s, index);
            if (!s->negated)
                end = ir_mul(a, end, ir_int(a, s->weight));
            require(in, &all, ir_binary(a, OP_ge, x, ir_int(a, 0)));
            require(in, &all, ir_binary(a, OP_lt, x, end));
            found = true;
        }
        struct ir_expr *fixed = in->store->u.store.index[d];
        if (!found)
            require(in, &all, ir_binary(a, OP_eq, index[d], fixed));
    }
    return all;
}

// Replace an element of P by what it is computed from.  Memory is read only
// for elements that the stage computes: others, which a copy of the whole
// array uses, have no value.
static struct ir_expr *inline_load(struct arena *a, struct ir_expr *x,
                                   void *context)
{
    struct inlining *in = context;
    const struct ir_stage *stage = &in->stage->u.stage;
    if (x->op != OP_load || x->u.buffer != in->array)
        return x;
    struct map vars = {.arena = in->pass->scratch};
    for (size_t i = 0; i < stage->iters.n; i++)
        map_set(&vars, stage->iters.at[i].var,
                solved(a, &in->solutions[i], x->args));
    struct ir_expr *value = ir_substitute(a, in->value, &vars, NULL);
    struct ir_expr *condition =
        ir_flags(value) & OP_READS ? is_computed(in, x->args) : NULL;
    if (condition)
        value = ir_select(a, condition, value, ir_zero(a, value->type));
    return ir_at(a, value, x->span);
}

// Replace the elements of P below a block.
static void inline_block(struct inlining *in, struct ir_block *block)
{
    for (size_t i = 0; i < block->n; i++) {
        ir_foreach_place(place, block->at[i])
            *place = ir_rewrite(in->pass->arena, *place, inline_load, in);
        facts_foreach_inside(inner, &in->facts, block->at[i])
            inline_block(in, inner);
    }
}

bool sched_can_inline(struct pass *p, struct ir_stmt *stage)
{
    struct diag_list dropped = {.arena = p->scratch, .is_brief = true};
    struct pass quiet = *p;
    struct sched_call c = {.pass = &quiet, .prim = PRIM_compute_inline};
    struct inlining in = {.pass = &quiet, .stage = stage};
    quiet.diags = &dropped;
    return check(&c, &in) && sched_check_dissolved(&c, stage);
}

bool sched_compute_inline(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct inlining in = {.pass = p, .stage = sched_arg(c, 0)};
    if (!check(c, &in) || !sched_check_dissolved(c, in.stage))
        return false;
    sched_remove(p, in.stage);
    facts_start(&in.facts, p->scratch, p->kernel);
    inline_block(&in, &p->kernel->body);
    sched_remove(p, sched_alloc_of(p, in.array));
    return true;
}
