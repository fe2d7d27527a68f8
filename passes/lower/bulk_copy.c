// Finds the bulk copies that do what a nest copies element by element.
//
//   for r in 0..4 { for j in 0..64 { S[r, j] = A[i * 4 + r, k * 64 + j] } }   =>
//
//   for r in 0..4 { bulk copy of 64 elements of A at [i * 4 + r, k * 64] to S[r, 0] }
//
// A loop is part of a bulk copy if each iteration continues where the one
// before ended, on both sides. Other loops stay around the bulk copies. A
// condition that depends on no loop of the nest decides whether the bulk copies
// run at all; none may leave out a part of one.

#include "passes/lower/bulk_copy.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"
#include "passes/opt/fold.h"

// What is known of the nest.
struct search {
    struct arena *arena; // of what stays
    struct facts *facts; // inside the nest
    struct tma_tile *tile;
    struct affine far, near; // the places, in elements
    bool *taken;             // which loops of the nest are part of a bulk copy
    struct map first;        // their variables -> 0
};

// Return the place of an element, counted from the start of its array.
static struct affine place_of(struct search *s, const struct ir_buffer *b,
                              struct ir_expr *const *index)
{
    struct arena *a = s->facts->arena;
    struct affine place = affine_number(0);
    for (uint32_t d = 0; d < b->rank; d++) {
        struct affine at = affine_of(a, fold_expr(a, s->facts, index[d]));
        struct affine stride = affine_of(a, tma_copy_stride(a, b, d));
        at = affine_mul(a, &at, &stride);
        place = affine_add(a, &place, 1, &at);
    }
    return place;
}

// Return whether an iteration of a loop goes on where the one before has ended.
static bool goes_on(struct search *s, const struct ir_for *loop,
                    int64_t *extent)
{
    struct arena *a = s->facts->arena;
    struct affine rest;
    int64_t far, near;
    return ir_for_counts(loop) && ir_int_value(loop->to, extent) &&
           *extent > 0 && affine_linear(a, &s->far, loop->var, &far, &rest) &&
           affine_linear(a, &s->near, loop->var, &near, &rest) && far == near &&
           far == s->tile->elements;
}

// Make all loops part of the bulk copy that continue behind it; returns whether
// there were any.
static bool take_loops(struct search *s)
{
    struct tma_tile *tile = s->tile;
    bool any = false;
    for (size_t i = tile->nest.n; i-- > 0;) {
        int64_t extent;
        if (s->taken[i] || !goes_on(s, tile->nest.at[i], &extent))
            continue;
        s->taken[i] = any = true;
        tile->elements *= (uint32_t)extent;
        map_set(&s->first, tile->nest.at[i]->var, ir_int(s->arena, 0));
    }
    return any;
}

// Keep the other loops around.
static void keep_loops(struct search *s)
{
    for (size_t i = 0; i < s->tile->nest.n; i++) {
        if (s->taken[i])
            continue;
        struct ir_for *kept = arena_new(s->arena, struct ir_for);
        *kept = *s->tile->nest.at[i];
        vec_push(s->arena, &s->tile->around, kept);
    }
}

// Set where a bulk copy begins.
static void find_first(struct search *s)
{
    struct arena *a = s->arena;
    struct tma_tile *tile = s->tile;
    const struct tma_copy *copy = &tile->copy;
    tile->near_at = arena_array(a, struct ir_expr *, copy->near->rank);
    for (uint32_t d = 0; d < copy->far->rank; d++)
        tile->far_at[d] = fold_expr(
            a, s->facts, ir_substitute(a, copy->far_index[d], &s->first, NULL));
    for (uint32_t d = 0; d < copy->near->rank; d++)
        tile->near_at[d] =
            fold_expr(a, s->facts,
                      ir_substitute(a, copy->near_index[d], &s->first, NULL));
}

// Return whether every bulk copy begins at a multiple of 16 bytes of an array.
static bool begins_at_groups(struct search *s, const struct ir_buffer *b,
                             struct ir_expr *const *first)
{
    struct affine place = place_of(s, b, first);
    int64_t group = TENSOR_GROUP_BYTES / (int64_t)type_bytes(b->elem);
    return facts_multiple(s->facts, &place, group);
}

// Find the condition under which there are bulk copies.  Returns false if it
// may leave out a part of them.
static bool find_condition(struct search *s)
{
    size_t open = 0;
    struct conditions all = fold_split(s->arena, s->tile->predicate);
    for (size_t i = 0; i < all.n; i++) {
        struct ir_expr *condition = fold_expr(s->arena, s->facts, all.at[i]);
        if (ir_is_true(condition))
            continue;
        if (tma_tile_changes(s->tile, condition))
            return false;
        all.at[open++] = condition;
    }
    if (open)
        s->tile->condition = fold_all(s->arena, all.at, open);
    return true;
}

// Return whether zeros may be stored in the place of what is copied.
static bool may_fill(struct search *s)
{
    bool may = false;
    struct conditions all =
        fold_split(s->facts->arena, s->tile->copy.condition);
    for (size_t i = 0; i < all.n; i++)
        may |= !ir_is_true(fold_expr(s->arena, s->facts, all.at[i]));
    return may;
}

// Find everything, inside the nest.
static const char *find(struct search *s)
{
    struct tma_tile *tile = s->tile;
    const struct tma_copy *copy = &tile->copy;
    if (copy->near->swizzle.bits)
        return "the array in shared memory is swizzled";
    s->far = place_of(s, copy->far, copy->far_index);
    s->near = place_of(s, copy->near, copy->near_index);
    tile->elements = 1;
    while (take_loops(s))
        continue;
    keep_loops(s);
    find_first(s);
    if (tma_tile_bytes(tile) % TENSOR_GROUP_BYTES)
        return "the contiguous part on both sides is not a multiple of 16 "
               "bytes; loops over it count from 0 one after another";
    if (!begins_at_groups(s, copy->far, tile->far_at) ||
        !begins_at_groups(s, copy->near, tile->near_at))
        return "not every bulk copy begins at a multiple of 16 bytes";
    if (!find_condition(s))
        return "a condition may leave out a part of a bulk copy";
    return may_fill(s) ? "it may store zeros where a condition fails" : NULL;
}

const char *bulk_copy_find(struct arena *a, struct facts *f,
                           struct tma_tile *tile)
{
    struct facts_mark here = facts_mark(f);
    struct search s = {.arena = a, .facts = f, .tile = tile};
    s.first.arena = f->arena;
    s.taken = arena_array(f->arena, bool, tile->nest.n + 1);
    tma_tile_enter(tile, f);
    const char *fault = find(&s);
    facts_leave(f, here);
    return fault;
}
