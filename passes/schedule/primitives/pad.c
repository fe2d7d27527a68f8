// pad -- leave elements unused behind each row of a dimension.
//
//   alloc T: f32[32, 32] in shared   =>   pad(T, 0, 1)
//   alloc T: f32[32, 32] in shared pad(0, 1)      rows lie 33 elements apart
//
// The rows are those that the array has once it is shrunk to what is used of
// it.  Dimensions count from 0, or from -1 backwards.
//
// Requires:
//  1. the kernel declares the array                               E0675
//  2. the dimension is one with rows behind it: not the last one  E0677
//  3. the gap is at least 0 and at most 65536                     E0677

#include "passes/schedule/common/pitch.h"

bool sched_pad(struct sched_call *c)
{
    struct ir_buffer *array = pitch_array(c);
    if (!array)
        return false;
    struct ir_pitch pitch = pitch_old(c, array);
    pitch.pad = pitch_number(c, 2);
    return pitch_set(c, array, pitch);
}
