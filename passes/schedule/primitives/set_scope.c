// set_scope -- move an array to another memory.
//
//   alloc T: f32[n] in global   =>   set_scope(T, shared)
//   alloc T: f32[n] in shared
//
// Requires:
//  1. the kernel declares the array                        E0675
//  2. the memory is written: not constant                  E0676
//  3. local arrays have no atomics                         E0676
//  4. global arrays are declared on top of the kernel      E0676
//  5. shared arrays are declared outside of loops over threads  E0676
//  6. an array with two halves, or one that is distributed
//     over the blocks of a cluster, stays in shared memory E0676

#include "passes/schedule/prim.h"

#include "ir/accesses.h"

// Return whether an array is declared below a loop over threads.
static bool is_of_thread(const struct sched_call *c,
                         const struct ir_buffer *array)
{
    struct ir_block around =
        sched_loops(c->pass, sched_alloc_of(c->pass, array));
    for (size_t i = 0; i < around.n; i++)
        if (axis_kind(around.at[i]->u.loop.axis) == AXIS_THREAD)
            return true;
    return false;
}

// Return why an array cannot be in a memory, or NULL.
static const char *fault_of(const struct sched_call *c,
                            const struct ir_buffer *array, enum space space)
{
    if (space == SPACE_constant)
        return "the kernel writes it";
    if (space != SPACE_shared && array->of_cluster)
        return "it is distributed over the blocks of a cluster";
    if (space == SPACE_global &&
        sched_path(c->pass, sched_alloc_of(c->pass, array)).n > 1)
        return "it is declared inside of a statement";
    if (space == SPACE_shared && is_of_thread(c, array))
        return "each thread has one for itself";
    if (space != SPACE_shared && array->is_double)
        return "it is filled for the next iteration by the threads of a block";
    return space_is_own(space) &&
                   ir_block_atomics(&c->pass->kernel->body, array)
               ? "there are atomics on it"
               : NULL;
}

bool sched_set_scope(struct sched_call *c)
{
    struct ir_buffer *array = sched_arg_buffer(c, 0);
    enum space space = c->args.at[1].space;
    if (!sched_check_declared(c, array, "move"))
        return false;
    const char *wrong = fault_of(c, array, space);
    if (wrong) {
        diag_error(c->pass->diags, c->span, D_scope_memory, array->name,
                   space_name(space), wrong);
        diag_note(c->pass->diags, array->span, "`%s` is here", array->name);
        return false;
    }
    array->space = space;
    return true;
}
