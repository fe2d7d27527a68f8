// Instructions on matrices, and which thread holds which element: the rows of
// ir/matrix.def as functions.

#ifndef IR_MATRIX_H
#define IR_MATRIX_H

#include "ir/base/buf.h"
#include "ir/ir.h"

enum matrix_kind { MATRIX_MMA, MATRIX_WGMMA, MATRIX_LOAD, MATRIX_STORE };

// The operands, in the order in which a statement names them.
enum matrix_operand { MATRIX_D, MATRIX_A, MATRIX_B, MATRIX_OPERANDS };

// An operand.
struct matrix_part {
    uint32_t rows, columns;
    struct type type;      // of an element; b16: u16, for any of 16 bits
    const char *precision; // as PTX calls it: "f16", "tf32", "b16" ...
    const char *layout;    // "shared", "" for none, or digits
    uint32_t unused;       // low bits that the instruction does not look at
};

// A row of the table, for one n.
struct matrix_info {
    const char *name, *ptx; // with `*` for n
    enum matrix_kind kind;
    uint32_t threads; // 32 or 128
    uint32_t m, n, k;
    const char *set;    // of the architectures that have it
    uint32_t version;   // the least PTX, times ten
    bool is_transposed; // LOAD and STORE: of columns instead of rows
    struct matrix_part part[MATRIX_OPERANDS];
};

// Return the facts about an instruction.
struct matrix_info matrix_info(struct ir_matrix m);
// Find an instruction by its name, such as wgmma_m64n256k16_f16_f32.
bool matrix_find(const char *name, struct ir_matrix *out);
// Find one by the instruction of PTX, such as
// wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16, with the operand A in
// registers or not.
bool matrix_find_ptx(const char *ptx, bool a_in_registers,
                     struct ir_matrix *out);
// Find instruction number `i` of those of a kind, `mma` or `wgmma`, that have n
// columns where that is open; false behind the last one.  Those that use fewer
// bits than their operands have, as in tf32, count only if `precision` names
// them; NULL: all others.
bool matrix_of_kind(const char *kind, const char *precision, uint32_t n,
                    size_t i, struct ir_matrix *out);
// Append the name, or the instruction of PTX.
void matrix_name(struct buf *out, struct ir_matrix m);
void matrix_ptx(struct buf *out, struct ir_matrix m);

// Who counts a digit of a row or a column.
enum matrix_holder {
    MATRIX_BY_ELEMENT, // of the elements that a thread has
    MATRIX_BY_LANE,    // of a warp
    MATRIX_BY_WARP     // of a warpgroup
};

// A digit: worth `weight` rows or columns, and `step` elements, lanes or warps.
struct matrix_digit {
    enum matrix_holder by;
    uint32_t extent, weight, step;
};

// A layout: the digits of the rows, then those of the columns, each outermost
// first.
enum { MATRIX_DIGITS_MOST = 8 };
struct matrix_layout {
    uint32_t n[2]; // of the rows, of the columns
    struct matrix_digit digit[2][MATRIX_DIGITS_MOST];
    uint32_t elements; // of a thread
};

// Return the layout of an operand; false if it is not in registers.
bool matrix_layout(struct ir_matrix m, enum matrix_operand which,
                   struct matrix_layout *out);

// Say which row and column a thread of the group has in one of its elements.
void matrix_position(const struct matrix_layout *layout, uint32_t thread,
                     uint32_t element, uint32_t *row, uint32_t *column);

// Where the threads of a group have their elements in an operand, one row after
// the other: element e of thread t at of_thread[t] + of_element[e], since each
// digit is counted by one of both.
enum { MATRIX_THREADS_MOST = 128, MATRIX_ELEMENTS_MOST = 128 };
struct matrix_places {
    uint32_t threads, elements; // of a thread
    uint32_t of_thread[MATRIX_THREADS_MOST], of_element[MATRIX_ELEMENTS_MOST];
};

// Find them; false if the operand is not in registers.
bool matrix_places(struct ir_matrix m, enum matrix_operand which,
                   struct matrix_places *out);

// Return the address of an element of an operand of a warpgroup (in
// ir/matrix_shared.c): `start` is that of the first, counted from a multiple
// of 8 rows of the swizzle, `bytes` the size of one, `line` its row in A or
// its column in B, and `k` the other.
uint64_t matrix_shared_address(const struct ir_descriptor *d, uint32_t bytes,
                               uint64_t start, uint32_t line, uint32_t k);

// Say how far an element of an operand of a warpgroup is from the tile's
// first, in each dimension of the array (in ir/matrix_shared.c).  The innermost
// of the dimensions that the tile has more than one element of runs along k
// (m or n if transposed), the next across; those further out first go on along
// it until it is complete, then across.
struct matrix_shape {
    uint32_t lines, k; // lines: m for A, n for B
};
void matrix_tile_index(const struct ir_tile *t, const struct matrix_shape *of,
                       uint32_t line, uint32_t k, uint32_t *index);

#endif
