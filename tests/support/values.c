// Random numbers, names, spaces and axes for calls.

#include "tests/support/values.h"
#include "passes/analysis/dot.h"
#include "tests/support/draw.h"
#include "tests/support/suits.h"

#include <string.h>

// Return the next random number below n.
static uint64_t below(const struct caller *by, uint64_t n)
{
    return draw_below(by->random, n);
}

// Return registers for the warpgroups of specialize, mostly as they are, how
// many products are in flight, or how many producers there are.
static int64_t registers(const struct caller *by, size_t argument)
{
    if (argument == 3)
        return (int64_t)below(by, 2);
    if (argument == 4)
        return 1 + (int64_t)below(by, 2);
    if (below(by, 4))
        return 0;
    return argument == 1 ? 40 : 232;
}

// Return whether an integer of a primitive is a dimension, or as small.
static bool is_small(enum sched_prim prim, size_t argument)
{
    switch (prim) {
    case PRIM_storage_align: return argument != 2;
    case PRIM_pipeline:
    case PRIM_pingpong:
    case PRIM_rolling_buffer:
    case PRIM_pad:
    case PRIM_swizzle:
    case PRIM_rfactor:
    case PRIM_annotate:
    case PRIM_reorder_block_iter_var: return true;
    default: return false;
    }
}

// Return a random integer argument; where it is a dimension, say, a small one.
static int64_t any_number(const struct caller *by, const struct sched_call *c)
{
    return !by->numbers ? (int64_t)below(by, 6)
           : is_small(c->prim, c->args.n)
               ? (int64_t)below(by, 4)
               : by->numbers[below(by, by->n_numbers)];
}

// Return a dimension of the array that a call names, or that its stage stores,
// of which the last `but` do not count.
static int64_t dimension(const struct caller *by, const struct sched_call *c,
                         uint32_t but)
{
    const struct ir_buffer *array = sched_arg_buffer(c, 0);
    bool any = array && array->rank > but;
    return any ? (int64_t)below(by, array->rank - but) : 0;
}

// Return an integer argument that suits the primitive.
static int64_t suited_number(const struct caller *by,
                             const struct sched_call *c)
{
    static const int64_t lanes[] = {2, 4};
    static const int64_t factors[] = {1, 2, 2, 3, 4, 4, 4, 5, 8, 8, 16, 32, 33};
    size_t at = c->args.n;
    switch (c->prim) {
    case PRIM_split: return draw_one(by->random, factors);
    case PRIM_pipeline: return 2 + (int64_t)below(by, 3);
    case PRIM_pingpong: return 2 + (int64_t)below(by, 2);
    case PRIM_raster: return draw_one(by->random, lanes);
    case PRIM_persistent: return 1 + (int64_t)below(by, 4);
    case PRIM_stream:
    case PRIM_loop_partition: return 1 + (int64_t)below(by, 4);
    case PRIM_swizzle: return (int64_t)below(by, 2) + (at == 1);
    case PRIM_pad: return at == 1 ? dimension(by, c, 1) : (int64_t)below(by, 4);
    case PRIM_storage_align:
        return at == 1   ? dimension(by, c, 1)
               : at == 2 ? 4 << below(by, 4)
                         : (int64_t)below(by, 4);
    case PRIM_rolling_buffer: return dimension(by, c, 0);
    default: return any_number(by, c);
    }
}

int64_t value_number(const struct caller *by, const struct sched_call *c)
{
    if (c->prim == PRIM_specialize)
        return registers(by, c->args.n);
    return by->is_suited && below(by, 8) ? suited_number(by, c)
                                         : any_number(by, c);
}

bool value_is_any(const struct caller *by, const struct sched_call *c)
{
    if (!by->is_suited || !below(by, 8))
        return below(by, 2);
    for (size_t i = 0; i < c->args.n; i++) {
        if (c->args.at[i].kind == VALUE_any)
            return false;
    }
    return below(by, 4) > 0;
}

// Return a mark of the loop or stage that a call names, or NULL.
static const char *mark_of(const struct caller *by, const struct ir_stmt *s)
{
    size_t n = s->kind == STMT_for     ? s->u.loop.attrs.n
               : s->kind == STMT_stage ? s->u.stage.attrs.n
                                       : 0;
    if (n == 0)
        return NULL;
    size_t at = below(by, n);
    return s->kind == STMT_for ? s->u.loop.attrs.at[at].name
                               : s->u.stage.attrs.at[at].name;
}

// Return a name that suits the primitive, or NULL.
static const char *suited_key(const struct caller *by,
                              const struct sched_call *c)
{
    static const char *const ways[] = {"cp_async", "cp_async", "tma", "bulk"};
    static const char *const orders[] = {"column", "grouped", "snake",
                                         "hilbert"};
    switch (c->prim) {
    case PRIM_copy_via:
        return suits_tma_tile(c->pass, sched_arg(c, 0)) || !below(by, 3)
                   ? draw_one(by->random, ways)
                   : "cp_async";
    case PRIM_tensorize:
        return dot_loop(c->pass->scratch, sched_arg(c, 0)) ? NULL : "dp4a";
    case PRIM_raster: return draw_one(by->random, orders);
    case PRIM_persistent: return "sms";
    case PRIM_unannotate: return mark_of(by, sched_arg(c, 0));
    default: return NULL;
    }
}

const char *value_key(const struct caller *by, const struct sched_call *c)
{
    static const char *const hints[] = {"hint", "mark"};
    static const char *const ways[] = {"bulk", "tma"};
    static const char *const products[] = {"mma_m16n8k16_f16_f32",
                                           "mma_m16n8k8_f16_f32"};
    static const char *const counts[] = {"sms", "blocks"};
    static const char *const orders[] = {"column", "snake"};
    static const char *const attributes[] = {"programmatic", "cooperative"};
    const char *const *keys = c->prim == PRIM_copy_via           ? ways
                              : c->prim == PRIM_tensorize        ? products
                              : c->prim == PRIM_persistent       ? counts
                              : c->prim == PRIM_raster           ? orders
                              : c->prim == PRIM_launch_attribute ? attributes
                                                                 : hints;
    const char *suited = by->is_suited ? suited_key(by, c) : NULL;
    return suited ? suited : keys[below(by, 2)];
}

// Return whether what a call makes, or moves to another memory, may lie near a
// thread or a block.
static bool may_be_near(const struct sched_call *c)
{
    struct ir_stmt *stage = sched_arg(c, 0);
    const struct ir_buffer *array = NULL;
    if (c->args.at[0].kind == VALUE_array)
        return suits_space(c->pass, sched_arg_buffer(c, 0));
    array = c->args.n > 1 && c->args.at[1].kind == VALUE_array
                ? sched_arg_buffer(c, 1)
                : sched_stored(stage);
    return array && suits_near(c->pass, stage, array);
}

enum space value_space(const struct caller *by, const struct sched_call *c)
{
    static const enum space usual[] = {SPACE_shared, SPACE_shared,
                                       SPACE_local,  SPACE_local,
                                       SPACE_global, SPACE_constant};
    if (!by->numbers)
        return (enum space)below(by, SPACE_COUNT);
    if (!by->is_suited || !below(by, 24))
        return draw_one(by->random, usual);
    return may_be_near(c) ? usual[below(by, 5)] : SPACE_global;
}

enum axis value_axis(const struct caller *by)
{
    uint64_t n = by->is_suited && below(by, 8) ? 6 : 9;
    return (enum axis)(AXIS_block_x + (int)below(by, n));
}
