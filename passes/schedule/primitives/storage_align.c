// storage_align -- put rows of a dimension k * factor + offset elements apart.
//
//   alloc T: f32[32, 8] in shared   =>   storage_align(T, 0, 32, 1)
//   alloc T: f32[32, 8] in shared align(0, 32, 1)   rows lie 33 elements apart
//
// k is the least with which a row fits, once the array is shrunk to what is
// used of it.  Dimensions count from 0, or from -1 backwards.
//
// Requires:
//  1. the kernel declares the array                               E0675
//  2. the dimension is one with rows behind it: not the last one  E0677
//  3. 0 <= offset < factor <= 65536                               E0677

#include "passes/schedule/common/pitch.h"

bool sched_storage_align(struct sched_call *c)
{
    struct ir_buffer *array = pitch_array(c);
    if (!array)
        return false;
    struct ir_pitch pitch = pitch_old(c, array);
    pitch.factor = pitch_number(c, 2);
    pitch.offset = pitch_number(c, 3);
    return pitch_set(c, array, pitch);
}
