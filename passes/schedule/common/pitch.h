// Gaps between the rows of an array: what pad and storage_align share.

#ifndef PASSES_SCHEDULE_COMMON_PITCH_H
#define PASSES_SCHEDULE_COMMON_PITCH_H

#include "passes/schedule/prim.h"

// Return the array of the call; NULL, reported, if its layout is fixed.
struct ir_buffer *pitch_array(const struct sched_call *c);

// Return the gaps of the dimension that is the call's second argument.
struct ir_pitch pitch_old(const struct sched_call *c,
                          const struct ir_buffer *array);

// Set the gaps of that dimension; false after an error.
bool pitch_set(const struct sched_call *c, struct ir_buffer *array,
               struct ir_pitch pitch);

// Return a number of the call as 32 bits, a negative or larger one as one that
// is too large for a gap.
uint32_t pitch_number(const struct sched_call *c, size_t i);

#endif
