// Inline PTX that works on matrices, as a list of steps on numbered slots: the
// operands of the instruction, then its constants and own registers.

#ifndef TOOLS_SIMT_PTX_H
#define TOOLS_SIMT_PTX_H

#include "ir/matrix.h"
#include "tools/simt/machine.h"

enum { PTX_ARGUMENTS_MOST = 9 };

// An argument of a step: `{a, b}`, `[a]` or `a`.
struct ptx_argument {
    uint32_t n;
    const uint16_t *slot;
};

struct ptx_program;

// A step.
struct ptx_step {
    // What it does for the current thread, whose slots are `v`.
    void (*run)(struct machine *m, const struct site *s,
                const struct ptx_step *step, uint64_t *v);
    struct ir_matrix matrix; // of instructions on matrices
    uint32_t n;
    struct ptx_argument argument[PTX_ARGUMENTS_MOST];
};

// All of an instruction.
struct ptx_program {
    uint32_t results, operands, slots; // operands: with the results
    uint32_t ties[OPERANDS_MOST];      // of each operand: the result that it
                                       // begins as, or OPERANDS_MOST
    uint64_t constants[OPERANDS_MOST]; // of the slots behind the operands
    struct VEC(struct ptx_step) steps;
    uint64_t copied;   // bytes of a copy, or 0
    bool has_products; // that take time, or waits for them
};

// Read an instruction with its constraints.  Returns NULL if it is none of
// this kind.
struct ptx_program *ptx_parse(struct arena *a, const char *text,
                              const char *constraints);

// Return the program of an intrinsic that loads or stores matrices, or NULL.
struct ptx_program *ptx_of_intrinsic(struct arena *a, const char *name,
                                     uint32_t operands);

// Run it for the current thread; operands and results in m->operands.
void ptx_run(struct machine *m, const struct ptx_program *p,
             const struct site *s);

// Steps: matrix.c, products.c.
void ptx_matrix(struct machine *m, const struct site *s,
                const struct ptx_step *step, uint64_t *v);

#endif
