// swizzle -- exchange the columns of each row, another way in each row.
//
//   alloc T: f32[64, 32] in shared   =>   swizzle(T, 3, 2)
//   alloc T: f32[64, 32] in shared swizzle(3, 2, 0)
//
// Column j of row r lies where column j ^ ((r >> shift) % 2^bits << base)
// would: groups of 2^base elements stay together, and 2^shift rows share a
// pattern.  Rows are counted over all dimensions but the last.  Where a row has
// 2^n elements this is CuTe's Swizzle<bits, base, n - base + shift>.  That rows
// are a multiple of 2^(bits + base) elements long is checked once the array is
// shrunk to what is used of it.  If that leaves too few rows for an exchange, it
// is warned of (E0789).
//
// Requires:
//  1. the kernel declares the array                         E0675
//  2. the array has rows                                    E0678
//  3. bits is 1 to 16, base and shift are 0 to 16           E0678

#include "passes/schedule/common/pitch.h"

#include "ir/layout.h"

bool sched_swizzle(struct sched_call *c)
{
    struct ir_buffer *array = sched_arg_buffer(c, 0);
    if (!sched_check_declared(c, array, "swizzle"))
        return false;
    struct ir_swizzle swizzle = {pitch_number(c, 1), pitch_number(c, 2),
                                 c->args.n > 3 ? pitch_number(c, 3) : 0};
    const char *wrong = layout_swizzle_fault(array, swizzle);
    if (wrong) {
        diag_error(c->pass->diags, c->span, D_layout_swizzle, array->name,
                   wrong);
        diag_note(c->pass->diags, array->span, "`%s` is here", array->name);
        return false;
    }
    array->swizzle = swizzle;
    array->swizzled = (struct span){0};
    return true;
}
