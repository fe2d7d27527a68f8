// How well the registers of a kernel's FFMAs are spread over the banks of the
// register file, by a model: what limits an f32 GEMM once everything else is
// right.

#ifndef TOOLS_INGOT_BANKS_H
#define TOOLS_INGOT_BANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The FFMAs of a kernel whose operands are all registers.
struct bank_score {
    uint64_t all;
    uint64_t reads;     // of registers that no reuse cache had
    uint64_t full_rate; // of all: those that wait for no bank
    uint64_t cycles;    // that they take one behind the other
};

// Score machine code of 16 bytes an instruction.
// Returns false if there is no model of the architecture.
bool banks_score(uint32_t sm, const uint8_t *code, size_t size,
                 struct bank_score *out);

#endif
