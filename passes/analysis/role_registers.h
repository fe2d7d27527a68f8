// The registers of warp-specialized blocks.

#ifndef PASSES_ANALYSIS_ROLE_REGISTERS_H
#define PASSES_ANALYSIS_ROLE_REGISTERS_H

#include "ir/base/diag.h"
#include "ir/gpu.h"
#include "ir/ir.h"

// What each thread of the warpgroups that produce, and of those that consume,
// asks for; 0: what they begin with.
struct role_registers {
    int64_t producer, consumer;   // registers
    int64_t producers, consumers; // warpgroups
};

// Return the registers that a thread of a block of so many warpgroups begins
// with; no thread can use more than 248.
int64_t role_registers_at_start(const struct ir_kernel *k, int64_t warpgroups);

// Return whether the block begins with as many as its roles ask for together.
bool role_registers_fit(const struct ir_kernel *k,
                        const struct role_registers *r);

// Report that they cannot be given.  Returns false.
bool role_registers_refuse(struct diag_list *diags, struct span span,
                           const struct ir_kernel *k,
                           const struct role_registers *r);

#endif
