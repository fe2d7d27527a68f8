// reindex_cache_read -- read an array through a copy with given indices.
//
//   for i { for j { C[vi, vj] = A[vi + vj] } }
//     =>   A_shared = reindex_cache_read(C, A, shared, (i, j) -> (j, i))
//   for ax0 { for ax1 { A_shared[v0, v1] = A[v1 + v0] } }
//   for i { for j { C[vi, vj] = A_shared[vj, vi] } }
//
// The map gives the copy's indices from the stage's iteration variables; it
// may leave out those that the array's index does not mention.
//
// Requires:
//  1. the stage is a stage                                     E0653
//  2. it reads the array                                       E0642
//  3. in the same statement of the outermost block nothing
//     else writes it, and nothing anywhere else computes it    E0643
//  4. the memory is not constant                               E0644
//  5. it reaches the array by one index, made of iteration
//     variables; no condition leaves accesses out              E0683
//  6. the map has an index for each iteration variable ...     E0679
//  7. ... and keeps those that it uses apart                   E0680

#include "passes/schedule/common/recache.h"

bool sched_reindex_cache_read(struct sched_call *c)
{
    struct recache r = {.stage = sched_arg(c, 0),
                        .array = sched_arg_buffer(c, 1),
                        .space = c->args.at[2].space,
                        .map = c->args.at[3].map,
                        .suffix = space_name(c->args.at[2].space),
                        .writes = false};
    return recache(c, &r);
}
