// launch -- launch bounds of the kernel.
//
//   kernel k(...) { ... }   =>   launch(2, 128)
//   kernel k(...) min_blocks 2 max_registers 128 { ... }
//
// At least min_blocks blocks shall fit on an SM at a time, and no
// thread shall use more than max_registers registers.  0, or nothing, leaves
// the choice to the assembler.
//
// Requires:
//  1. min_blocks in 0..32, max_registers 0 or 16 to 255   E0638

#include "passes/schedule/prim.h"

bool sched_launch(struct sched_call *c)
{
    int64_t blocks = c->args.at[0].number;
    int64_t registers = c->args.n > 1 ? c->args.at[1].number : 0;
    if (blocks < 0 || blocks > 32 || registers > 255 ||
        (registers != 0 && registers < 16))
        return diag_error(c->pass->diags, c->span, D_launch_bounds,
                          (long long)blocks, (long long)registers);
    c->pass->kernel->min_blocks = (uint32_t)blocks;
    c->pass->kernel->max_registers = (uint32_t)registers;
    return true;
}
