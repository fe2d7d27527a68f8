// Where the arrays of a launch in shared memory lie, relative to each other.
//
//   S[thread.x] = ...        S and T share their bytes: the first statement of
//   ... = S[...]             the launch that uses T comes behind a barrier
//   barrier                  that comes behind the last one that uses S
//   T[thread.x] = ...
//
// Where a branch holds all uses, and barriers, that may be so on each side.

#ifndef IR_SHARED_H
#define IR_SHARED_H

#include "ir/ir.h"

// What every launch may have without asking for it; more has to be dynamic
// shared memory.
enum { SHARED_STATIC_MOST = 48 * 1024, SHARED_ALIGN = 16 };

// An array and its place, in bytes.
struct shared_place {
    const struct ir_buffer *buffer;
    int64_t offset, bytes;
    size_t first, last; // statements of the launch that use it
};

// All of a launch, in the order of their declarations.
struct shared_layout {
    int64_t bytes; // of all together; INT64_MAX if 63 bits do not hold them
    bool overlaps; // some arrays share their bytes
    struct VEC(struct shared_place) places;
};

// Lay out the arrays of a launch.  Extents that are no numbers count as 0.
struct shared_layout shared_layout(struct arena *a,
                                   const struct ir_launch *launch);

// Return the bytes of an array whose extents are numbers, 0 for others;
// INT64_MAX if 63 bits do not hold them.
int64_t shared_bytes(struct arena *a, const struct ir_buffer *b);

// Return the place of an array, or NULL if it has none.
const struct shared_place *shared_find(const struct shared_layout *layout,
                                       const struct ir_buffer *buffer);

// Return the bytes that have to be asked for when the launch is started: all
// of them if they are more than SHARED_STATIC_MOST, else 0.
int64_t shared_dynamic(const struct shared_layout *layout);

#endif
