// Layouts of declared arrays.

#include "ir/layout.h"

#include "ir/build.h"

#include <string.h>

static const struct ir_pitch no_gaps = {0, 1, 0};

// The largest gap, in elements, and the largest alignment.
enum { PITCH_MOST = 65536 };

// The most bits of an index that a swizzle takes part in.
enum { SWIZZLE_MOST = 16 };

struct ir_pitch layout_pitch(const struct ir_buffer *b, uint32_t dimension)
{
    return b->pitches && dimension < b->rank ? b->pitches[dimension] : no_gaps;
}

bool layout_has_gaps(struct ir_pitch pitch)
{
    return pitch.pad || pitch.factor != 1;
}

const char *layout_pitch_fault(const struct ir_buffer *b, uint32_t dimension,
                               struct ir_pitch pitch)
{
    if (b->strides)
        return "the array has strides";
    if (dimension >= b->rank)
        return "the array has no such dimension";
    if (dimension + 1 == b->rank)
        return "elements of the last dimension have no rows behind them";
    if (pitch.factor == 0 || pitch.offset >= pitch.factor)
        return "the factor must be positive and greater than the offset";
    if (pitch.factor > PITCH_MOST || pitch.pad > PITCH_MOST)
        return "a gap has 0 to 65536 elements";
    return NULL;
}

void layout_set_pitch(struct arena *a, struct ir_buffer *b, uint32_t dimension,
                      struct ir_pitch pitch)
{
    struct ir_pitch *new = arena_array(a, struct ir_pitch, b->rank);
    for (uint32_t i = 0; i < b->rank; i++)
        new[i] = i == dimension ? pitch : layout_pitch(b, i);
    b->pitches = NULL;
    for (uint32_t i = 0; i < b->rank; i++)
        if (layout_has_gaps(new[i]))
            b->pitches = new;
}

void layout_stack(struct arena *a, struct ir_buffer *b, struct ir_expr *n)
{
    struct ir_expr **shape = arena_array(a, struct ir_expr *, b->rank + 1);
    struct ir_pitch *pitches = arena_array(a, struct ir_pitch, b->rank + 1);
    struct ir_expr **strides = arena_array(a, struct ir_expr *, b->rank + 1);
    for (uint32_t d = 0; d <= b->rank; d++) {
        shape[d] = d ? b->shape[d - 1] : n;
        pitches[d] = layout_pitch(b, d ? d - 1 : b->rank);
        if (b->strides && d)
            strides[d] = b->strides[d - 1];
    }
    if (b->strides)
        strides[0] =
            b->rank ? ir_mul(a, b->shape[0], b->strides[0]) : ir_int(a, 1);
    b->strides = b->strides ? strides : NULL;
    b->pitches = b->pitches ? pitches : NULL;
    b->shape = shape;
    b->rank++;
}

const char *layout_swizzle_fault(const struct ir_buffer *b,
                                 struct ir_swizzle swizzle)
{
    if (b->strides)
        return "the array has strides";
    if (b->rank < 2)
        return "the array has no rows: it has one dimension";
    if (swizzle.bits == 0)
        return "it must exchange at least one bit";
    if (swizzle.bits > SWIZZLE_MOST || swizzle.base > SWIZZLE_MOST ||
        swizzle.shift > SWIZZLE_MOST)
        return "at most 16 bits are sensible";
    return NULL;
}

bool layout_swizzle_fits(const struct ir_buffer *b)
{
    int64_t extent;
    int64_t period = (int64_t)1 << (b->swizzle.bits + b->swizzle.base);
    return !b->swizzle.bits || (ir_int_value(b->shape[b->rank - 1], &extent) &&
                                extent % period == 0);
}

// Return how far apart the neighbours of a dimension lie whose rows have
// `inner` elements.
static struct ir_expr *spread(struct arena *a, struct ir_expr *inner,
                              struct ir_pitch pitch)
{
    struct ir_expr *least = ir_add(a, inner, ir_int(a, pitch.pad));
    if (pitch.factor == 1)
        return least;
    struct ir_expr *factor = ir_int(a, pitch.factor);
    struct ir_expr *up =
        ir_int(a, (int64_t)pitch.factor - 1 - (int64_t)pitch.offset);
    struct ir_expr *steps = ir_binary(a, OP_div, ir_add(a, least, up), factor);
    return ir_add(a, ir_mul(a, steps, factor), ir_int(a, pitch.offset));
}

struct ir_expr **layout_strides(struct arena *a, const struct ir_buffer *b)
{
    if (b->strides || !b->pitches)
        return b->strides;
    struct ir_expr **strides = arena_array(a, struct ir_expr *, b->rank);
    struct ir_expr *inner = ir_int(a, 1);
    for (uint32_t i = b->rank; i-- > 0;) {
        strides[i] = spread(a, inner, b->pitches[i]);
        inner = ir_mul(a, strides[i], b->shape[i]);
    }
    return strides;
}

struct ir_expr *layout_elements(struct arena *a, const struct ir_buffer *b)
{
    struct ir_expr **strides = layout_strides(a, b);
    struct ir_expr *last = ir_int(a, 0);
    if (!strides)
        return ir_buffer_elements(a, b);
    for (uint32_t i = 0; i < b->rank; i++) {
        struct ir_expr *steps = ir_sub(a, b->shape[i], ir_int(a, 1));
        last = ir_add(a, last, ir_mul(a, steps, strides[i]));
    }
    return ir_add(a, last, ir_int(a, 1));
}

struct ir_buffer layout_in_block(struct arena *a, const struct ir_buffer *b)
{
    struct ir_buffer part = *b;
    struct ir_expr **strides = layout_strides(a, b);
    part.rank--;
    part.shape++;
    part.pitches = NULL;
    part.strides = strides ? strides + 1 : NULL;
    return part;
}

struct ir_expr *layout_row(struct arena *a, const struct ir_buffer *b,
                           struct ir_expr *const *index)
{
    struct ir_expr *row = ir_int(a, 0);
    for (uint32_t i = 0; i + 1 < b->rank; i++)
        row = ir_add(a, ir_mul(a, row, b->shape[i]), index[i]);
    return row;
}

struct ir_expr *layout_place(struct arena *a, const struct ir_buffer *b,
                             struct ir_expr *const *index)
{
    struct ir_expr **strides = layout_strides(a, b), *sum = ir_int(a, 0);
    for (uint32_t i = 0; i < b->rank; i++)
        sum = strides ? ir_add(a, sum, ir_mul(a, index[i], strides[i]))
                      : ir_add(a, ir_mul(a, sum, b->shape[i]), index[i]);
    return sum;
}

uint64_t layout_exchanged(uint32_t span, uint64_t address)
{
    enum { GROUP = 16, LINE = 128 };
    uint64_t mask = span ? span / GROUP - 1 : 0;
    return address ^ (address / LINE & mask) * GROUP;
}
