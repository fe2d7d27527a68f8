// relax_padding: drops guards on padding that no one reads.
//
//   stage P(v in np = i) { P[v] = f(v < n ? T[v] : 0.0) }
//   stage C(u in n = i) if i < n { C[u] = P[u] }
//     =>
//   stage P(v in np = i) { P[v] = f(T[v]) }
//   ...
//
// If every read of an array has, as one of its indices, an iteration variable
// with the same end, the elements beyond that end may hold anything. A
// condition that is true for all other elements is dropped if the value under
// it is safe to compute anyway.

#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/stage.h"
#include "ir/walk.h"
#include "passes/opt/fold.h"
#include "passes/pass.h"

// An array and where the reads of it end.
struct array {
    struct ir_expr **ends; // of each dimension; NULL: not known
    bool is_read;
};

// The state of the walk.
struct relaxed {
    struct pass *p;
    struct facts facts;
    struct map arrays;        // allocated -> their struct array
    struct ir_stage *stage;   // around, or NULL
    struct conditions needed; // what holds for elements that are read
    bool is_unknown;          // there are accesses that have no index
    bool changed;
};

// Note a read of an array.
static void note_read(struct relaxed *b, const struct ir_expr *x)
{
    bool accesses = ir_op_info(x->op)->flags & (OP_READS | OP_WRITES);
    struct array *array = accesses ? map_get(&b->arrays, x->u.buffer) : NULL;
    uint32_t rank = array ? ir_index_count(x) : 0;
    for (uint32_t d = 0; d < rank; d++) {
        int iter = b->stage ? ir_stage_iter(b->stage, x->args[d]) : -1;
        struct ir_expr *end = iter < 0 ? NULL : b->stage->iters.at[iter].extent;
        bool same = !array->is_read || (end && array->ends[d] &&
                                        ir_expr_equal(end, array->ends[d]));
        array->ends[d] = same ? end : NULL;
    }
    if (array)
        array->is_read = true;
}

// Note an array that a statement declares.
static void declare(struct relaxed *b, struct ir_buffer *buffer)
{
    struct array *array = arena_new(b->p->scratch, struct array);
    array->ends = arena_array(b->p->scratch, struct ir_expr *, buffer->rank);
    map_set(&b->arrays, buffer, array);
}

// Return whether a statement accesses no array but in its expressions.
static bool is_plain(const struct ir_stmt *s)
{
    return s->kind == STMT_for || s->kind == STMT_if || s->kind == STMT_let ||
           s->kind == STMT_var || s->kind == STMT_assign ||
           s->kind == STMT_store || s->kind == STMT_stage ||
           s->kind == STMT_alloc;
}

// Note the arrays of a block and the reads of them.
static void collect(struct relaxed *b, struct ir_block *block)
{
    vec_foreach_value(s, block) {
        struct ir_stage *around = b->stage;
        if (s->kind == STMT_alloc)
            declare(b, s->u.buffer);
        b->is_unknown |= !is_plain(s);
        ir_foreach_expr_of(x, s)
            note_read(b, x);
        if (s->kind == STMT_stage)
            b->stage = &s->u.stage;
        ir_foreach_block(inner, s)
            collect(b, inner);
        b->stage = around;
    }
}

// Return whether a condition holds wherever an element is read.
static bool is_needed(struct relaxed *b, struct ir_expr *condition)
{
    struct facts_mark here = facts_mark(&b->facts);
    for (size_t i = 0; i < b->needed.n; i++)
        facts_assume(&b->facts, b->needed.at[i], true);
    bool holds = facts_holds(&b->facts, condition);
    facts_leave(&b->facts, here);
    return holds;
}

// Return whether a value, and the other conditions that guard it, can be
// computed without one of these.
static bool is_safe_without(struct relaxed *b, const struct conditions *all,
                            size_t without, struct ir_expr *value)
{
    bool safe = true;
    struct facts_mark here = facts_mark(&b->facts);
    for (size_t i = 0; i < all->n; i++) {
        if (i == without)
            continue;
        safe &= facts_is_safe(&b->facts, all->at[i]);
        facts_assume(&b->facts, all->at[i], true);
    }
    safe = safe && facts_is_safe(&b->facts, value);
    facts_leave(&b->facts, here);
    return safe;
}

// Drop the conditions of a choice that decide about nothing that is read.
static struct ir_expr *drop(struct arena *a, struct ir_expr *x, void *context)
{
    struct relaxed *b = context;
    if (x->op != OP_select)
        return x;
    struct conditions all = fold_split(b->p->scratch, x->args[0]);
    bool drops = false;
    for (size_t i = 0; i < all.n; i++) {
        if (!is_needed(b, all.at[i]) ||
            !is_safe_without(b, &all, i, x->args[1]))
            continue;
        all.at[i] = ir_bool(a, true);
        drops = true;
    }
    b->changed |= drops;
    if (!drops)
        return x;
    return ir_select(a, fold_all(a, all.at, all.n), x->args[1], x->args[2]);
}

// Drop conditions in what a stage stores.
static void walk_store(struct relaxed *b, struct ir_stmt *s)
{
    const struct array *array = map_get(&b->arrays, s->u.store.buffer);
    b->needed.n = 0;
    for (uint32_t d = 0; array && array->is_read && d < s->u.store.n; d++) {
        struct ir_expr *index = s->u.store.index[d];
        if (array->ends[d] && ir_stage_iter(b->stage, index) >= 0)
            vec_push(b->p->scratch, &b->needed,
                     ir_binary(b->p->scratch, OP_lt, index, array->ends[d]));
    }
    if (b->needed.n)
        s->u.store.value = ir_rewrite(b->p->arena, s->u.store.value, drop, b);
}

// Drop conditions in the stages of a block.
static void walk(struct relaxed *b, struct ir_block *block)
{
    vec_foreach_value(s, block) {
        struct ir_stage *outer = b->stage;
        if (s->kind == STMT_stage)
            b->stage = &s->u.stage;
        if (s->kind == STMT_store && b->stage)
            walk_store(b, s);
        facts_foreach_inside(inner, &b->facts, s)
            walk(b, inner);
        b->stage = outer;
    }
}

enum pass_result pass_relax_padding(struct pass *p)
{
    struct relaxed b = {.p = p, .arrays = {.arena = p->scratch}};
    facts_start(&b.facts, p->scratch, p->kernel);
    collect(&b, &p->kernel->body);
    if (!b.is_unknown)
        walk(&b, &p->kernel->body);
    return b.changed ? PASS_CHANGED : PASS_SAME;
}
