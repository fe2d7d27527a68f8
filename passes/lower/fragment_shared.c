// The operands that WGMMA reads from shared memory.
//
// WGMMA takes rows of 128, 64 or 32 swizzled bytes, or of 16 bytes without a
// swizzle, in groups of 8; two strides of the descriptor say how far the groups
// are apart (ir/matrix_shared.c). The layout of the array gives them. Then
// every element of the tile is compared with where the instruction looks for
// it.

#include "passes/lower/fragments.h"

#include "ir/affine.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/layout.h"

enum { ROWS = 8, CHUNK = 16, LINE = 128, RANK = IR_TILE_RANK };

// How far elements are from the first one in a dimension: for each row that
// moves along it, and each column.
struct offsets {
    uint32_t n[2]; // rows, columns; 1 if they do not move along it
    int64_t *at;
};

// An operand under way.
struct shared {
    struct arena *arena;
    const struct tensor_nest *nest;
    enum matrix_operand which;
    const struct tensor_operand *operand;
    struct ir_expr *base[RANK];
    int64_t stride[RANK]; // in bytes
    struct offsets offsets[RANK];
    uint32_t bytes; // of an element
    uint32_t row;   // of a swizzled row, in bytes; 16 without
    struct matrix_shape shape;
    struct ir_tile *out;
};

// Return the logarithm of a power of two.
static uint32_t log_of(uint32_t n)
{
    uint32_t log = 0;
    while (n >> (log + 1))
        log++;
    return log;
}

// Learn the strides of the array.
static bool find_strides(struct shared *x)
{
    const struct ir_buffer *b = x->operand->buffer;
    struct ir_expr **strides = layout_strides(x->arena, b);
    int64_t inner = x->bytes;
    for (uint32_t d = b->rank; d-- > 0;) {
        int64_t extent, n = inner / x->bytes;
        if ((strides && !ir_int_value(strides[d], &n)) ||
            !ir_int_value(b->shape[d], &extent))
            return false;
        x->stride[d] = n * x->bytes;
        inner = x->stride[d] * extent;
    }
    return x->stride[b->rank - 1] == x->bytes;
}

// Find how wide a swizzled row is: its swizzle has to be the instruction's.
static bool find_row(struct shared *x)
{
    const struct ir_buffer *b = x->operand->buffer;
    const struct ir_swizzle *s = &b->swizzle;
    x->row = CHUNK << s->bits;
    bool fits = !s->bits || (s->base == log_of(CHUNK / x->bytes) &&
                             s->shift == log_of(LINE / x->row));
    return s->bits <= 3 && fits && b->rank >= 2 &&
           x->stride[b->rank - 2] == x->row;
}

// Return how far an element is from the first one in a dimension; false if
// that depends on where the tile is.
static bool offset(struct shared *x, uint32_t d, uint32_t row, uint32_t column,
                   int64_t *out)
{
    struct ir_expr *e = x->operand->index[d];
    const uint32_t at[2] = {row, column};
    for (int side = 0; side < 2; side++)
        e = ir_replace_var(x->arena, e,
                           tensor_loop(x->nest, x->which, side)->u.loop.var,
                           ir_int(x->arena, at[side]));
    struct affine here = affine_of(x->arena, e);
    struct affine first = affine_of(x->arena, x->base[d]);
    struct affine rest = affine_add(x->arena, &here, -1, &first);
    *out = rest.constant;
    return affine_is_number(&rest);
}

// Compute the offsets in a dimension; false if they depend on where the tile
// is.
static bool find_offsets(struct shared *x, uint32_t d)
{
    struct offsets *o = &x->offsets[d];
    bool is_a = x->which == MATRIX_A;
    uint32_t room[2] = {is_a ? x->shape.lines : x->shape.k,
                        is_a ? x->shape.k : x->shape.lines};
    for (int side = 0; side < 2; side++) {
        const struct ir_stmt *loop = tensor_loop(x->nest, x->which, side);
        bool moves = ir_mentions(x->operand->index[d], loop->u.loop.var);
        o->n[side] = moves ? room[side] : 1;
    }
    o->at = arena_array(x->arena, int64_t, (size_t)o->n[0] * o->n[1]);
    for (uint32_t i = 0; i < o->n[0] * o->n[1]; i++)
        if (!offset(x, d, i / o->n[1], i % o->n[1], &o->at[i]))
            return false;
    return true;
}

// Compute the offsets in all dimensions.
static bool find_all_offsets(struct shared *x)
{
    for (uint32_t d = 0; d < x->operand->n; d++)
        if (!find_offsets(x, d))
            return false;
    return true;
}

// Find the offsets of an element, `line` of m or n, in each dimension; return
// that in bytes before the swizzle.
static int64_t locate(const struct shared *x, uint32_t line, uint32_t k,
                      int64_t *index)
{
    bool is_a = x->which == MATRIX_A;
    uint32_t row = is_a ? line : k, column = is_a ? k : line;
    int64_t bytes = 0;
    for (uint32_t d = 0; d < x->operand->n; d++) {
        const struct offsets *o = &x->offsets[d];
        index[d] = o->at[row % o->n[0] * o->n[1] + column % o->n[1]];
        bytes += index[d] * x->stride[d];
    }
    return bytes;
}

// Return whether the tile begins where a block of rows does: in all dimensions
// but the last at a multiple of 8 rows, in that at one of 16 bytes.
static bool is_aligned(struct shared *x)
{
    for (uint32_t d = 0; d < x->operand->n; d++) {
        bool is_last = d + 1 == x->operand->n;
        struct affine base = affine_of(x->arena, x->base[d]), rest, q;
        struct affine stride = affine_number(x->stride[d]);
        struct affine by = affine_number(is_last ? CHUNK : ROWS * x->row);
        struct affine all = affine_mul(x->arena, &base, &stride);
        if (!affine_divide(x->arena, &all, &by, &q, &rest) ||
            !affine_is_number(&rest) || rest.constant)
            return false;
    }
    return true;
}

// Find the distances between blocks from where a few elements lie.
static void find_descriptor(struct shared *x)
{
    struct ir_descriptor *d = &x->out->descriptor;
    int64_t index[RANK], next_k = locate(x, 0, 1, index);
    uint32_t width = x->row / x->bytes;
    d->swizzle = x->row == CHUNK ? 0 : x->row;
    d->is_transposed = next_k != x->bytes;
    uint32_t along_room = d->is_transposed ? x->shape.lines : x->shape.k;
    uint32_t across_room = d->is_transposed ? x->shape.k : x->shape.lines;
    int64_t along = CHUNK, across = CHUNK;
    if (along_room > width)
        along = locate(x, d->is_transposed ? width : 0,
                       d->is_transposed ? 0 : width, index);
    if (across_room > ROWS)
        across = locate(x, d->is_transposed ? 0 : ROWS,
                        d->is_transposed ? ROWS : 0, index);
    bool is_exchanged = d->is_transposed && !d->swizzle;
    d->leading = (uint32_t)(is_exchanged ? across : along);
    d->stride = (uint32_t)(is_exchanged ? along : across);
}

// Find how many elements the tile has in each dimension.
static void measure(struct shared *x)
{
    for (uint32_t d = 0; d < x->operand->n; d++) {
        const struct offsets *o = &x->offsets[d];
        for (uint32_t i = 0; i < o->n[0] * o->n[1]; i++)
            if (o->at[i] >= x->out->extent[d])
                x->out->extent[d] = (uint32_t)o->at[i] + 1;
    }
}

// Return whether an element is where the instruction looks for it, and where
// the tile's extents say.
static bool is_expected(const struct shared *x, uint32_t line, uint32_t k)
{
    const struct ir_descriptor *d = &x->out->descriptor;
    int64_t index[RANK];
    uint64_t address = (uint64_t)locate(x, line, k, index);
    uint32_t expected[RANK];
    matrix_tile_index(x->out, &x->shape, line, k, expected);
    for (uint32_t i = 0; i < x->operand->n; i++)
        if (expected[i] != (uint64_t)index[i])
            return false;
    if (d->swizzle)
        address ^= (address / LINE & (x->row / CHUNK - 1)) * CHUNK;
    return matrix_shared_address(d, x->bytes, 0, line, k) == address;
}

// Compare every element.
static bool agrees(struct shared *x)
{
    bool same = true;
    for (uint32_t line = 0; same && line < x->shape.lines; line++)
        for (uint32_t k = 0; same && k < x->shape.k; k++)
            same = is_expected(x, line, k);
    return same;
}

const char *fragments_shared(struct fragments *f,
                             const struct tensor_nest *nest,
                             enum matrix_operand which, struct ir_tile *out)
{
    struct matrix_info info = matrix_info(nest->op);
    const struct tensor_operand *operand = &nest->part[which];
    struct shared x = {.arena = f->p->arena,
                       .nest = nest,
                       .which = which,
                       .operand = operand,
                       .bytes = (uint32_t)type_bytes(operand->buffer->elem),
                       .shape = {which == MATRIX_A ? info.m : info.n, info.k},
                       .out = out};
    if (operand->n > RANK)
        return "it has too many dimensions";
    for (uint32_t d = 0; d < operand->n; d++) {
        x.base[d] = tensor_base(f->p->arena, nest, operand->index[d]);
        out->extent[d] = 1;
    }
    if (!find_strides(&x) || !find_row(&x))
        return "its last dimension is neither 16 bytes long, nor 32, 64 or 128 "
               "with a swizzle of 1, 2 or 3 bits";
    if (!is_aligned(&x))
        return "a tile does not begin at a multiple of 8 rows and 16 bytes";
    out->at = ir_place(f->p->arena, operand->buffer, operand->n, x.base);
    bool is_regular = find_all_offsets(&x);
    if (is_regular) {
        find_descriptor(&x);
        measure(&x);
    }
    if (!is_regular || !agrees(&x))
        return "its blocks of 8 rows are not all equally far apart";
    if (type_bits(operand->buffer->elem) != 16 && out->descriptor.is_transposed)
        return "only 16-bit elements may lie along m or n";
    if (operand->buffer->align < ROWS * x.row)
        operand->buffer->align = ROWS * x.row;
    return NULL;
}
