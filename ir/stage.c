// What loops and indices are to a stage.

#include "ir/stage.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

unsigned ir_stage_role(const struct ir_stage *stage, const struct ir_var *var)
{
    unsigned role = 0;
    for (size_t i = 0; i < stage->iters.n; i++) {
        const struct ir_iter *it = &stage->iters.at[i];
        if (ir_mentions(it->binding, var))
            role |= it->is_reduce ? STAGE_REDUCES : STAGE_SELECTS;
    }
    return role;
}

bool ir_stage_counts(const struct ir_stage *stage, struct ir_expr *x)
{
    ir_foreach_expr(e, x) {
        int iter = ir_stage_iter(stage, e);
        if (iter >= 0 ? stage->iters.at[iter].is_reduce
                      : e->op == OP_var &&
                            ir_stage_role(stage, e->u.var) == STAGE_REDUCES)
            return true;
    }
    return false;
}

uint32_t ir_stage_selecting(const struct ir_stage *stage)
{
    uint32_t n = 0;
    for (size_t i = 0; i < stage->iters.n; i++)
        n += !stage->iters.at[i].is_reduce;
    return n;
}

bool ir_stage_reduces(const struct ir_stage *stage)
{
    return ir_stage_selecting(stage) < stage->iters.n;
}

bool ir_stage_is_distinct(const struct ir_stage *stage)
{
    for (size_t i = 0; i < stage->attrs.n; i++)
        if (stage->attrs.at[i].mark == MARK_distinct)
            return true;
    return false;
}

bool ir_stage_scans(const struct ir_stage *stage)
{
    if (ir_stage_reduces(stage) && ir_stage_is_distinct(stage))
        return true;
    ir_foreach_stmt(s, &stage->body)
        for (uint32_t i = 0; s->kind == STMT_store && i < s->u.store.n; i++)
            if (ir_stage_counts(stage, s->u.store.index[i]))
                return true;
    return false;
}

struct map ir_stage_bindings(struct arena *a, const struct ir_stage *stage)
{
    struct map vars = {.arena = a};
    vec_foreach(it, &stage->iters)
        map_set(&vars, it->var, it->binding);
    return vars;
}

struct ir_expr *ir_stage_over_loops(struct arena *a,
                                    const struct ir_stage *stage,
                                    struct ir_expr *x)
{
    struct map vars = ir_stage_bindings(a, stage);
    return ir_substitute(a, x, &vars, NULL);
}

int ir_stage_iter(const struct ir_stage *stage, const struct ir_expr *index)
{
    for (size_t i = 0; i < stage->iters.n && index->op == OP_var; i++) {
        if (stage->iters.at[i].var == index->u.var)
            return (int)i;
    }
    return -1;
}

bool ir_stage_owns(const struct ir_stage *stage, uint32_t n,
                   struct ir_expr *const *index)
{
    uint32_t used = 0;
    for (uint32_t d = 0; d < n; d++) {
        int iter = ir_stage_iter(stage, index[d]);
        if (iter < 0 ? !ir_is_const(index[d]) : stage->iters.at[iter].is_reduce)
            return false;
        for (uint32_t e = 0; e < d && iter >= 0; e++) {
            if (ir_stage_iter(stage, index[e]) == iter)
                return false;
        }
        used += iter >= 0;
    }
    return used == ir_stage_selecting(stage);
}

struct ir_block ir_stages_of(struct arena *a, const struct ir_block *block)
{
    struct ir_block stages = {0};
    ir_foreach_stmt(s, block)
        if (s->kind == STMT_stage)
            vec_push(a, &stages, s);
    return stages;
}
