// What inlining costs.
//
//   P[i] = A[i] * 2.0;  C[i] = P[i] + P[i + 1]    2 times what computes P[i]

#include "passes/schedule/default/inline.h"

// Return how often elements of an array are loaded in the text of a kernel.
static int64_t count_loads(struct ir_kernel *k, const struct ir_buffer *b)
{
    int64_t n = 0;
    ir_foreach_expr_in(x, &k->body)
        n += x->op == OP_load && x->u.buffer == b;
    return n;
}

int64_t inline_cost(struct pass *p, struct ir_stmt *stage)
{
    struct ir_block *body =
        stage->kind == STMT_stage ? &stage->u.stage.body : NULL;
    const struct ir_stmt *last = body && body->n ? body->at[body->n - 1] : NULL;
    int64_t operations = 0;
    if (!last || last->kind != STMT_store || !sched_can_inline(p, stage))
        return -1;
    ir_foreach_expr_in(x, body)
        operations++;
    return operations * count_loads(p->kernel, last->u.store.buffer);
}
