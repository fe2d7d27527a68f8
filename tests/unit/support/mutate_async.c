// Mutants of what is asynchronous, and of what threads wait for.

#include "tests/unit/support/mutate.h"

#include "ir/build.h"

// Return the mutation that drops a wait or a fence of a kind; MUTATIONS: none.
static enum mutation dropper(enum sync_kind kind)
{
    switch ((int)kind) {
    case SYNC_warp:
    case SYNC_warpgroup: return MUTATION_drop_sync;
    case SYNC_async_wait:
    case SYNC_wgmma_wait:
    case SYNC_bulk_wait:
    case SYNC_bulk_wait_read: return MUTATION_drop_wait;
    case SYNC_async_commit:
    case SYNC_wgmma_commit:
    case SYNC_bulk_commit: return MUTATION_drop_commit;
    case SYNC_wgmma_fence:
    case SYNC_fence_async:
    case SYNC_fence_mbarrier_init: return MUTATION_drop_fence;
    }
    return MUTATIONS;
}

// Return the mutation that drops an operation on an mbarrier; MUTATIONS: none.
static enum mutation dropper_of(const struct ir_expr *x)
{
    switch ((int)x->op) {
    case OP_mbarrier_arrive:
    case OP_mbarrier_arrive_at:
    case OP_mbarrier_arrive_copied: return MUTATION_drop_arrive;
    case OP_mbarrier_wait: return MUTATION_drop_phase;
    }
    return MUTATIONS;
}

bool mutation_drops(enum mutation what, const struct ir_stmt *s)
{
    switch ((int)s->kind) {
    case STMT_barrier: return what == MUTATION_drop_barrier;
    case STMT_store: return what == MUTATION_drop_store;
    case STMT_assign: return what == MUTATION_drop_assign;
    case STMT_copy: return what == MUTATION_drop_copy;
    case STMT_sync: return what == dropper(s->u.sync.kind);
    case STMT_eval: return what == dropper_of(s->u.value);
    }
    return false;
}

// Return an operation on an mbarrier with another operand behind the element.
static struct ir_expr *with_operand(struct arena *a, struct ir_expr *x,
                                    struct ir_expr *operand)
{
    struct ir_expr *args[] = {x->args[0], operand};
    return ir_with_args(a, x, args);
}

struct ir_expr *mutation_of_mbarrier(struct arena *a, enum mutation what,
                                     struct ir_expr *x)
{
    enum { BYTES = 16 };
    bool is_one = x->n == 2 && ir_is_int_const(x->args[1], 1);
    struct ir_expr *operand = x->n == 2 ? x->args[1] : NULL;
    if (what == MUTATION_flip_phase && x->op == OP_mbarrier_wait)
        return with_operand(
            a, x,
            ir_binary(a, OP_sub, ir_const_int(a, operand->type, 1), operand));
    if (what == MUTATION_wrong_bytes && x->op == OP_mbarrier_expect)
        return with_operand(a, x,
                            ir_binary(a, OP_sub, operand,
                                      ir_const_int(a, operand->type, BYTES)));
    if (what == MUTATION_wrong_count && x->op == OP_mbarrier_init)
        return with_operand(a, x,
                            ir_binary(a, is_one ? OP_add : OP_sub, operand,
                                      ir_const_int(a, operand->type, 1)));
    return NULL;
}
