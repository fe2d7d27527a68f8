// How a stage scans.

#include "passes/analysis/scan.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/stage.h"
#include "ir/walk.h"

// Return whether a branch does nothing but to store to arrays in which no
// partial results are.
static bool just_stores(const struct ir_stage *stage, struct ir_stmt *branch)
{
    bool found = false;
    ir_foreach_stmt_from(s, branch) {
        if (s->kind != STMT_store && s->kind != STMT_if)
            return false;
        if (s->kind == STMT_store &&
            ir_block_writes(&stage->init, s->u.store.buffer))
            return false;
        found |= s->kind == STMT_store;
    }
    return found;
}

// Return whether a statement stores an element that a step selects, or one that
// data choose.
static bool is_element(const struct ir_stage *stage, struct ir_stmt *s)
{
    if (s->kind == STMT_if)
        return ir_stage_is_distinct(stage) && just_stores(stage, s);
    for (uint32_t i = 0; s->kind == STMT_store && i < s->u.store.n; i++)
        if (ir_stage_counts(stage, s->u.store.index[i]))
            return true;
    return false;
}

// Take the stores of elements out of the body; false if they stand neither all
// in front of what combines nor all behind it.
static bool part_body(struct pass *p, const struct ir_stage *stage,
                      struct scan *out)
{
    const struct ir_block *body = &stage->body;
    struct ir_block combining = {0};
    size_t changes = 0;
    for (size_t i = 0; i < body->n; i++) {
        bool element = is_element(stage, body->at[i]);
        changes += i && element != is_element(stage, body->at[i - 1]);
        ir_append(p->arena, element ? &out->elements : &combining, body->at[i]);
    }
    out->reduction.body = combining;
    out->is_inclusive = body->n && !is_element(stage, body->at[0]);
    return changes == 1;
}

// Return whether a load is of an element that the same step stores, always, or
// of no array with elements.
static bool reads_own(const struct scan *scan, const struct ir_expr *x)
{
    for (size_t i = 0; x->op == OP_load && i < scan->elements.n; i++) {
        struct ir_stmt *s = scan->elements.at[i];
        bool is_own = s->kind == STMT_store &&
                      ir_all_equal(x->n, x->args, s->u.store.index);
        if (!is_own && ir_block_writes(ir_alone(s), x->u.buffer))
            return false;
    }
    return true;
}

// Return whether no step reads what another one stores, as an element.
static bool is_in_place(const struct ir_stage *stage, const struct scan *scan)
{
    ir_foreach_expr_in(x, &stage->body)
        if (!reads_own(scan, x))
            return false;
    return true;
}

bool scan_find(struct pass *p, const struct ir_stage *stage, struct scan *out)
{
    *out = (struct scan){.reduction = *stage};
    return part_body(p, stage, out) && is_in_place(stage, out) &&
           reducer_find(p, &out->reduction, &out->reducer) &&
           out->reducer.block == &out->reduction.body;
}
