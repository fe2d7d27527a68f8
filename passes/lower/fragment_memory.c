// Lowers copies from shared memory to fragments to ldmatrix, and stores of what
// stages compute from fragments to shared memory to stmatrix.
//
// The words of a warp's threads, each of two 16-bit elements, are an 8 x 4
// matrix of words. Its rows (or columns, if 16-bit elements are transposed) are
// 16 contiguous bytes in memory:
//
//   for i in 0..16 { for j in 0..16 { A[i, j] = S[i, k + j] } }   =>
//   matrix ldmatrix_x4 A[0, 0, 0 : 8], S[lane % 16, k + lane / 16 * 8 : 8]
//
//   for i in 0..16 { for j in 0..16 { S[i, j] = f16(D[i, j]) } }   =>
//   own[0] = f16(D[0, 0, 0]) ... own[7] = f16(D[0, 0, 7])
//   matrix stmatrix_x4 own[0 : 8], S[lane % 16, lane / 16 * 8 : 8]

#include "passes/lower/fragments.h"

#include "ir/affine.h"
#include "ir/arch_set.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/layout.h"

#include <stdio.h>

enum { SIDE = 8, BYTES = 16, WORD_BITS = 32, TRANSPOSED_BITS = 16 };

// A load of matrices, or a store.
struct load {
    struct spread *x;
    struct ir_stmt *store; // F[...] = S[...], or S[...] = f(F[...])
    struct ir_expr *near;  // S[...]
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
    l->near = l->store->u.store.value;
    return l->near->op == OP_load && l->near->u.buffer->space == SPACE_shared &&
           type_bits(l->near->type) <= WORD_BITS &&
           type_equal(l->near->type, l->store->u.store.buffer->elem) &&
           l->store->u.store.buffer == l->x->like->array;
}

// Find out which side the words are on, and whether the lanes of a word's
// matrix are as ldmatrix has them: 4 along the words, 8 across.
static bool find_words(struct load *l)
{
    const struct matrix_layout *layout = &l->x->layout;
    bool four = false, eight = false;
    uint32_t elements = 1;
    int within = -1;
    l->per = WORD_BITS / type_bits(l->near->u.buffer->elem);
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < layout->n[side]; i++) {
            const struct matrix_digit *d = &layout->digit[side][i];
            bool by_lane = d->by == MATRIX_BY_LANE;
            if (d->by == MATRIX_BY_WARP)
                continue;
            elements *= by_lane ? 1 : d->extent;
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
    l->matrices = elements / l->per;
    return four && eight && (l->per == 1 || within == l->words);
}

// Return whether one instruction loads the matrices, all of one warp.
static bool is_loadable(const struct load *l)
{
    const struct matrix_layout *layout = &l->x->layout;
    bool of_warp = true;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < layout->n[side]; i++)
            of_warp &= layout->digit[side][i].by != MATRIX_BY_WARP;
    return of_warp &&
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

// Return whether a loop moves in a matrix along a dimension: those that stay
// around the elements may, as they like, move in all but the last one.
static bool moves_along(const struct load *l, const struct spread_loop *loop,
                        uint32_t d)
{
    return loop->inside && (!loop->element || d + 1 == l->near->n);
}

// Find the side along which memory is contiguous: its loops alone are in the
// last index, each with what it is worth, and in no other.
static bool find_along(struct load *l)
{
    l->along = -1;
    for (uint32_t i = 0; i < l->x->n; i++) {
        const struct spread_loop *loop = &l->x->loops[i];
        for (uint32_t d = 0; d < l->near->n; d++) {
            int64_t factor;
            bool is_last = d + 1 == l->near->n;
            struct ir_expr *at = spread_over_loops(l->x, l->near->args[d]);
            if (!moves_along(l, loop, d))
                continue;
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
        for (uint32_t d = 0; d + 1 < l->near->n; d++) {
            int64_t factor = 0;
            struct ir_expr *at = spread_over_loops(l->x, l->near->args[d]);
            if (loop->side == l->along && moves_along(l, loop, d) &&
                factor_in(l, at, loop, &factor) && factor)
                return false;
        }
    }
    return l->along >= 0;
}

// Return whether rows of a matrix begin at multiples of 16 bytes.
static bool is_aligned(struct load *l)
{
    struct arena *a = l->x->f->p->scratch;
    struct ir_buffer *b = l->near->u.buffer;
    struct ir_expr *last =
        spread_over_loops(l->x, l->near->args[l->near->n - 1]);
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

// Return the first row (column) of this warp's matrix whose number is `q`.
static struct ir_expr *matrix_start(struct load *l, int side, struct ir_expr *q)
{
    struct arena *a = l->x->f->p->arena;
    const struct matrix_layout *layout = &l->x->layout;
    struct ir_expr *sum = ir_int(a, 0);
    for (uint32_t i = 0; i < layout->n[side]; i++) {
        const struct matrix_digit *d = &layout->digit[side][i];
        bool by_warp = d->by == MATRIX_BY_WARP;
        if (!by_warp && (d->by != MATRIX_BY_ELEMENT || d->step < l->per))
            continue;
        struct ir_expr *digit =
            by_warp ? ir_binary(a, OP_div, ir_read(a, l->x->f->warp),
                                ir_int(a, d->step))
                    : ir_binary(a, OP_div, q, ir_int(a, d->step / l->per));
        digit = ir_binary(a, OP_mod, digit, ir_int(a, d->extent));
        sum = ir_add(a, sum, ir_mul(a, digit, ir_int(a, d->weight)));
    }
    if (l->joined == side)
        sum = ir_add(a, sum,
                     ir_mul(a, ir_binary(a, OP_div, q, ir_int(a, l->matrices)),
                            ir_int(a, l->x->like->tile[side])));
    return sum;
}

// Return the instruction that loads or stores so many matrices.
static struct ir_matrix instruction(const char *what, uint32_t matrices,
                                    bool transposed)
{
    struct ir_matrix op = {0, 0};
    char name[32];
    snprintf(name, sizeof name, "%s_x%u%s", what, matrices,
             transposed ? "_trans" : "");
    matrix_find(name, &op);
    return op;
}

// Return the instruction for so many matrices from number `first` on, with its
// operand in shared memory: each lane has the address of a row.
static struct ir_stmt *make(struct load *l, const char *what, uint32_t first,
                            uint32_t matrices)
{
    struct spread *x = l->x;
    struct arena *a = x->f->p->arena;
    struct ir_expr *lane = ir_read(a, x->f->lane);
    struct ir_expr *q =
        ir_binary(a, OP_mod, ir_binary(a, OP_div, lane, ir_int(a, SIDE)),
                  ir_int(a, matrices));
    struct ir_expr *index[IR_TILE_RANK];
    q = ir_add(a, q, ir_int(a, first));
    for (int side = 0; side < 2; side++)
        x->at[side] = matrix_start(l, side, q);
    x->at[!l->along] = ir_add(a, x->at[!l->along],
                              ir_binary(a, OP_mod, lane, ir_int(a, SIDE)));
    struct map values = spread_values(x);
    struct ir_stmt *s = ir_stmt_from(
        ir_stmt_matrix(a, instruction(what, matrices, l->along != l->words)),
        l->store);
    struct ir_tile *row = &s->u.matrix.tiles[MATRIX_A];
    for (uint32_t d = 0; d < l->near->n; d++) {
        index[d] = ir_substitute(a, spread_over_loops(x, l->near->args[d]),
                                 &values, NULL);
        row->extent[d] = 1;
    }
    row->extent[l->near->n - 1] = 4 * l->per;
    row->at = ir_place(a, l->near->u.buffer, l->near->n, index);
    if (l->near->u.buffer->align < BYTES)
        l->near->u.buffer->align = BYTES;
    return s;
}

// Return the instruction that loads.
static struct ir_stmt *make_load(struct load *l)
{
    struct spread *x = l->x;
    struct arena *a = x->f->p->arena;
    struct ir_buffer *local = x->like->local;
    struct ir_stmt *s =
        make(l, "ldmatrix", 0, l->matrices * (l->joined >= 0 ? 2 : 1));
    struct ir_tile *to = &s->u.matrix.tiles[MATRIX_D];
    struct ir_expr **own =
        spread_index(x, x->like, l->store->u.store.index, ir_int(a, 0));
    to->at = ir_place(a, local, local->rank, own);
    for (uint32_t d = 0; d < local->rank; d++)
        to->extent[d] = 1;
    to->extent[local->rank - 1] = x->like->layout.elements;
    if (l->joined >= 0)
        to->extent[x->like->dim[l->joined]] = 2;
    return s;
}

bool fragments_load(struct spread *x, struct ir_block *out)
{
    struct load l = {.x = x};
    if (!is_copy(&l) || !find_words(&l) || !is_loadable(&l) ||
        !find_along(&l) || !is_aligned(&l) || l.near->n > IR_TILE_RANK ||
        (l.along != l.words && type_bits(l.near->type) != TRANSPOSED_BITS))
        return false;
    find_joined(&l);
    ir_append(x->f->p->arena, out, make_load(&l));
    return true;
}

// Find out whether the stage stores 16-bit elements to shared memory, all that
// there are, on an architecture that has stmatrix: the one that has the
// instruction which the fragment is for.
static bool is_store(struct load *l)
{
    struct ir_matrix op;
    struct ir_stage *s = &l->x->stage->u.stage;
    l->store = s->body.n == 1 ? s->body.at[0] : NULL;
    if (s->predicate || s->has_init || !l->store ||
        l->store->kind != STMT_store || !tensor_marked(l->x->like->user, &op))
        return false;
    struct ir_buffer *to = l->store->u.store.buffer;
    l->near = ir_place(l->x->f->p->scratch, to, l->store->u.store.n,
                       l->store->u.store.index);
    l->joined = -1;
    return to->space == SPACE_shared &&
           type_bits(to->elem) == TRANSPOSED_BITS &&
           arch_set_within(matrix_info(op).set,
                           matrix_info(instruction("stmatrix", 1, false)).set);
}

// Append the instructions that store the elements of a local array.
static void append_stores(struct load *l, struct ir_buffer *own,
                          struct ir_block *out)
{
    struct arena *a = l->x->f->p->arena;
    for (uint32_t first = 0, n; first < l->matrices; first += n) {
        n = l->matrices - first;
        n = n >= 4 ? 4 : n >= 2 ? 2 : 1;
        struct ir_stmt *s = make(l, "stmatrix", first, n);
        struct ir_tile *from = &s->u.matrix.tiles[MATRIX_D];
        struct ir_expr *at = ir_int(a, first * l->per);
        from->at = ir_place(a, own, 1, &at);
        from->extent[0] = n * l->per;
        ir_append(a, out, s);
    }
}

bool fragments_store(struct spread *x, struct ir_block *out)
{
    struct arena *a = x->f->p->arena;
    struct load l = {.x = x};
    if (!is_store(&l) || !find_words(&l) || !find_along(&l) ||
        !is_aligned(&l) || l.near->n > IR_TILE_RANK)
        return false;
    struct ir_expr **shape = arena_new(a, struct ir_expr *);
    struct ir_expr **index = arena_new(a, struct ir_expr *);
    shape[0] = ir_int(a, l.matrices * l.per);
    struct ir_buffer *own = ir_buffer_new(a, str_name(x->f->p->names, "own"),
                                          l.near->u.buffer->elem, 1, shape);
    own->space = SPACE_local;
    own->span = x->stage->span;
    ir_append(a, out, ir_stmt_from(ir_stmt_alloc(a, own), x->stage));
    append_stores(&l, own, out);
    index[0] = spread_element(x);
    l.store->u.store.buffer = own;
    l.store->u.store.index = index;
    l.store->u.store.n = 1;
    return true;
}
