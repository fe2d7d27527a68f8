// Instructions on matrices: what matrix.c, products.c and descriptor.c share.

#ifndef TOOLS_SIMT_MATRIX_H
#define TOOLS_SIMT_MATRIX_H

#include "tools/simt/async.h"
#include "tools/simt/ptx.h"

// Return an element in memory as a number.
double matrix_load(const struct matrix_part *part, const void *at);

// Read an operand out of the registers of the threads from `first` on.
void matrix_gather(struct machine *m, const struct fiber *first,
                   const struct ptx_step *step, enum matrix_operand which,
                   const struct ptx_argument *a, double *out);

// Write D into them, rounded.
void matrix_scatter(struct machine *m, const struct fiber *first,
                    const struct ptx_step *step, const double *d);

// D += A * B.
void matrix_multiply(const struct matrix_info *info, const double *a,
                     const double *b, double *d);

// ---- products.c

// Begin a WGMMA; called by each of its threads.
void product_issue(struct machine *m, const struct site *s,
                   const struct ptx_step *step);

// Return the number of the last WGMMA of the current thread.
uint32_t product_number(const struct machine *m);

// Note if the current thread accesses registers of its WGMMA of a number, 0 for
// none, which is not complete; a WGMMA of the same shape may add to its
// results: `as`, or NULL.
void product_access(struct machine *m, uint32_t number,
                    const struct ptx_step *as, const struct site *s);

// ---- descriptor.c

// Return the address that an operand means: a pointer, or the low bits of one
// into shared memory of the thread's block.
void *shared_pointer(struct machine *m, const struct fiber *f,
                     uint64_t operand);

// Return the place in shared memory of a thread's block whose address has
// these low bits and `bytes` bytes behind it, or NULL.
unsigned char *shared_find_low(struct machine *m, const struct fiber *f,
                               uint64_t low, size_t bytes);

// Take a descriptor apart.  Returns the low bits of the address.
uint64_t descriptor_read(uint64_t bits, bool is_transposed,
                         struct ir_descriptor *out);

// Return whether the swizzle begins where the descriptor says.
bool descriptor_is_aligned(uint64_t bits);

#endif
