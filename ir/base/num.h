// Integer arithmetic for extents, offsets and constant folding.
// Functions with an `out` return false, and leave *out alone, on overflow.

#ifndef IR_BASE_NUM_H
#define IR_BASE_NUM_H

#include <stdbool.h>
#include <stdint.h>

static inline bool num_add(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    if (__builtin_add_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

static inline bool num_sub(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    if (__builtin_sub_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

static inline bool num_mul(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    if (__builtin_mul_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

// Quotient towards zero, as C has it; false for b == 0 too.
static inline bool num_div(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    *out = a / b;
    return true;
}

// Remainder with the sign of a, as C has it; false for b == 0 too.
static inline bool num_mod(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    *out = a % b;
    return true;
}

// Quotient rounded up, for a >= 0 and b > 0; false otherwise.
static inline bool num_ceildiv(int64_t a, int64_t b, int64_t *out)
{
    if (a < 0 || b <= 0)
        return false;
    *out = a / b + (a % b != 0);
    return true;
}

// Greatest common divisor of the magnitudes; gcd(0, n) is n.
static inline int64_t num_gcd(int64_t a, int64_t b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

// 64 bits that look random, other ones for each x: the finaliser of splitmix64.
static inline uint64_t num_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

#endif
