// Gaps between the rows of an array.

#include "passes/schedule/common/pitch.h"

#include "ir/layout.h"

// Return the dimension that the call's second argument means; negative ones
// count from the last.
static uint32_t dimension_of(const struct sched_call *c,
                             const struct ir_buffer *array)
{
    int64_t d = c->args.at[1].number;
    if (d < 0)
        d += array->rank;
    return d < 0 || d >= array->rank ? array->rank : (uint32_t)d;
}

struct ir_buffer *pitch_array(const struct sched_call *c)
{
    struct ir_buffer *array = sched_arg_buffer(c, 0);
    return sched_check_declared(c, array, "pad the rows of") ? array : NULL;
}

struct ir_pitch pitch_old(const struct sched_call *c,
                          const struct ir_buffer *array)
{
    return layout_pitch(array, dimension_of(c, array));
}

uint32_t pitch_number(const struct sched_call *c, size_t i)
{
    int64_t n = c->args.at[i].number;
    return n < 0 || n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

bool pitch_set(const struct sched_call *c, struct ir_buffer *array,
               struct ir_pitch pitch)
{
    uint32_t dimension = dimension_of(c, array);
    const char *wrong = layout_pitch_fault(array, dimension, pitch);
    if (wrong) {
        diag_error(c->pass->diags, c->span, D_layout_pitch, array->name, wrong);
        diag_note(c->pass->diags, array->span, "`%s` is here", array->name);
        if (array->rank > 1)
            diag_help(c->pass->diags, "`%s` has gaps in dimension 0 to %u",
                      array->name, array->rank - 2);
        return false;
    }
    layout_set_pitch(c->pass->arena, array, dimension, pitch);
    return true;
}
