// reindex -- use an array through a copy with a stage's iteration variables as
// its indices.
//
//   for i { C[vi] = A[vi + 3] }   =>   reindex(C, A)
//   for ax0 { A_reindex[v0] = A[v0 + 3] };  for i { C[vi] = A_reindex[vi] }
//
// The variables keep the order that they have in the stage; those that the
// array's index does not mention are left out.  An array that the stage writes
// is copied behind it.
//
// Requires:
//  1. the stage is a stage                                     E0653
//  2. it uses the array                                        E0642
//  3. in the same statement of the outermost block nothing
//     else changes it, and nothing anywhere else computes it   E0643
//  4. the memory is not constant                               E0644
//  5. it reaches the array by one index, made of iteration
//     variables; no condition leaves accesses out              E0683
//  6. where the init reads the array, it has no index for a
//     variable of the reduction                                E0683

#include "passes/schedule/common/recache.h"

#include "ir/accesses.h"

bool sched_reindex(struct sched_call *c)
{
    struct ir_buffer *array = sched_arg_buffer(c, 1);
    struct ir_stmt *stage = sched_arg(c, 0);
    struct recache r = {.stage = stage,
                        .array = array,
                        .space = array->space,
                        .suffix = "reindex",
                        .writes = ir_stmt_writes(stage, array)};
    if (r.space == SPACE_constant)
        r.space = SPACE_global;
    return recache(c, &r);
}
