// The schedule of a kernel that has none.
//
// Intermediate arrays that no reduction computes are inlined where that costs
// little, so that they need neither memory nor a grid; then every nest that
// is left is bound.

#include "passes/schedule/schedule.h"

#include "ir/stage.h"
#include "passes/schedule/prim.h"

enum { INLINE_MOST = 512 }; // operations that inlining may add

// Return whether inlining a stage adds little.
static bool is_cheap(struct pass *p, struct ir_stage *stage)
{
    int64_t uses = 0, operations = 0;
    const struct ir_stmt *last =
        stage->body.n ? stage->body.at[stage->body.n - 1] : NULL;
    if (!last || last->kind != STMT_store)
        return false;
    ir_foreach_expr_in(x, &p->kernel->body)
        uses += x->op == OP_load && x->u.buffer == last->u.store.buffer;
    ir_foreach_expr_in(x, &stage->body)
        operations++;
    return operations * uses <= INLINE_MOST;
}

// Inline a stage if that can be done; errors are no errors here.
static void try_inline(struct pass *p, struct ir_stmt *stage)
{
    struct diag_list ignored = {.arena = p->scratch};
    struct pass quiet = *p;
    struct sched_call c = {.pass = &quiet, .prim = PRIM_compute_inline};
    struct sched_value v = {.kind = VALUE_stage, .stmt = stage};
    quiet.diags = &ignored;
    vec_push(p->scratch, &c.args, v);
    sched_run(&c);
}

bool schedule_default(struct pass *p, bool long_rows)
{
    bool is_bound = sched_is_bound(&p->kernel->body);
    struct ir_block stages = ir_stages_of(p->scratch, &p->kernel->body);
    for (size_t i = 0; i < stages.n && !is_bound; i++)
        if (is_cheap(p, &stages.at[i]->u.stage))
            try_inline(p, stages.at[i]);
    return sched_complete(p, long_rows);
}
