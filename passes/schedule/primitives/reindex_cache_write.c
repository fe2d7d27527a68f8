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
// Requires: see recache.h.

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
