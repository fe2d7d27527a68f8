// What loops and indices are to a stage.

#include "ir/stage.h"

#include "ir/build.h"
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

// A look for variables that count a reduction: the context of see_count.
struct counts {
    const struct ir_stage *stage;
    bool found;
};

// Note a variable that counts a reduction.
static void see_count(struct ir_expr *x, void *context)
{
    struct counts *c = context;
    int iter = ir_stage_iter(c->stage, x);
    c->found |= iter >= 0
                    ? c->stage->iters.at[iter].is_reduce
                    : x->op == OP_var &&
                          ir_stage_role(c->stage, x->u.var) == STAGE_REDUCES;
}

bool ir_stage_counts(const struct ir_stage *stage, struct ir_expr *x)
{
    struct counts c = {stage, false};
    ir_each_expr(x, see_count, &c);
    return c.found;
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
