// The schedule of a kernel that has none.
//
// Intermediate arrays that no reduction computes are inlined where that costs
// little, so that they need neither memory nor a grid; then every nest that
// is left is bound.

#include "passes/schedule/schedule.h"

#include "passes/schedule/prim.h"

enum { INLINE_MOST = 512 }; // operations that inlining may add

// Stages in the order of the program.
struct stages {
    struct arena *arena;
    struct VEC(struct ir_stmt *) all;
};

// Note a stage.
static void see_stage(struct ir_stmt *s, void *context)
{
    struct stages *stages = context;
    if (s->kind == STMT_stage)
        vec_push(stages->arena, &stages->all, s);
}

// Operations and uses: the context of see_cost.
struct cost {
    const struct ir_buffer *array;
    int64_t operations, uses;
};

// Count an operation, and a use of the array.
static void see_cost(struct ir_expr *x, void *context)
{
    struct cost *c = context;
    c->operations++;
    c->uses += x->op == OP_load && x->u.buffer == c->array;
}

// Return whether inlining a stage adds little.
static bool is_cheap(struct pass *p, struct ir_stage *stage)
{
    struct cost all = {0}, own = {0};
    const struct ir_stmt *last =
        stage->body.n ? stage->body.at[stage->body.n - 1] : NULL;
    if (!last || last->kind != STMT_store)
        return false;
    all.array = last->u.store.buffer;
    ir_each_expr_in(&p->kernel->body, see_cost, &all);
    ir_each_expr_in(&stage->body, see_cost, &own);
    return own.operations * all.uses <= INLINE_MOST;
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
    struct stages stages = {.arena = p->scratch};
    ir_each_stmt(&p->kernel->body, see_stage, &stages);
    for (size_t i = 0; i < stages.all.n && !is_bound; i++) {
        if (is_cheap(p, &stages.all.at[i]->u.stage))
            try_inline(p, stages.all.at[i]);
    }
    return sched_complete(p, long_rows);
}
