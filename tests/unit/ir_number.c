// Conversions and arithmetic on single numbers, against formulations that
// share nothing with the code under test: tables of all numbers of a narrow
// type, the C compiler's own conversions, wider arithmetic.

#include "ir/arith.h"
#include "ir/build.h"
#include "ir/eval.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A narrow floating type, described by its fields.
struct narrow {
    enum type_kind kind;
    int exponent_bits, mantissa_bits;
    bool has_infinity; // encodings of an all-ones exponent are inf and NaN
    bool saturates;    // numbers too great become the greatest
};

static const struct narrow narrows[] = {
    {TYPE_f16, 5, 10, true, false},
    {TYPE_bf16, 8, 7, true, false},
    {TYPE_f8e4m3, 4, 3, false, true},
    {TYPE_f8e5m2, 5, 2, true, true},
};

enum { N_NARROWS = sizeof narrows / sizeof *narrows };

// Return what an encoding without its sign stands for.
static double decoded(const struct narrow *n, unsigned code)
{
    int ones = (1 << n->exponent_bits) - 1;
    int bias = ones / 2;
    int exponent = (int)(code >> n->mantissa_bits);
    int fraction = (int)(code & ((1u << n->mantissa_bits) - 1));
    bool is_last = fraction == (1 << n->mantissa_bits) - 1;
    if (exponent == ones && n->has_infinity)
        return fraction ? NAN : INFINITY;
    if (exponent == ones && !n->has_infinity && is_last)
        return NAN;
    double digits = fraction / (double)(1 << n->mantissa_bits);
    return exponent ? (1 + digits) * pow(2, exponent - bias)
                    : digits * pow(2, 1 - bias);
}

// Return how many finite encodings without a sign there are.
static unsigned finite_codes(const struct narrow *n)
{
    unsigned code = 0;
    while (isfinite(decoded(n, code)))
        code++;
    return code;
}

// Return how many bits an encoding has.
static int code_bits(const struct narrow *n)
{
    return 1 + n->exponent_bits + n->mantissa_bits;
}

// Every encoding is read as its fields say, and written back as it was.
static void every_encoding_survives(void **state)
{
    (void)state;
    for (int k = 0; k < N_NARROWS; k++) {
        const struct narrow *n = &narrows[k];
        struct type t = type_scalar(n->kind);
        unsigned sign = 1u << (code_bits(n) - 1);
        for (unsigned code = 0; code < sign; code++) {
            double wanted = decoded(n, code);
            for (int negative = 0; negative < 2; negative++) {
                uint16_t in = (uint16_t)(code | (negative ? sign : 0)), out = 0;
                double value = eval_load_float(t, &in);
                if (isnan(wanted)) {
                    assert_true(isnan(value));
                    continue;
                }
                assert_true(value == (negative ? -wanted : wanted));
                assert_int_equal(!!signbit(value), negative);
                eval_store_float(t, &out, value);
                if (isfinite(wanted))
                    assert_int_equal(in, out);
            }
        }
    }
}

// Fails unless the number rounds to the one of an encoding.
static void rounds_to(const struct narrow *n, double value, unsigned code)
{
    struct type t = type_scalar(n->kind);
    assert_true(ir_round_float(t, value) == decoded(n, code));
    assert_true(ir_round_float(t, -value) == -decoded(n, code));
}

// Between neighbours the nearer one is taken, halfway the even one.
static void between_neighbours_the_nearer_is_taken(void **state)
{
    (void)state;
    for (int k = 0; k < N_NARROWS; k++) {
        const struct narrow *n = &narrows[k];
        unsigned end = finite_codes(n);
        for (unsigned code = 0; code + 1 < end; code++) {
            double low = decoded(n, code), high = decoded(n, code + 1);
            double middle = low + (high - low) / 2;
            rounds_to(n, middle, code + code % 2);
            rounds_to(n, nextafter(middle, 0), code);
            rounds_to(n, nextafter(middle, INFINITY), code + 1);
        }
    }
}

// Past the greatest number plus half a step, f16 and bf16 overflow to
// infinity, and the 8-bit types stay at their greatest number.
static void too_great_overflows_or_saturates(void **state)
{
    (void)state;
    for (int k = 0; k < N_NARROWS; k++) {
        const struct narrow *n = &narrows[k];
        struct type t = type_scalar(n->kind);
        unsigned last = finite_codes(n) - 1;
        double greatest = decoded(n, last);
        double half = (greatest - decoded(n, last - 1)) / 2;
        double over = n->saturates ? greatest : INFINITY;
        rounds_to(n, nextafter(greatest + half, 0), last);
        assert_true(ir_round_float(t, greatest + half) == over);
        assert_true(ir_round_float(t, -INFINITY) == -over);
        assert_true(ir_round_float(t, 1e300) == over);
        assert_true(isnan(ir_round_float(t, NAN)));
    }
}

// Return a number of 64 random bits.
static uint64_t random_bits(uint64_t *seed)
{
    *seed =
        *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t high = *seed >> 32;
    *seed =
        *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return high << 32 | *seed >> 32;
}

// Convert, and fail if that faults.
static union number converted(enum type_kind to, enum type_kind from,
                              union number x)
{
    const char *fault = NULL;
    union number r = ir_convert(type_scalar(to), type_scalar(from), x, &fault);
    assert_null(fault);
    return r;
}

// Integers become the nearest f32 and f64, as in C.
static void integers_become_the_nearest_float(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = random_bits(&seed) >> (i % 64);
        union number x = {.i = (int64_t)bits};
        assert_true(converted(TYPE_f32, TYPE_i64, x).f == (float)x.i);
        assert_true(converted(TYPE_f64, TYPE_i64, x).f == (double)x.i);
        assert_true(converted(TYPE_f32, TYPE_u64, x).f == (float)bits);
        assert_true(converted(TYPE_f64, TYPE_u64, x).f == (double)bits);
    }
}

// An integer just above a tie of bf16, too long for a double, goes up.
static void long_integers_are_rounded_once(void **state)
{
    (void)state;
    union number tie = {.i = (INT64_C(1) << 60) + (INT64_C(1) << 52)};
    union number above = {.i = tie.i + 1};
    double low = ldexp(1, 60), high = ldexp(1, 60) + ldexp(1, 53);
    assert_true(converted(TYPE_bf16, TYPE_i64, tie).f == low);
    assert_true(converted(TYPE_bf16, TYPE_i64, above).f == high);
    above.i = -above.i;
    assert_true(converted(TYPE_bf16, TYPE_i64, above).f == -high);
    above.i = -1;
    assert_true(converted(TYPE_f16, TYPE_u64, above).f == INFINITY);
    assert_true(converted(TYPE_f8e4m3, TYPE_u64, above).f == 448);
}

// A floating number to convert, and what each integer type makes of it.
struct truncation {
    double x;
    int64_t i8, u8, i32, u32, i64;
    uint64_t u64;
};

// Floating to integer truncates, saturates, and makes NaN 0.
static void floats_truncate_and_saturate(void **state)
{
    (void)state;
    static const struct truncation rows[] = {
        {1.9, 1, 1, 1, 1, 1, 1},
        {-1.9, -1, 0, -1, 0, -1, 0},
        {-0.5, 0, 0, 0, 0, 0, 0},
        {NAN, 0, 0, 0, 0, 0, 0},
        {127.99, 127, 127, 127, 127, 127, 127},
        {128, 127, 128, 128, 128, 128, 128},
        {-129, -128, 0, -129, 0, -129, 0},
        {2147483648.0, 127, 255, INT32_MAX, 2147483648, 2147483648, 2147483648},
        {-2147483649.0, -128, 0, INT32_MIN, 0, -2147483649, 0},
        {9223372036854775808.0, 127, 255, INT32_MAX, UINT32_MAX, INT64_MAX,
         UINT64_C(9223372036854775808)},
        {-9223372036854775808.0, -128, 0, INT32_MIN, 0, INT64_MIN, 0},
        {INFINITY, 127, 255, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX},
        {-INFINITY, -128, 0, INT32_MIN, 0, INT64_MIN, 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const struct truncation *r = &rows[k];
        union number x = {.f = r->x};
        assert_int_equal(converted(TYPE_i8, TYPE_f64, x).i, r->i8);
        assert_int_equal(converted(TYPE_u8, TYPE_f64, x).i, r->u8);
        assert_int_equal(converted(TYPE_i32, TYPE_f64, x).i, r->i32);
        assert_int_equal(converted(TYPE_idx32, TYPE_f64, x).i, r->i32);
        assert_int_equal(converted(TYPE_u32, TYPE_f64, x).i, r->u32);
        assert_int_equal(converted(TYPE_i64, TYPE_f64, x).i, r->i64);
        assert_int_equal(converted(TYPE_u64, TYPE_f64, x).i, (int64_t)r->u64);
    }
}

// Return a value as the C type of a kind holds it.
static int64_t as_c(enum type_kind kind, int64_t x)
{
    switch ((int)kind) {
    case TYPE_i8: return (int8_t)x;
    case TYPE_i16: return (int16_t)x;
    case TYPE_i32: return (int32_t)x;
    case TYPE_u8: return (uint8_t)x;
    case TYPE_u16: return (uint16_t)x;
    case TYPE_u32: return (uint32_t)x;
    }
    return x;
}

// Integers wrap to integers, and anything but 0 is true.
static void integers_wrap(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < 100000; i++) {
        union number x = {.i = (int64_t)(random_bits(&seed) >> (i % 64))};
        for (int to = TYPE_i8; to <= TYPE_u64; to++)
            assert_int_equal(converted((enum type_kind)to, TYPE_i64, x).i,
                             as_c((enum type_kind)to, x.i));
        assert_int_equal(converted(TYPE_bool, TYPE_i64, x).i, x.i != 0);
    }
    assert_int_equal(converted(TYPE_bool, TYPE_f32, (union number){.f = NAN}).i,
                     1);
    assert_int_equal(converted(TYPE_bool, TYPE_f32, (union number){.f = -0.}).i,
                     0);
}

// An index type must hold what is converted to it.
static void index_types_do_not_wrap(void **state)
{
    (void)state;
    const char *fault = NULL;
    union number x = {.i = INT64_C(1) << 31};
    ir_convert(type_scalar(TYPE_idx32), type_scalar(TYPE_int), x, &fault);
    assert_non_null(fault);
    fault = NULL;
    x.i = -1;
    ir_convert(type_scalar(TYPE_int), type_scalar(TYPE_u64), x, &fault);
    assert_non_null(fault);
}

// Elements are stored in their bytes and no others.
static void elements_keep_to_their_bytes(void **state)
{
    (void)state;
    for (int kind = 0; kind < TYPE_COUNT; kind++) {
        struct type t = type_scalar((enum type_kind)kind);
        uint8_t bytes[16];
        memset(bytes, 0xa5, sizeof bytes);
        if (type_is_float(t)) {
            eval_store_float(t, bytes + 3, -1.5);
            assert_true(eval_load_float(t, bytes + 3) == -1.5);
        } else {
            eval_store_int(t, bytes + 3, 1);
            assert_int_equal(eval_load_int(t, bytes + 3), 1);
        }
        assert_int_equal(bytes[2], 0xa5);
        assert_int_equal(bytes[3 + type_bytes(t)], 0xa5);
    }
}

// fma rounds once, in every type.
static void fma_rounds_once(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct type f32 = type_scalar(TYPE_f32), f16 = type_scalar(TYPE_f16);
    for (int i = 0; i < 200000; i++) {
        float f[3];
        union number x[3], y[3];
        const char *fault = NULL;
        for (int k = 0; k < 3; k++) {
            uint64_t bits = random_bits(&seed);
            f[k] = ldexpf((float)(int32_t)bits, (int)(bits >> 58) - 64);
            x[k].f = (double)f[k];
            uint16_t code = (uint16_t)((bits & 0x83ff) | (10 + bits % 7) << 10);
            y[k].f = eval_load_float(f16, &code);
        }
        assert_true(ir_apply(OP_fma, f32, x, &fault).f ==
                    (double)fmaf(f[0], f[1], f[2]));
        long double exact = (long double)y[0].f * y[1].f + y[2].f;
        double once = ir_round_float(f16, (double)exact);
        if ((long double)(double)exact == exact)
            assert_true(ir_apply(OP_fma, f16, y, &fault).f == once);
    }
}

// A sum that a double cannot hold is rounded once: a tiny product decides a
// tie between two numbers of bf16.
static void fma_sees_what_a_double_drops(void **state)
{
    (void)state;
    const char *fault = NULL;
    struct type f32 = type_scalar(TYPE_f32), bf16 = type_scalar(TYPE_bf16);
    union number up[3] = {{.f = 0x1p-60}, {.f = 1}, {.f = 0x1.01p0}};
    union number down[3] = {{.f = -0x1p-60}, {.f = 1}, {.f = 0x1.03p0}};
    assert_true(ir_apply(OP_fma, bf16, up, &fault).f == 0x1.02p0);
    assert_true(ir_apply(OP_fma, bf16, down, &fault).f == 0x1.02p0);
    union number single[3] = {{.f = 0x1p-70}, {.f = 1}, {.f = 0x1.000001p0}};
    assert_true(ir_apply(OP_fma, f32, single, &fault).f == 0x1.000002p0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_encoding_survives),
        cmocka_unit_test(between_neighbours_the_nearer_is_taken),
        cmocka_unit_test(too_great_overflows_or_saturates),
        cmocka_unit_test(integers_become_the_nearest_float),
        cmocka_unit_test(long_integers_are_rounded_once),
        cmocka_unit_test(floats_truncate_and_saturate),
        cmocka_unit_test(integers_wrap),
        cmocka_unit_test(index_types_do_not_wrap),
        cmocka_unit_test(elements_keep_to_their_bytes),
        cmocka_unit_test(fma_rounds_once),
        cmocka_unit_test(fma_sees_what_a_double_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
