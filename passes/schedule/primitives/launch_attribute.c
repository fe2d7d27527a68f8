// launch_attribute -- how the grids of the kernel are launched.
//
//   kernel k(...) { ... }   =>   launch_attribute(programmatic)
//   kernel k(...) launch_attribute programmatic { ... }
//
// `programmatic` is for small kernels behind each other in a stream. Without it
// a grid begins when the one before it has ended. With it, it begins while that
// one runs, as there is room, and waits for its end only before it accesses
// global memory: what it costs to launch a grid and to set up shared memory
// overlaps. Results are the same, also between kernels of which only one has
// the attribute. Loads do not go through the read-only cache, since another
// grid may write meanwhile. Needs sm_90 and a driver for CUDA 12.3; elsewhere
// the kernel is launched as all others.
//
// `cooperative` is for kernels whose blocks wait for each other, by atomics and
// fences. All blocks run at a time, or the launch function returns
// INGOT_BAD_LAUNCH, and how many could. Needs a driver for CUDA 11.8.
//
// Requires:
//  1. attributes of launches   E0217

#include "passes/schedule/prim.h"

#include "ir/launch_attribute.h"

bool sched_launch_attribute(struct sched_call *c)
{
    uint32_t set = 0;
    for (size_t i = 0; i < c->args.n; i++)
        if (!attribute_add(c->pass->diags, c->args.at[i].span,
                           c->args.at[i].key, &set))
            return false;
    c->pass->kernel->attributes |= set;
    return true;
}
