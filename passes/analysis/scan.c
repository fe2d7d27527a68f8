// How a stage scans.

#include "passes/analysis/scan.h"

#include "ir/build.h"
#include "ir/stage.h"

// Return whether a statement stores an element that a step selects.
static bool is_element(const struct ir_stage *stage, const struct ir_stmt *s)
{
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

bool scan_find(struct pass *p, const struct ir_stage *stage, struct scan *out)
{
    *out = (struct scan){.reduction = *stage};
    return part_body(p, stage, out) &&
           reducer_find(p, &out->reduction, &out->reducer) &&
           out->reducer.block == &out->reduction.body;
}
