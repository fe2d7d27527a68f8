// Index maps that are one to one: each index is taken apart into digits by
// quotients and remainders of numbers, and the digits are put together again.
//
//   (i, j) -> (i / 4, j * 4 + i % 4)

#ifndef PASSES_SCHEDULE_COMMON_INDEX_MAP_H
#define PASSES_SCHEDULE_COMMON_INDEX_MAP_H

#include "passes/schedule/prim.h"

// Part of an index: index / lower, % extent unless it is the last part.
struct index_digit {
    uint32_t var;
    int64_t lower;
    int64_t extent;       // number of values; 0: not a number
    struct ir_expr *size; // the same as an expression
    bool is_last;
    int64_t scale;   // of the digit in the new index
    uint32_t result; // the new index that it is part of
};
struct index_digits VEC(struct index_digit);

// A checked map.
struct index_map {
    const struct sched_map *map;
    struct ir_expr *const *from; // the extent of each old index
    struct ir_expr **extents;    // of each new one
    struct index_digits digits;  // ordered by `result`, then by `scale`
    bool pads;                   // some new indices may belong to no old ones
};

// Check a map of indices with such extents; `name` is what has them.
// Requires:
//  - there are as many indices as extents                     E0679
//  - the map is one to one and made of digits                 E0680
bool index_map_check(const struct sched_call *c, const struct sched_map *map,
                     struct ir_expr *const *extents, uint32_t n,
                     const char *name, struct index_map *out);

// Return the new indices of old ones.
struct ir_expr **index_map_apply(struct pass *p, const struct sched_map *map,
                                 struct ir_expr *const *index);

// Return the old indices of new ones.
struct ir_expr **index_map_invert(struct pass *p, const struct index_map *m,
                                  struct ir_expr *const *index);

// Return the condition that new indices belong to the old ones `index`, or
// NULL if they always do.
struct ir_expr *index_map_inside(struct pass *p, const struct index_map *m,
                                 struct ir_expr *const *index);

#endif
