// Random numbers that a seed decides.

#ifndef TESTS_SUPPORT_DRAW_H
#define TESTS_SUPPORT_DRAW_H

#include "ir/base/num.h"

#include <stdbool.h>
#include <stdint.h>

// Return the state of a generator for case `number` of a seed; never 0.
static inline uint64_t draw_start(uint64_t seed, uint64_t number)
{
    return num_mix(seed * 0x9e3779b97f4a7c15u + number + 1) | 1;
}

// Return the next random number below n.
static inline uint64_t draw_below(uint64_t *state, uint64_t n)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 11) % n;
}

// Return true in `percent` of all cases.
static inline bool draw_chance(uint64_t *state, unsigned percent)
{
    return draw_below(state, 100) < percent;
}

// Return one of the elements of an array.
#define draw_one(state, array)                                                 \
    ((array)[draw_below(state, sizeof(array) / sizeof *(array))])

#endif
