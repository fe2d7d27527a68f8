// distribute -- spread an array in shared memory over the blocks of a cluster.
//
//   alloc P: f32[4, n] in shared   =>   distribute(P)
//   alloc P: f32[4, n] in shared cluster      block b holds P[b, ..]
//
// Blocks of a cluster then read and write each other's elements (DSMEM). The first
// dimension is as long as the cluster has blocks (E0850 where launches are made);
// a loop on cluster.x, .y or .z as its first index means a block's own elements.
//
// Requires:
//  1. the kernel declares the array                          E0675
//  2. it is in shared memory, has a dimension, and is not
//     filled for the next iteration (double_buffer)          E0676
//  3. there are no atomics on it, and no stage that uses it
//     is marked to be copied otherwise than by its threads   E0676

#include "passes/schedule/prim.h"

#include "ir/accesses.h"
#include "ir/marks.h"

// Return whether a stage that uses an array is marked by copy_via.
static bool is_copied(const struct sched_call *c, const struct ir_buffer *array)
{
    ir_foreach_stmt(s, &c->pass->kernel->body)
        if (s->kind == STMT_stage && ir_attr_get(s, MARK_via) &&
            ir_stmt_uses(s, array))
            return true;
    return false;
}

// Return why an array cannot be distributed, or NULL.
static const char *fault_of(const struct sched_call *c,
                            const struct ir_buffer *array)
{
    if (array->space != SPACE_shared)
        return "it is not in shared memory (set_scope)";
    if (array->rank == 0)
        return "it has no dimension that could count the blocks";
    if (array->is_double)
        return "it is filled for the next iteration";
    if (is_copied(c, array))
        return "a copy of it is not made by threads (copy_via)";
    return ir_block_atomics(&c->pass->kernel->body, array)
               ? "there are atomics on it"
               : NULL;
}

bool sched_distribute(struct sched_call *c)
{
    struct ir_buffer *array = sched_arg_buffer(c, 0);
    if (!sched_check_declared(c, array, "distribute"))
        return false;
    const char *wrong = fault_of(c, array);
    if (wrong) {
        diag_error(c->pass->diags, c->span, D_scope_memory, array->name,
                   "distributed shared", wrong);
        diag_note(c->pass->diags, array->span, "`%s` is here", array->name);
        return false;
    }
    array->of_cluster = true;
    return true;
}
