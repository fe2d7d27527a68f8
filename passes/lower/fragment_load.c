// Copies from shared memory to fragments by ldmatrix.
//
// A word of elements of each thread, 2 of 16 bits, is an 8 x 4 matrix of words,
// whose rows, or columns if elements of 16 bits are transposed, are 16 bytes in
// a row in memory:
//
//   for i in 0..16 { for j in 0..16 { A[i, j] = S[i, k + j] } }   =>
//   matrix ldmatrix_x4 A[0, 0, 0 : 8], S[lane % 16, k + lane / 16 * 8 : 8]

#include "passes/lower/fragments.h"

#include "ir/affine.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/layout.h"

#include <stdio.h>

enum { SIDE = 8, BYTES = 16, WORD_BITS = 32, TRANSPOSED_BITS = 16 };

// A load of matrices.
struct load {
    struct spread *x;
    struct ir_stmt *store; // F[...] = S[...]
    struct ir_expr *from;  // S[...]
    int along;             // the side along which memory is contiguous
    int words;             // the side along which a thread has words
    uint32_t per;          // elements of a word
    uint32_t matrices;     // of a tile
    int joined;            // the side of the tiles taken two at a time, or -1
};

// Find out whether the stage does nothing but to copy elements of 8 to 32 bits.
static bool is_copy(struct load *l)
{
    struct ir_stage *s = &l->x->stage->u.stage;
    l->store = s->body.n == 1 ? s->body.at[0] : NULL;
    if (s->predicate || s->has_init || !l->store ||
        l->store->kind != STMT_store)
        return false;
    l->from = l->store->u.store.value;
    return l->from->op == OP_load && l->from->u.buffer->space == SPACE_shared &&
           type_bits(l->from->type) <= WORD_BITS &&
           type_equal(l->from->type, l->store->u.store.buffer->elem) &&
           l->store->u.store.buffer == l->x->like->array;
}

// Find out which side the words are on, and whether the lanes of a word's
// matrix are as ldmatrix has them: 4 along the words, 8 across.
static bool find_words(struct load *l)
{
    const struct matrix_layout *layout = &l->x->like->layout;
    bool four = false, eight = false;
    int within = -1;
    l->per = WORD_BITS / type_bits(l->from->type);
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < layout->n[side]; i++) {
            const struct matrix_digit *d = &layout->digit[side][i];
            bool by_lane = d->by == MATRIX_BY_LANE;
            if (d->by == MATRIX_BY_WARP)
                return false;
            if (!by_lane && d->step == 1 && d->extent == l->per &&
                d->weight == 1)
                within = side;
            if (by_lane && d->step == 1 && d->extent == 4 &&
                d->weight == l->per) {
                four = true;
                l->words = side;
            }
            eight |=
                by_lane && d->step == 4 && d->extent == SIDE && d->weight == 1;
        }
    }
    l->matrices = layout->elements / l->per;
    return four && eight && (l->per == 1 || within == l->words) &&
           (l->matrices == 1 || l->matrices == 2 || l->matrices == 4);
}

// Return the factor of a loop in an index; false if it is not linear.
static bool factor_in(struct load *l, struct ir_expr *index,
                      const struct spread_loop *loop, int64_t *factor)
{
    struct arena *a = l->x->f->p->scratch;
    struct affine rest, all = affine_of(a, index);
    return affine_linear(a, &all, loop->loop->u.loop.var, factor, &rest);
}

// Find the side along which memory is contiguous: its loops alone are in the
// last index, each with what it is worth, and in no other.
static bool find_along(struct load *l)
{
    l->along = -1;
    for (uint32_t i = 0; i < l->x->n; i++) {
        const struct spread_loop *loop = &l->x->loops[i];
        for (uint32_t d = 0; loop->inside && d < l->from->n; d++) {
            int64_t factor;
            bool is_last = d + 1 == l->from->n;
            struct ir_expr *at = spread_over_loops(l->x, l->from->args[d]);
            if (!factor_in(l, at, loop, &factor))
                return false;
            if (!factor)
                continue;
            if (is_last ? factor != loop->factor || l->along == !loop->side
                        : l->along == loop->side)
                return false;
            if (is_last)
                l->along = loop->side;
        }
    }
    for (uint32_t i = 0; i < l->x->n; i++) {
        const struct spread_loop *loop = &l->x->loops[i];
        for (uint32_t d = 0; loop->inside && d + 1 < l->from->n; d++) {
            int64_t factor = 0;
            struct ir_expr *at = spread_over_loops(l->x, l->from->args[d]);
            if (loop->side == l->along && factor_in(l, at, loop, &factor) &&
                factor)
                return false;
        }
    }
    return l->along >= 0;
}

// Return whether rows of a matrix begin at multiples of 16 bytes.
static bool is_aligned(struct load *l)
{
    struct arena *a = l->x->f->p->scratch;
    struct ir_buffer *b = l->from->u.buffer;
    struct ir_expr *last =
        spread_over_loops(l->x, l->from->args[l->from->n - 1]);
    int64_t row = 4 * (int64_t)l->per;
    struct affine all = affine_of(a, last), by = affine_number(row), q, rest;
    for (uint32_t i = 0; i < l->x->n; i++) {
        int64_t factor;
        const struct spread_loop *loop = &l->x->loops[i];
        if (loop->inside &&
            affine_linear(a, &all, loop->loop->u.loop.var, &factor, &rest))
            all = rest;
    }
    if (!affine_divide(a, &all, &by, &q, &rest) || !affine_is_number(&rest) ||
        rest.constant)
        return false;
    struct ir_expr **strides = layout_strides(a, b);
    for (uint32_t d = 0; d + 1 < b->rank; d++) {
        struct ir_expr *stride = b->shape[b->rank - 1];
        int64_t n;
        if (strides)
            stride = strides[d];
        if (!ir_int_value(stride, &n) || n % row)
            return false;
    }
    return !b->swizzle.bits || 1 << b->swizzle.base >= row;
}

// Find a side whose tiles can be taken two at a time: neighbours lie behind
// each other in the thread's part, and a loop counts them alone.
static void find_joined(struct load *l)
{
    const struct fragment *f = l->x->like;
    l->joined = -1;
    if (l->matrices != 2)
        return;
    for (int side = 0; side < 2; side++) {
        bool is_last = true;
        for (uint32_t d = f->dim[side] + 1; d + 1 < f->local->rank; d++)
            is_last &= ir_is_int_const(f->local->shape[d], 1);
        for (uint32_t i = 0; is_last && i < l->x->n; i++) {
            struct spread_loop *loop = &l->x->loops[i];
            if (loop->side != side || !loop->out ||
                loop->extent / loop->inside % 2)
                continue;
            loop->tiles = 2;
            l->joined = side;
            return;
        }
    }
}

// Return the first row (column) of the matrix whose number is `q`.
static struct ir_expr *matrix_start(struct load *l, int side, struct ir_expr *q)
{
    struct arena *a = l->x->f->p->arena;
    const struct matrix_layout *layout = &l->x->like->layout;
    struct ir_expr *sum = ir_int(a, 0);
    for (uint32_t i = 0; i < layout->n[side]; i++) {
        const struct matrix_digit *d = &layout->digit[side][i];
        if (d->by != MATRIX_BY_ELEMENT || d->step < l->per)
            continue;
        struct ir_expr *digit = ir_binary(
            a, OP_mod, ir_binary(a, OP_div, q, ir_int(a, d->step / l->per)),
            ir_int(a, d->extent));
        sum = ir_add(a, sum, ir_mul(a, digit, ir_int(a, d->weight)));
    }
    if (l->joined == side)
        sum = ir_add(a, sum,
                     ir_mul(a, ir_binary(a, OP_div, q, ir_int(a, l->matrices)),
                            ir_int(a, l->x->like->tile[side])));
    return sum;
}

// Return the instruction that loads so many matrices.
static struct ir_matrix instruction(uint32_t matrices, bool transposed)
{
    struct ir_matrix op = {0, 0};
    char name[32];
    snprintf(name, sizeof name, "ldmatrix_x%u%s", matrices,
             transposed ? "_trans" : "");
    matrix_find(name, &op);
    return op;
}

// Make the statement.
static struct ir_stmt *make(struct load *l)
{
    struct spread *x = l->x;
    struct arena *a = x->f->p->arena;
    uint32_t matrices = l->matrices * (l->joined >= 0 ? 2 : 1);
    struct ir_expr *lane = ir_read(a, x->f->lane);
    struct ir_expr *q =
        ir_binary(a, OP_mod, ir_binary(a, OP_div, lane, ir_int(a, SIDE)),
                  ir_int(a, matrices));
    struct ir_expr *index[IR_TILE_RANK];
    for (int side = 0; side < 2; side++)
        x->at[side] = matrix_start(l, side, q);
    x->at[!l->along] = ir_add(a, x->at[!l->along],
                              ir_binary(a, OP_mod, lane, ir_int(a, SIDE)));
    struct map values = spread_values(x);
    struct ir_stmt *s = ir_stmt_from(
        ir_stmt_matrix(a, instruction(matrices, l->along != l->words)),
        l->store);
    struct ir_tile *to = &s->u.matrix.tiles[MATRIX_D];
    struct ir_tile *from = &s->u.matrix.tiles[MATRIX_A];
    for (uint32_t d = 0; d < l->from->n; d++) {
        index[d] = ir_substitute(a, spread_over_loops(x, l->from->args[d]),
                                 &values, NULL);
        from->extent[d] = 1;
    }
    from->extent[l->from->n - 1] = 4 * l->per;
    from->at = ir_place(a, l->from->u.buffer, l->from->n, index);
    struct ir_expr **own =
        spread_index(x, x->like, l->store->u.store.index, ir_int(a, 0));
    to->at = ir_place(a, x->like->local, x->like->local->rank, own);
    for (uint32_t d = 0; d < x->like->local->rank; d++)
        to->extent[d] = 1;
    to->extent[x->like->local->rank - 1] = x->like->layout.elements;
    if (l->joined >= 0)
        to->extent[x->like->dim[l->joined]] = 2;
    return s;
}

bool fragments_load(struct spread *x, struct ir_block *out)
{
    struct load l = {.x = x};
    if (!is_copy(&l) || !find_words(&l) || !find_along(&l) || !is_aligned(&l) ||
        l.from->n > IR_TILE_RANK ||
        (l.along != l.words && type_bits(l.from->type) != TRANSPOSED_BITS))
        return false;
    find_joined(&l);
    if (l.from->u.buffer->align < BYTES)
        l.from->u.buffer->align = BYTES;
    ir_append(x->f->p->arena, out, make(&l));
    return true;
}
