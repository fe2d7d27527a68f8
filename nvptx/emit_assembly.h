// Inline assembly with the elements of local arrays as operands.
//
// A thread's elements are in local arrays, which optimisation turns into
// values: f32 in registers of that type, everything else packed into 32 bits.

#ifndef NVPTX_EMIT_ASSEMBLY_H
#define NVPTX_EMIT_ASSEMBLY_H

#include "ir/matrix.h"
#include "nvptx/emit.h"

enum { REGISTERS_MOST = 256, INPUTS_MOST = REGISTERS_MOST + 8 };

// An instruction in the making.  Operands are numbered: results, then inputs.
struct assembly {
    struct buf text, results, inputs; // of constraints
    LLVMTypeRef type[REGISTERS_MOST]; // of the results
    LLVMValueRef in[INPUTS_MOST];
    unsigned n_results, n_inputs;
};

// Elements of a local array, a register each or packed.
struct registers {
    LLVMValueRef first; // the address of the first
    struct type type;   // of an element
    unsigned n, packed; // registers, and how many elements each has
};

// Return the registers that hold `n` elements of a type.
struct registers registers_of(LLVMValueRef first, struct type t, uint32_t n);

// Return the type of a register.
LLVMTypeRef register_type(struct emitter *e, const struct registers *r);

// Add the results that go to an array.
void assembly_results(struct emitter *e, struct assembly *a,
                      const struct registers *r);
// Add an input with its constraint.
void assembly_input(struct assembly *a, const char *constraint, LLVMValueRef v);
// Add an array's registers as inputs; where `first` is not negative, each in
// the register of a result, counted from that one.
void assembly_inputs(struct emitter *e, struct assembly *a,
                     const struct registers *r, int first);

// Append the names of operands: `{$4,$5}`.
void assembly_names(struct assembly *a, unsigned first, unsigned n);

// Build the instruction, convergent and with side effects, and free its texts.
// Returns its result, a structure where it has several.
LLVMValueRef assembly_build(struct emitter *e, struct assembly *a,
                            bool accesses_memory);

// Store what an instruction gave, from result `first` on, in an array.
void assembly_store(struct emitter *e, const struct registers *r,
                    LLVMValueRef call, unsigned first);

// ---- emit_matrix.c

// Return the registers of an operand of a statement.
struct registers matrix_registers(struct emitter *e, const struct ir_stmt *s,
                                  enum matrix_operand which);
// Return the address of an operand in shared memory.
LLVMValueRef matrix_address(struct emitter *e, const struct ir_stmt *s,
                            enum matrix_operand which);
// Return whether the result is added to, as an i1.
LLVMValueRef matrix_keeps(struct emitter *e, const struct ir_stmt *s);

// ---- emit_wgmma.c

// Emit an instruction of a warpgroup.
void emit_wgmma(struct emitter *e, const struct ir_stmt *s);

#endif
