// relax_guards: drops guards on stores to local elements that no one reads.
//
//   alloc T: f32[8] in local                 alloc T: f32[8] in local
//   for i in 0..8 {                          for i in 0..8 { T[i] = 0.0 }
//     if b * 8 + i < n { T[i] = 0.0 }        for k in 0..K { for i in 0..8 {
//   }                                          T[i] = T[i] + S[k, i]
//   for k in 0..K { for i in 0..8 {     =>   } }
//     if b * 8 + i < n {                     for i in 0..8 {
//       T[i] = T[i] + S[k, i]                  if b * 8 + i < n {
//     }                                          C[b * 8 + i] = T[i]
//   } }                                        }
//   for i in 0..8 { if b * 8 + i < n {       }
//     C[b * 8 + i] = T[i]
//   } }
//
// The guard has to be a condition on the element, such as b * 8 + T's index <
// n, and every access of the array must be under it. Without the guard, only
// elements change for which it is false, and no one reads those. It is dropped
// if all statements under it are stores to such arrays, of values that are safe
// to compute anyway.

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"
#include "passes/lower/guards.h"
#include "passes/opt/fold.h"
#include "passes/pass.h"

// An array in local memory.
struct array {
    const struct ir_buffer *buffer;
    size_t loops;             // around its declaration
    struct ir_expr **element; // what stands for the index of any element
    bool is_used;
    struct VEC(struct affine) common; // at least 0 at every access
};

// The state of the walk.
struct relaxed {
    struct pass *p;
    struct facts facts;
    struct map values;                       // `let`s -> their values
    struct VEC(const struct ir_var *) loops; // around
    struct conditions guards;                // that hold here
    struct VEC(struct array) arrays;
    bool changed;
};

// Return what is known of an array, or NULL.
static struct array *find_array(struct relaxed *e, const struct ir_buffer *b)
{
    for (size_t i = 0; i < e->arrays.n; i++)
        if (e->arrays.at[i].buffer == b)
            return &e->arrays.at[i];
    return NULL;
}

// Declare an array.
static void add_array(struct relaxed *e, const struct ir_buffer *b)
{
    struct arena *a = e->p->scratch;
    struct array new = {.buffer = b, .loops = e->loops.n};
    struct type type = type_scalar(TYPE_int);
    if (b->space != SPACE_local || b->role != ROLE_alloc)
        return;
    new.element = arena_array(a, struct ir_expr *, b->rank);
    for (uint32_t d = 0; d < b->rank; d++)
        new.element[d] =
            ir_read(a, ir_var_new(a, b->name, type, VAR_iter, b->span));
    vec_push(a, &e->arrays, new);
}

// Return whether a variable is that of an index of an array.
static bool is_element(const struct array *array, const struct ir_var *var)
{
    for (uint32_t d = 0; d < array->buffer->rank; d++)
        if (array->element[d]->u.var == var)
            return true;
    return false;
}

// Return whether a condition asks of an element of an array, and of nothing that
// loops inside of its declaration decide.
static bool is_of_element(const struct relaxed *e, const struct array *array,
                          const struct ir_expr *condition)
{
    bool any = false;
    ir_foreach_expr(x, condition) {
        bool known = x->op != OP_var || x->u.var->kind == VAR_param;
        for (size_t i = 0; i < array->loops && !known; i++)
            known = e->loops.at[i] == x->u.var;
        if (known)
            continue;
        if (!is_element(array, x->u.var))
            return false;
        any = true;
    }
    return any;
}

// Say what a condition at an access asks of the element, 0 <= *form; false if
// it asks more, or nothing.
static bool asks(struct relaxed *e, const struct array *array,
                 struct ir_expr *const *index, struct ir_expr *condition,
                 struct affine *form)
{
    struct arena *a = e->p->scratch;
    struct map vars = {.arena = a};
    for (uint32_t d = 0; d < array->buffer->rank; d++) {
        struct ir_expr *x = ir_substitute(a, index[d], &e->values, NULL);
        struct affine sum = affine_of(a, x), element;
        if (sum.failed || sum.terms.n != 1 || sum.terms.at[0].factor != 1 ||
            sum.terms.at[0].n != 1 || sum.terms.at[0].atoms[0]->op != OP_var)
            continue;
        element = affine_of(a, array->element[d]);
        element.constant = -sum.constant;
        map_set(&vars, sum.terms.at[0].atoms[0]->u.var,
                affine_expr(a, &element, x->type));
    }
    condition = ir_substitute(a, condition, &e->values, NULL);
    condition = ir_substitute(a, condition, &vars, NULL);
    return is_of_element(e, array, condition) && condition->n == 2 &&
           ir_is_stable(condition) && facts_form(a, condition, form);
}

// Return whether a condition on elements is one of all accesses.
static bool is_common(struct relaxed *e, const struct array *array,
                      const struct affine *form)
{
    for (size_t i = 0; i < array->common.n; i++) {
        struct affine d =
            affine_add(e->p->scratch, form, -1, &array->common.at[i]);
        if (affine_is_number(&d) && d.constant == 0)
            return true;
    }
    return false;
}

// Note an access under the guards.
static void note_access(struct relaxed *e, const struct ir_buffer *b,
                        struct ir_expr *const *index)
{
    struct array *array = find_array(e, b);
    if (!array)
        return;
    struct array now = *array;
    now.common.at = NULL;
    now.common.n = now.common.cap = 0;
    for (size_t i = 0; i < e->guards.n; i++) {
        struct affine form;
        if (asks(e, array, index, e->guards.at[i], &form) &&
            (!array->is_used || is_common(e, array, &form)))
            vec_push(e->p->scratch, &now.common, form);
    }
    now.is_used = true;
    *array = now;
}

// Learn what a statement says about what is inside or behind it.
static void enter(struct relaxed *e, const struct ir_stmt *s)
{
    struct ir_expr *value = s->kind == STMT_let ? s->u.let.value : NULL;
    if (value && ir_is_stable(value))
        map_set(&e->values, s->u.let.var,
                ir_substitute(e->p->scratch, value, &e->values, NULL));
    if (s->kind == STMT_for)
        vec_push(e->p->scratch, &e->loops, s->u.loop.var);
    facts_enter(&e->facts, s);
}

// Note the accesses in a block.
static void collect(struct relaxed *e, struct ir_block *block)
{
    vec_foreach_value(s, block) {
        size_t loops = e->loops.n, guards = e->guards.n;
        ir_foreach_expr_of(x, s)
            if (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES))
                note_access(e, x->u.buffer, x->args);
        if (s->kind == STMT_store)
            note_access(e, s->u.store.buffer, s->u.store.index);
        if (s->kind == STMT_alloc)
            add_array(e, s->u.buffer);
        if (s->kind == STMT_if && !s->u.branch.otherwise.n)
            fold_append(e->p->scratch, s->u.branch.cond, &e->guards);
        struct facts_mark here = facts_mark(&e->facts);
        enter(e, s);
        ir_foreach_block(inner, s)
            collect(e, inner);
        facts_leave(&e->facts, here);
        e->loops.n = loops;
        e->guards.n = guards;
    }
}

// A look at what a condition guards.
struct guarded {
    struct relaxed *e;
    struct ir_expr *condition;
    bool fails; // without the condition it may fault, or show
};

// Look at a store: it shows unless the condition is one of its elements.
static void check_store(struct guarded *g, const struct ir_stmt *s)
{
    struct affine form;
    struct array *array = find_array(g->e, s->u.store.buffer);
    if (!array || !asks(g->e, array, s->u.store.index, g->condition, &form) ||
        !is_common(g->e, array, &form))
        g->fails = true;
    for (uint32_t d = 0; d < s->u.store.n && !g->fails; d++)
        if (!facts_is_within(&g->e->facts, s->u.store.index[d],
                             s->u.store.buffer->shape[d]))
            g->fails = true;
}

// Look at the statements of a block that a condition guards.
static void look(struct guarded *g, struct ir_block *block)
{
    struct relaxed *e = g->e;
    struct facts_mark around = facts_mark(&e->facts);
    for (size_t i = 0; i < block->n && !g->fails; i++) {
        struct ir_stmt *s = block->at[i];
        size_t loops = e->loops.n;
        struct facts_mark here = facts_mark(&e->facts);
        if (s->kind != STMT_for && s->kind != STMT_if && s->kind != STMT_let &&
            s->kind != STMT_store)
            g->fails = true;
        if (s->kind == STMT_store)
            check_store(g, s);
        ir_foreach_place(place, s)
            g->fails |= !facts_is_safe(&e->facts, *place);
        enter(e, s);
        ir_foreach_block(inner, s)
            look(g, inner);
        if (s->kind != STMT_let)
            facts_leave(&e->facts, here);
        e->loops.n = loops;
    }
    facts_leave(&e->facts, around);
}

// Drop the guards of a branch that are not needed.
static void drop(struct relaxed *e, struct ir_stmt *s)
{
    size_t kept = 0;
    struct conditions all = fold_split(e->p->scratch, s->u.branch.cond);
    for (size_t i = 0; i < all.n; i++) {
        struct guarded g = {e, all.at[i], false};
        look(&g, &s->u.branch.then);
        if (g.fails)
            all.at[kept++] = all.at[i];
    }
    e->changed |= kept < all.n;
    if (kept < all.n)
        s->u.branch.cond = fold_all(e->p->arena, all.at, kept);
}

// Drop guards in a block and below.
static void walk(struct relaxed *e, struct ir_block *block)
{
    struct facts_mark around = facts_mark(&e->facts);
    for (size_t i = 0; i < block->n;) {
        struct ir_stmt *s = block->at[i];
        size_t loops = e->loops.n;
        struct facts_mark here = facts_mark(&e->facts);
        if (s->kind == STMT_if && !s->u.branch.otherwise.n)
            drop(e, s);
        enter(e, s);
        ir_foreach_block(inner, s)
            walk(e, inner);
        if (s->kind != STMT_let)
            facts_leave(&e->facts, here);
        e->loops.n = loops;
        if (s->kind == STMT_if && ir_is_true(s->u.branch.cond)) {
            struct ir_block then = s->u.branch.then;
            ir_splice(e->p->arena, block, i, &then);
            i += then.n;
        } else {
            i++;
        }
    }
    facts_leave(&e->facts, around);
}

enum pass_result pass_relax_guards(struct pass *p)
{
    struct relaxed e = {.p = p, .values = {.arena = p->scratch}};
    facts_start(&e.facts, p->scratch, p->kernel);
    collect(&e, &p->kernel->body);
    walk(&e, &p->kernel->body);
    if (e.changed)
        guards_move(p, &p->kernel->body);
    return e.changed ? PASS_CHANGED : PASS_SAME;
}
