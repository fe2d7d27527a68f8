// What the intrinsics of intrinsics.def do: called by the code.

#ifndef TOOLS_SIMT_INTRINSICS_H
#define TOOLS_SIMT_INTRINSICS_H

#include "tools/simt/machine.h"

// Return an operand of an intrinsic as an address.
static inline void *pointer_of(uint64_t operand)
{
    return (void *)(uintptr_t)operand;
}

// What an intrinsic does for the current thread, with its operands as 64 bits
// each; `s->bytes` is the number of its row.  Returns its result.
#define INTRINSIC(intrinsic, function, number, order)                          \
    uint64_t function(struct machine *m, const struct site *s,                 \
                      const uint64_t *o);
#include "tools/simt/intrinsics.def"
#undef INTRINSIC

#endif
