// reindex_cache_write -- compute an array in a copy with given indices.
//
//   for i { for j { C[vi, vj + 1] = ... } }
//     =>   C_local = reindex_cache_write(C, C, local, (i, j) -> (j, i))
//   for i { for j { C_local[vj, vi] = ... } }
//   for ax0 { for ax1 { C[v1, v0 + 1] = C_local[v0, v1] } }
//
// The map gives the copy's indices from the stage's iteration variables, but
// for those that count a reduction.
//
// Requires:
//  1. the stage is a stage                                     E0653
//  2. it writes the array                                      E0642
//  3. in the same statement of the outermost block nothing
//     else uses it, and nothing anywhere else computes it      E0643
//  4. the memory is not constant                               E0644
//  5. it reaches the array by one index, made of iteration
//     variables; no condition leaves accesses out              E0683
//  6. the map has an index for each iteration variable ...     E0679
//  7. ... and keeps those that it uses apart                   E0680
//  8. where the init reads the array, it has no index for a
//     variable of the reduction                                E0683

#include "passes/schedule/common/recache.h"

bool sched_reindex_cache_write(struct sched_call *c)
{
    struct recache r = {.stage = sched_arg(c, 0),
                        .array = sched_arg_buffer(c, 1),
                        .space = c->args.at[2].space,
                        .map = c->args.at[3].map,
                        .suffix = space_name(c->args.at[2].space),
                        .writes = true};
    return recache(c, &r);
}
