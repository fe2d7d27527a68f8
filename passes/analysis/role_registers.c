// The registers of warp-specialized blocks.

#include "passes/analysis/role_registers.h"

enum { FILE_REGISTERS = 65536, UNIT = 8, LARGEST = 248 };

int64_t role_registers_at_start(const struct ir_kernel *k, int64_t warpgroups)
{
    int64_t blocks = k->min_blocks ? k->min_blocks : 1;
    if (k->max_registers)
        return k->max_registers;
    int64_t threads = GROUP_THREADS * warpgroups * blocks;
    int64_t each = FILE_REGISTERS / threads / UNIT * UNIT;
    return each < LARGEST ? each : LARGEST;
}

// Return the registers of a thread of each warpgroup together.
static int64_t all_at_start(const struct ir_kernel *k,
                            const struct role_registers *r)
{
    int64_t warpgroups = r->producers + r->consumers;
    return role_registers_at_start(k, warpgroups) * warpgroups;
}

bool role_registers_fit(const struct ir_kernel *k,
                        const struct role_registers *r)
{
    return r->producers * r->producer + r->consumers * r->consumer <=
           all_at_start(k, r);
}

bool role_registers_refuse(struct diag_list *diags, struct span span,
                           const struct ir_kernel *k,
                           const struct role_registers *r)
{
    return diag_error(diags, span, D_role_registers, (long long)r->producers,
                      (long long)r->consumers, (long long)r->producer,
                      (long long)r->consumer,
                      (long long)all_at_start(k, r) * GROUP_THREADS);
}
