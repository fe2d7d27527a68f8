// Expands ir/arith.def into functions and a table of them.

#include "ir/arith.h"
#include "ir/build.h"

#include <math.h>
#include <string.h>

static const char overflow[] = "integer overflow";
static const char zero_divisor[] = "division by zero";
static const char bad_shift[] = "shift by a negative number or the width";
static const char bad_ceildiv[] = "ceildiv of a negative number or by zero";

// Return a < b, unsigned for the unsigned types.
static bool less(struct type t, int64_t a, int64_t b)
{
    return t.kind == TYPE_u64 ? (uint64_t)a < (uint64_t)b : a < b;
}

// Return a value wrapped to its type; the index types must hold it.
static int64_t fit(struct type t, int64_t value, const char **fault)
{
    int64_t wrapped = ir_wrap_int(t, value);
    if (wrapped != value && type_is_index(t))
        *fault = overflow;
    return wrapped;
}

// Return a + b, wrapped; the index types must hold it.
static int64_t add(struct type t, int64_t a, int64_t b, const char **fault)
{
    int64_t r;
    if (__builtin_add_overflow(a, b, &r) && type_is_index(t))
        *fault = overflow;
    return fit(t, r, fault);
}

// Return a - b, likewise.
static int64_t subtract(struct type t, int64_t a, int64_t b, const char **fault)
{
    int64_t r;
    if (__builtin_sub_overflow(a, b, &r) && type_is_index(t))
        *fault = overflow;
    return fit(t, r, fault);
}

// Return a * b, likewise.
static int64_t multiply(struct type t, int64_t a, int64_t b, const char **fault)
{
    int64_t r;
    if (__builtin_mul_overflow(a, b, &r) && type_is_index(t))
        *fault = overflow;
    return fit(t, r, fault);
}

// Return whether a quotient exists; the least number over -1 has none.
static bool divides(struct type t, int64_t a, int64_t b, const char **fault)
{
    int64_t least = -(INT64_C(1) << (type_bits(t) - 2)) * 2;
    if (b == 0)
        *fault = zero_divisor;
    else if (b == -1 && a == least && type_is_signed(t))
        *fault = overflow;
    else
        return true;
    return false;
}

// Return how many of the bits of a number of type t are set.
static int64_t bits_set(struct type t, int64_t a)
{
    return __builtin_popcountll((uint64_t)a << (64 - type_bits(t)));
}

// Return a / b towards zero, if there is a quotient.
static int64_t divide(struct type t, int64_t a, int64_t b, const char **fault)
{
    if (!divides(t, a, b, fault))
        return 0;
    if (t.kind == TYPE_u64)
        return (int64_t)((uint64_t)a / (uint64_t)b);
    return a / b;
}

// Return a - a / b * b, if there is a quotient.
static int64_t remainder_of(struct type t, int64_t a, int64_t b,
                            const char **fault)
{
    if (!divides(t, a, b, fault))
        return 0;
    if (t.kind == TYPE_u64)
        return (int64_t)((uint64_t)a % (uint64_t)b);
    return a % b;
}

// Return a / b rounded up, for a >= 0 and b > 0.
static int64_t divide_up(struct type t, int64_t a, int64_t b,
                         const char **fault)
{
    if (less(t, a, 0) || !less(t, 0, b)) {
        *fault = bad_ceildiv;
        return 0;
    }
    uint64_t quotient = (uint64_t)divide(t, a, b, fault);
    return (int64_t)(quotient + (remainder_of(t, a, b, fault) != 0));
}

// Return the upper half of a product of unsigned numbers.
static int64_t upper_half(struct type t, int64_t a, int64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(uint64_t)a * (uint64_t)b;
    return (int64_t)(uint64_t)(product >> type_bits(t));
}

// Return whether b is a shift count for the type.
static bool shifts(struct type t, int64_t b, const char **fault)
{
    bool ok = b >= 0 && b < (int64_t)type_bits(t);
    if (!ok)
        *fault = bad_shift;
    return ok;
}

// Return a times 2^b, wrapped; the index types must hold it.
static int64_t shift_left(struct type t, int64_t a, int64_t b,
                          const char **fault)
{
    if (!shifts(t, b, fault))
        return 0;
    int64_t r = (int64_t)((uint64_t)a << b);
    if (type_is_index(t) && r >> b != a)
        *fault = overflow;
    return fit(t, r, fault);
}

// Return a over 2^b, rounded down.
static int64_t shift_right(struct type t, int64_t a, int64_t b,
                           const char **fault)
{
    if (!shifts(t, b, fault))
        return 0;
    return t.kind == TYPE_u64 ? (int64_t)((uint64_t)a >> b) : a >> b;
}

// Return the lesser number; NaN loses, and -0 is less than 0.
static double lesser(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    if (a == b)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

// Return a * b + c rounded to odd, so that rounding once more, to f32 or
// less, gives the correctly rounded result.  a * b is exact.
static double fma_to_odd(double a, double b, double c)
{
    double product = a * b;
    double sum = product + c;
    if (!isfinite(sum))
        return sum;
    double shadow = sum - product;
    double error = (product - (sum - shadow)) + (c - shadow);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error != 0 && bits % 2 == 0)
        sum = nextafter(sum, error > 0 ? INFINITY : -INFINITY);
    return sum;
}

float arith_tf32(float x)
{
    enum { CUT = 13, HALF = 1 << (CUT - 1) };
    uint32_t bits;
    if (isnan(x))
        return x;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + HALF) >> CUT << CUT;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define UNUSED (void)t, (void)a, (void)b, (void)c

#define INT(name, value)                                                       \
    static int64_t int_##name(struct type t, int64_t a, int64_t b, int64_t c,  \
                              const char **fault)                              \
    {                                                                          \
        UNUSED;                                                                \
        (void)fault;                                                           \
        return value;                                                          \
    }
#define FLOAT(name, value)                                                     \
    static double float_##name(struct type t, double a, double b, double c)    \
    {                                                                          \
        UNUSED;                                                                \
        return value;                                                          \
    }
#define TEST(name, value)                                                      \
    static bool test_##name(double a, double b)                                \
    {                                                                          \
        (void)b;                                                               \
        return value;                                                          \
    }
#include "ir/arith.def"
#undef INT
#undef FLOAT
#undef TEST

static const struct arith rows[OP_COUNT] = {
#define INT(name, value)   [OP_##name].on_int = int_##name,
#define FLOAT(name, value) [OP_##name].on_float = float_##name,
#define TEST(name, value)  [OP_##name].test = test_##name,
#include "ir/arith.def"
#undef INT
#undef FLOAT
#undef TEST
};

const struct arith *ir_arith(enum ir_op op)
{
    return &rows[op];
}

union number ir_apply(enum ir_op op, struct type t, const union number *x,
                      const char **fault)
{
    const struct arith *row = &rows[op];
    if (!type_is_float(t))
        return (union number){
            .i = row->on_int(t, x[0].i, x[1].i, x[2].i, fault)};
    if (row->test)
        return (union number){.i = row->test(x[0].f, x[1].f)};
    double r = row->on_float(t, x[0].f, x[1].f, x[2].f);
    return (union number){.f = ir_round_float(t, r)};
}
