// Finds the TMA tiles that do what a nest copies element by element.
//
//   for k in 0..64 { for n0 in 0..4 { for n1 in 0..64 {
//     S[n0, k, n1] = B[k0 + k, n0 * 64 + n1]              =>
//   } } }
//
//   for n0 in 0..4 { TMA tile [64, 64] of B at [k0, n0 * 64] to S[n0, 0, 0] }
//
// A loop is a dimension of the TMA tile if it moves one index of the array in
// global memory, by 1 in each iteration, and no loop inside of it does. Other
// loops stay around. The layout in shared memory is not derived but compared:
// each element of the tile, with where TMA puts it.

#include "passes/lower/tma_tile.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/layout.h"
#include "ir/walk.h"
#include "passes/opt/fold.h"

enum { PERIOD_LINES = 8, PERIOD_PLAIN = 128 };

// What is known of the nest.
struct search {
    struct arena *arena; // of what stays
    struct facts *facts; // inside the nest
    struct tma_tile *box;
    struct affine far[TENSOR_RANK_MOST]; // the indices
    struct affine near;                  // where in shared memory, in elements
    const struct ir_for *by[TENSOR_RANK_MOST]; // the loop of a dimension
    int64_t step[TENSOR_RANK_MOST]; // of it in shared memory, in elements
    struct map first; // variable -> its value in a tile's first element
};

uint32_t tma_tile_period(const struct tma_tile *box)
{
    if (box->elements)
        return TENSOR_GROUP_BYTES;
    return box->swizzle ? box->swizzle * PERIOD_LINES : PERIOD_PLAIN;
}

int64_t tma_tile_bytes(const struct tma_tile *box)
{
    int64_t bytes = (int64_t)type_bytes(box->copy.far->elem);
    if (box->elements)
        return bytes * box->elements;
    for (uint32_t d = 0; d < box->copy.far->rank; d++)
        bytes *= box->extent[d];
    return bytes;
}

// Set the forms of the indices.  Returns why they have none, or NULL.
static const char *find_forms(struct search *s)
{
    struct arena *a = s->facts->arena;
    const struct tma_copy *copy = &s->box->copy;
    for (uint32_t d = 0; d < copy->far->rank; d++) {
        struct ir_expr *x = fold_expr(a, s->facts, copy->far_index[d]);
        s->far[d] = affine_of(a, x);
    }
    for (uint32_t d = 0; d < copy->near->rank; d++) {
        int64_t stride;
        struct ir_expr *x = fold_expr(a, s->facts, copy->near_index[d]);
        struct affine form = affine_of(a, x);
        if (!ir_int_value(ir_buffer_stride(a, copy->near, d), &stride))
            return "the extents of the array in shared memory are open";
        s->near = affine_add(a, &s->near, stride, &form);
    }
    return NULL;
}

// Return the dimension that a loop moves by 1, if it moves no other and the
// place in shared memory too; or the rank of the array.
static uint32_t dimension_of(struct search *s, const struct ir_for *loop)
{
    uint32_t rank = s->box->copy.far->rank, found = rank;
    struct arena *a = s->facts->arena;
    struct affine rest;
    int64_t factor, step;
    for (uint32_t d = 0; d < rank; d++) {
        if (!affine_linear(a, &s->far[d], loop->var, &factor, &rest))
            return rank;
        if (factor && (factor != 1 || found < rank || s->by[d]))
            return rank;
        found = factor ? d : found;
    }
    if (found == rank || !affine_linear(a, &s->near, loop->var, &step, &rest) ||
        !step)
        return rank;
    s->step[found] = step;
    return found;
}

// Return the largest part of an extent that a TMA tile may have and that
// divides it.
static int64_t part_of(int64_t extent)
{
    int64_t part = extent < TENSOR_BOX_MOST ? extent : TENSOR_BOX_MOST;
    while (extent % part)
        part--;
    return part;
}

// Keep a loop around the TMA tiles.
static void keep_loop(struct search *s, const struct ir_for *loop)
{
    struct ir_for *kept = arena_new(s->arena, struct ir_for);
    *kept = *loop;
    vec_push(s->arena, &s->box->around, kept);
}

// Make a loop dimension d of the TMA tile; if it is too long for that, a loop
// over parts of it stays around.
static void take_loop(struct search *s, const struct ir_for *loop, uint32_t d,
                      int64_t extent)
{
    struct arena *a = s->arena;
    int64_t part = part_of(extent);
    struct ir_expr *first = ir_int(a, 0);
    s->by[d] = loop;
    s->box->extent[d] = (uint32_t)part;
    if (part < extent) {
        struct ir_for parts = *loop;
        parts.var = ir_var_new(a, loop->var->name, loop->var->type, VAR_loop,
                               loop->var->span);
        parts.to = ir_int(a, extent / part);
        first = ir_mul(a, ir_read(a, parts.var), ir_int(a, part));
        keep_loop(s, &parts);
    }
    map_set(&s->first, loop->var, first);
}

// Divide the loops, the innermost one first.
static void divide_loops(struct search *s)
{
    struct tma_tile *box = s->box;
    for (uint32_t d = 0; d < box->copy.far->rank; d++)
        box->extent[d] = 1;
    for (size_t i = box->nest.n; i-- > 0;) {
        const struct ir_for *loop = box->nest.at[i];
        int64_t extent;
        bool counts = ir_for_counts(loop) && ir_int_value(loop->to, &extent) &&
                      extent > 0;
        uint32_t d = counts ? dimension_of(s, loop) : box->copy.far->rank;
        if (d < box->copy.far->rank)
            take_loop(s, loop, d, extent);
        else
            keep_loop(s, loop);
    }
    for (size_t i = 0; 2 * i + 1 < box->around.n; i++) {
        struct ir_for *last = box->around.at[box->around.n - 1 - i];
        box->around.at[box->around.n - 1 - i] = box->around.at[i];
        box->around.at[i] = last;
    }
}

// Set where a TMA tile begins.
static void find_first(struct search *s)
{
    struct arena *a = s->arena;
    struct tma_tile *box = s->box;
    const struct tma_copy *copy = &box->copy;
    box->near_at = arena_array(a, struct ir_expr *, copy->near->rank);
    for (uint32_t d = 0; d < copy->far->rank; d++) {
        struct ir_expr *x =
            ir_substitute(a, copy->far_index[d], &s->first, NULL);
        box->far_at[d] = fold_expr(a, s->facts, x);
    }
    for (uint32_t d = 0; d < copy->near->rank; d++) {
        struct ir_expr *x =
            ir_substitute(a, copy->near_index[d], &s->first, NULL);
        box->near_at[d] = fold_expr(a, s->facts, x);
    }
}

// Return the conjunct of a condition that elements of the array may violate,
// or NULL: what it says is then that there is an element.
static struct ir_expr *find_excess(struct search *s, struct ir_expr *condition)
{
    struct conditions all = fold_split(s->facts->arena, condition);
    for (size_t i = 0; i < all.n; i++)
        if (!facts_holds(s->facts, all.at[i]))
            return all.at[i];
    return NULL;
}

// Assume that the element lies in the array, and so the first one of its tile does
// not lie behind it: of tiles of 64 in 4096, that they begin at 4032 at most.
static void assume_element(struct search *s)
{
    struct arena *a = s->facts->arena;
    const struct tma_copy *copy = &s->box->copy;
    for (uint32_t d = 0; d < copy->far->rank; d++) {
        struct ir_expr *x = copy->far_index[d];
        struct affine extent = affine_of(a, copy->far->shape[d]);
        int64_t most = facts_range_of(s->facts, &extent).hi;
        facts_assume(s->facts, ir_binary(a, OP_le, ir_int(a, 0), x), true);
        facts_assume(s->facts, ir_binary(a, OP_lt, x, copy->far->shape[d]),
                     true);
        facts_assume(s->facts,
                     ir_binary(a, OP_lt, s->box->far_at[d], ir_int(a, most)),
                     true);
    }
}

// Return in which byte of the array in shared memory, counted from the start of
// the TMA tile, the schedule has element `number` of it.
static uint64_t byte_of(const struct search *s, uint64_t number)
{
    const struct tma_tile *box = s->box;
    const struct ir_buffer *near = box->copy.near;
    struct ir_swizzle swizzle = near->swizzle;
    int64_t row_length = 1, at = 0;
    for (uint32_t d = box->copy.far->rank; d-- > 0;) {
        at += (int64_t)(number % box->extent[d]) * s->step[d];
        number /= box->extent[d];
    }
    ir_int_value(near->shape[near->rank - 1], &row_length);
    uint64_t row = (uint64_t)(at / row_length);
    uint64_t column = (uint64_t)(at % row_length);
    if (swizzle.bits)
        column ^= (row >> swizzle.shift) % (1u << swizzle.bits) << swizzle.base;
    return (row * (uint64_t)row_length + column) * type_bytes(near->elem);
}

// Return whether each element of a TMA tile lies where TMA puts it with a
// swizzle of `span` bytes.
static bool lies_as(const struct search *s, uint32_t span)
{
    uint64_t bytes = type_bytes(s->box->copy.far->elem);
    uint64_t n = (uint64_t)tma_tile_bytes(s->box) / bytes;
    for (uint64_t i = 0; i < n; i++)
        if (byte_of(s, i) != layout_exchanged(span, i * bytes))
            return false;
    return true;
}

// Find the swizzle.  Rows of the array that are swizzled are as long as those
// of the TMA tile, and as its span.
static const char *find_swizzle(struct search *s)
{
    static const uint32_t spans[] = {32, 64, 128};
    struct tma_tile *box = s->box;
    const struct ir_buffer *near = box->copy.near;
    uint32_t row =
        (uint32_t)type_bytes(near->elem) * box->extent[box->copy.far->rank - 1];
    if (near->pitches || near->strides)
        return "rows in shared memory have gaps";
    if (row % TENSOR_GROUP_BYTES)
        return "a row of the TMA tile is not a multiple of 16 bytes; loops over "
               "it count from 0 one after another";
    if (!near->swizzle.bits)
        return lies_as(s, 0)
                   ? NULL
                   : "the elements of a TMA tile do not lie one behind "
                     "the other in shared memory";
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        if (!ir_is_int_const(near->shape[near->rank - 1],
                             (int64_t)(spans[i] / type_bytes(near->elem))) ||
            row != spans[i] || !lies_as(s, spans[i]))
            continue;
        box->swizzle = spans[i];
        return NULL;
    }
    return "TMA has no such swizzle: rows of 32, 64 or 128 bytes "
           "with groups of 16 exchanged, as by swizzle(1, b, 2), (2, b, 1) or "
           "(3, b, 0) with 2^b elements in 16 bytes";
}

// Return whether every TMA tile begins at a multiple of a number of bytes.
static bool begins_at_multiples(struct search *s, uint32_t bytes)
{
    struct arena *a = s->facts->arena;
    const struct ir_buffer *near = s->box->copy.near;
    int64_t elements = bytes / (int64_t)type_bytes(near->elem), stride;
    struct affine at = affine_number(0);
    for (uint32_t d = 0; d < near->rank; d++) {
        struct affine form = affine_of(a, s->box->near_at[d]);
        ir_int_value(ir_buffer_stride(a, near, d), &stride);
        at = affine_add(a, &at, stride, &form);
    }
    return facts_multiple(s->facts, &at, elements);
}

// Return whether every TMA tile begins at a multiple of 16 bytes of its row in
// global memory. It may begin in front of the row; but where it does not begin
// at such a multiple, an H100 traps.
static bool begins_in_groups(struct search *s)
{
    const struct ir_buffer *far = s->box->copy.far;
    int64_t group = TENSOR_GROUP_BYTES / (int64_t)type_bytes(far->elem);
    struct affine at =
        affine_of(s->facts->arena, s->box->far_at[far->rank - 1]);
    return facts_multiple(s->facts, &at, group);
}

void tma_tile_enter(const struct tma_tile *box, struct facts *f)
{
    for (size_t i = 0; i < box->nest.n; i++) {
        struct ir_stmt loop = {.kind = STMT_for};
        loop.u.loop = *box->nest.at[i];
        facts_enter(f, &loop);
    }
}

bool tma_tile_changes(const struct tma_tile *box, struct ir_expr *x)
{
    for (size_t i = 0; i < box->nest.n; i++)
        if (ir_mentions(x, box->nest.at[i]->var))
            return true;
    return false;
}

// Return whether the nest stays in the array in shared memory also where the
// copy leaves iterations out: TMA tiles are whole.
static bool stays_inside(struct search *s)
{
    struct arena *a = s->facts->arena;
    const struct tma_copy *copy = &s->box->copy;
    for (uint32_t d = 0; d < copy->near->rank; d++) {
        struct ir_expr *x = fold_expr(a, s->facts, copy->near_index[d]);
        struct ir_expr *first = ir_binary(a, OP_le, ir_int(a, 0), x);
        struct ir_expr *last = ir_binary(a, OP_lt, x, copy->near->shape[d]);
        if (tma_tile_changes(s->box, x) &&
            (!facts_holds(s->facts, first) || !facts_holds(s->facts, last)))
            return false;
    }
    return true;
}

// Find everything, inside the nest.
static const char *find(struct search *s)
{
    struct tma_tile *box = s->box;
    const char *fault = find_forms(s);
    if (fault)
        return fault;
    divide_loops(s);
    find_first(s);
    fault = find_swizzle(s);
    if (!fault && !begins_at_multiples(s, tma_tile_period(box)))
        fault = "not every TMA tile begins at a multiple of 128 bytes, or of a "
                "period of the swizzle";
    if (!fault && !begins_in_groups(s))
        fault = "not every TMA tile begins at a multiple of 16 bytes of a row "
                "in global memory";
    if (fault)
        return fault;
    if (!stays_inside(s))
        return "a TMA tile leaves the array in shared memory: loops that count "
               "further than it has elements";
    assume_element(s);
    if (find_excess(s, box->predicate) || find_excess(s, box->copy.condition))
        return "it leaves out elements that exist";
    return NULL;
}

const char *tma_tile_find(struct arena *a, struct facts *f,
                          struct tma_tile *box)
{
    struct facts_mark here = facts_mark(f);
    struct search s = {.arena = a, .facts = f, .box = box};
    s.first.arena = f->arena;
    tma_tile_enter(box, f);
    const char *fault = find(&s);
    facts_leave(f, here);
    return fault;
}
