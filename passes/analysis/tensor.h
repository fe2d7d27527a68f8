// Matches loop nests with matrix instructions:
//
//   for i in 0..16 { for j in 0..8 { for k in 0..16 {
//     stage D(...) { D[.. i, .. j] = D[.. i, .. j] + f32(A[.. i, .. k]) * f32(B[.. k, .. j]) }
//   } } }
//
// in any order of the loops, of the factors and of the dimensions.

#ifndef PASSES_ANALYSIS_TENSOR_H
#define PASSES_ANALYSIS_TENSOR_H

#include "ir/matrix.h"

// An operand: the element of an array that an iteration uses.
struct tensor_operand {
    struct ir_buffer *buffer;
    uint32_t n;
    struct ir_expr **index; // over the loops around the stage
};

enum { TENSOR_M, TENSOR_N, TENSOR_K, TENSOR_LOOPS };

// A nest and what it does.
struct tensor_nest {
    struct ir_matrix op;
    struct ir_stmt *loops[TENSOR_LOOPS]; // over m, n and k
    struct ir_stmt *stage;
    struct tensor_operand part[MATRIX_OPERANDS];
    struct ir_expr *keep; // whether D has a value before; NULL: always
};

// Describe the nest that begins with a loop, as that instruction.
// Returns NULL, or else what keeps it from being one, in words.
const char *tensor_match(struct arena *a, struct ir_stmt *loop,
                         struct ir_matrix op, struct tensor_nest *out);

// Return the instruction that a loop is marked with; false if none.
bool tensor_marked(const struct ir_stmt *s, struct ir_matrix *op);

// Return whether a nest in a block is marked with an instruction of warpgroups.
bool tensor_has_wgmma(const struct ir_block *block);

// Return the operand (of an array of that many rows and columns) that varies
// along its rows with one loop and along its columns with another: which
// dimensions these are.  False if the index is anything else than the loop's
// variable plus a multiple of its extent in either.
bool tensor_dimensions(struct arena *a, const struct tensor_nest *nest,
                       enum matrix_operand which, uint32_t dimension[2]);

// Return the loop over the rows, and over the columns, of an operand.
struct ir_stmt *tensor_loop(const struct tensor_nest *nest,
                            enum matrix_operand which, int side);

// Return an index with the loops of the nest at their first iteration.
struct ir_expr *tensor_base(struct arena *a, const struct tensor_nest *nest,
                            struct ir_expr *index);

#endif
