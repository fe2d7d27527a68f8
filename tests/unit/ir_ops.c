// Every operation of ir/ops.def: what it gives, and where it has no result.

#include "ir/arith.h"
#include "ir/build.h"
#include "ir/type.h"
#include "support/kernel_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// An operation on integers or bools, and its result.
struct int_row {
    enum ir_op op;
    enum type_kind kind;
    int64_t a, b, wanted;
};

static const struct int_row int_rows[] = {
    {OP_eq, TYPE_bool, 1, 1, 1},
    {OP_eq, TYPE_i32, 1, 2, 0},
    {OP_ne, TYPE_u64, -1, 1, 1},
    {OP_lt, TYPE_i64, -1, 1, 1},
    {OP_lt, TYPE_u64, -1, 1, 0},
    {OP_le, TYPE_u64, 1, -1, 1},
    {OP_le, TYPE_int, 2, 2, 1},
    {OP_gt, TYPE_i8, -128, 127, 0},
    {OP_gt, TYPE_u64, -1, 1, 1},
    {OP_ge, TYPE_u32, 1, UINT32_MAX, 0},
    {OP_bit_or, TYPE_u8, 0x50, 0x0f, 0x5f},
    {OP_bit_xor, TYPE_i32, -1, 1, -2},
    {OP_bit_and, TYPE_i64, -1, 0xff, 0xff},
    {OP_bit_not, TYPE_u16, 0, 0, 0xffff},
    {OP_bit_not, TYPE_i16, 0, 0, -1},
    {OP_not, TYPE_bool, 1, 0, 0},
    {OP_shl, TYPE_i32, 1, 31, INT32_MIN},
    {OP_shl, TYPE_u8, 0x81, 1, 2},
    {OP_shl, TYPE_int, 3, 4, 48},
    {OP_shr, TYPE_i32, -5, 1, -3},
    {OP_shr, TYPE_u64, -1, 63, 1},
    {OP_add, TYPE_i8, 127, 1, -128},
    {OP_add, TYPE_u32, UINT32_MAX, 1, 0},
    {OP_add, TYPE_i64, INT64_MAX, 1, INT64_MIN},
    {OP_sub, TYPE_u8, 0, 1, 255},
    {OP_sub, TYPE_int, 2, 5, -3},
    {OP_mul, TYPE_i32, 65536, 65536, 0},
    {OP_mul, TYPE_u32, UINT32_MAX, UINT32_MAX, 1},
    {OP_div, TYPE_i32, -7, 2, -3},
    {OP_div, TYPE_u64, -1, 2, INT64_MAX},
    {OP_mod, TYPE_i32, -7, 2, -1},
    {OP_mod, TYPE_u64, -1, 10, 5},
    {OP_neg, TYPE_i16, INT16_MIN, 0, INT16_MIN},
    {OP_neg, TYPE_u8, 1, 0, 255},
    {OP_ceildiv, TYPE_int, 7, 2, 4},
    {OP_ceildiv, TYPE_int, 8, 2, 4},
    {OP_ceildiv, TYPE_u64, -1, 2, INT64_MIN},
    {OP_mulhi, TYPE_u32, UINT32_MAX, UINT32_MAX, 0xfffffffe},
    {OP_mulhi, TYPE_u64, -1, -1, -2},
    {OP_mulhi, TYPE_u64, INT64_C(1) << 62, 12, 3},
    {OP_mulhi, TYPE_u32, 0x10000, 0xffff, 0},
    {OP_mulhi, TYPE_u32, INT64_C(1) << 31, 3, 1},
    {OP_abs, TYPE_i32, -7, 0, 7},
    {OP_abs, TYPE_i8, -128, 0, -128},
    {OP_abs, TYPE_u64, -1, 0, -1},
    {OP_popcount, TYPE_u32, -1, 0, 32},
    {OP_popcount, TYPE_i8, -2, 0, 7},
    {OP_popcount, TYPE_u64, 5, 0, 2},
    {OP_min, TYPE_i32, -1, 1, -1},
    {OP_min, TYPE_u64, -1, 1, 1},
    {OP_max, TYPE_i32, -1, 1, 1},
    {OP_max, TYPE_u64, -1, 1, -1},
};

enum { N_INT_ROWS = sizeof int_rows / sizeof *int_rows };

// An operation on floating numbers, and its result; a test gives 0 or 1.
struct float_row {
    enum ir_op op;
    enum type_kind kind;
    double a, b, c, wanted;
};

static const struct float_row float_rows[] = {
    {OP_eq, TYPE_f32, NAN, NAN, 0, 0},
    {OP_eq, TYPE_f32, -0., 0, 0, 1},
    {OP_ne, TYPE_f64, NAN, NAN, 0, 1},
    {OP_lt, TYPE_f16, 1, 2, 0, 1},
    {OP_le, TYPE_f32, NAN, 1, 0, 0},
    {OP_gt, TYPE_bf16, 2, 1, 0, 1},
    {OP_ge, TYPE_f32, 1, 1, 0, 1},
    {OP_isnan, TYPE_f32, NAN, 0, 0, 1},
    {OP_isnan, TYPE_f32, INFINITY, 0, 0, 0},
    {OP_add, TYPE_f16, 2048, 1, 0, 2048},
    {OP_add, TYPE_f32, 16777216, 1, 0, 16777216},
    {OP_add, TYPE_f64, 16777216, 1, 0, 16777217},
    {OP_sub, TYPE_bf16, 256, 0.5, 0, 256},
    {OP_mul, TYPE_f16, 256, 256, 0, INFINITY},
    {OP_mul, TYPE_f32, 1e30, 1e30, 0, INFINITY},
    {OP_div, TYPE_f32, 1, 3, 0, 0x1.555556p-2},
    {OP_div, TYPE_f64, 1, 0, 0, INFINITY},
    {OP_neg, TYPE_f32, 0, 0, 0, -0.},
    {OP_abs, TYPE_f32, -0., 0, 0, 0},
    {OP_min, TYPE_f32, NAN, 3, 0, 3},
    {OP_min, TYPE_f32, 0, -0., 0, -0.},
    {OP_max, TYPE_f32, 3, NAN, 0, 3},
    {OP_max, TYPE_f32, -0., 0, 0, 0},
    {OP_max, TYPE_f32, -5, -7, 0, -5},
    {OP_max, TYPE_f32, NAN, NAN, 0, NAN},
    {OP_relu, TYPE_f32, -3, 0, 0, 0},
    {OP_relu, TYPE_f32, 3, 0, 0, 3},
    {OP_relu, TYPE_f32, NAN, 0, 0, NAN},
    {OP_fma, TYPE_f64, 3, 4, 5, 17},
    {OP_fma, TYPE_f32, 0x1.000002p0, 0x1.fffffep-1, -1, 0x1.fffffcp-25},
    {OP_sqrt, TYPE_f32, 2, 0, 0, 0x1.6a09e6p0},
    {OP_sqrt, TYPE_f32, -1, 0, 0, NAN},
    {OP_rsqrt, TYPE_f32, 4, 0, 0, 0.5},
    {OP_exp, TYPE_f32, 0, 0, 0, 1},
    {OP_exp2, TYPE_f16, 3, 0, 0, 8},
    {OP_ex2, TYPE_f32, -2, 0, 0, 0.25},
    {OP_log, TYPE_f32, 1, 0, 0, 0},
    {OP_log2, TYPE_f32, 8, 0, 0, 3},
    {OP_log1p, TYPE_f32, 0, 0, 0, 0},
    {OP_expm1, TYPE_f32, 0, 0, 0, 0},
    {OP_sin, TYPE_f32, 0, 0, 0, 0},
    {OP_cos, TYPE_f32, 0, 0, 0, 1},
    {OP_tan, TYPE_f32, 0, 0, 0, 0},
    {OP_asin, TYPE_f32, 1, 0, 0, 0x1.921fb6p0},
    {OP_acos, TYPE_f32, 1, 0, 0, 0},
    {OP_atan, TYPE_f32, 1, 0, 0, 0x1.921fb6p-1},
    {OP_atan2, TYPE_f32, 1, 0, 0, 0x1.921fb6p0},
    {OP_sinh, TYPE_f32, 0, 0, 0, 0},
    {OP_cosh, TYPE_f32, 0, 0, 0, 1},
    {OP_tanh, TYPE_f32, 40, 0, 0, 1},
    {OP_erf, TYPE_f32, 10, 0, 0, 1},
    {OP_pow, TYPE_f32, 2, 10, 0, 1024},
    {OP_fmod, TYPE_f32, -7, 2, 0, -1},
    {OP_floor, TYPE_f32, -1.5, 0, 0, -2},
    {OP_ceil, TYPE_f32, 1.5, 0, 0, 2},
    {OP_trunc, TYPE_f32, -1.5, 0, 0, -1},
    {OP_rint, TYPE_f32, 2.5, 0, 0, 2},
    {OP_rint, TYPE_f32, 3.5, 0, 0, 4},
    {OP_tf32, TYPE_f32, 0x1.002p0, 0, 0, 0x1.004p0},
    {OP_tf32, TYPE_f32, 0x1.001ffep0, 0, 0, 1},
    {OP_tf32, TYPE_f32, -0x1.ffep0, 0, 0, -2},
    {OP_tf32, TYPE_f32, 0x1.fffffep127, 0, 0, INFINITY},
    {OP_tf32, TYPE_f32, -0., 0, 0, -0.},
    {OP_tf32, TYPE_f32, NAN, 0, 0, NAN},
};

enum { N_FLOAT_ROWS = sizeof float_rows / sizeof *float_rows };

// Each operation on integers gives what its row says.
static void integer_operations(void **state)
{
    (void)state;
    for (int i = 0; i < N_INT_ROWS; i++) {
        const struct int_row *r = &int_rows[i];
        const char *fault = NULL;
        union number x[3] = {{.i = r->a}, {.i = r->b}, {.i = 0}};
        union number y = ir_apply(r->op, type_scalar(r->kind), x, &fault);
        if (y.i != r->wanted || fault)
            print_error("%s: row %d\n", ir_op_info(r->op)->name, i);
        assert_null(fault);
        assert_int_equal(y.i, r->wanted);
    }
}

// Each operation on floating numbers gives what its row says, sign included.
static void floating_operations(void **state)
{
    (void)state;
    for (int i = 0; i < N_FLOAT_ROWS; i++) {
        const struct float_row *r = &float_rows[i];
        const char *fault = NULL;
        union number x[3] = {{.f = r->a}, {.f = r->b}, {.f = r->c}};
        union number y = ir_apply(r->op, type_scalar(r->kind), x, &fault);
        double got = ir_arith(r->op)->test ? (double)y.i : y.f;
        bool ok = isnan(r->wanted) ? isnan(got)
                                   : got == r->wanted &&
                                         !signbit(got) == !signbit(r->wanted);
        if (!ok)
            print_error("%s: row %d\n", ir_op_info(r->op)->name, i);
        assert_true(ok);
    }
}

// The tables above leave no row of ir/arith.def out.
static void every_operation_has_a_row(void **state)
{
    (void)state;
    for (int op = 0; op < OP_COUNT; op++) {
        const struct arith *row = ir_arith((enum ir_op)op);
        bool on_int = false, on_float = false;
        for (int i = 0; i < N_INT_ROWS; i++)
            on_int |= (int)int_rows[i].op == op;
        for (int i = 0; i < N_FLOAT_ROWS; i++)
            on_float |= (int)float_rows[i].op == op;
        assert_int_equal(on_int, row->on_int != NULL);
        assert_int_equal(on_float, row->on_float || row->test);
    }
}

// An operation without a result.
static const struct int_row faulty_rows[] = {
    {OP_div, TYPE_i32, 1, 0, 0},
    {OP_mod, TYPE_u64, 1, 0, 0},
    {OP_div, TYPE_i32, INT32_MIN, -1, 0},
    {OP_mod, TYPE_int, INT64_MIN, -1, 0},
    {OP_div, TYPE_i8, -128, -1, 0},
    {OP_ceildiv, TYPE_int, -1, 2, 0},
    {OP_ceildiv, TYPE_int, 1, 0, 0},
    {OP_shl, TYPE_i32, 1, 32, 0},
    {OP_shr, TYPE_i64, 1, -1, 0},
    {OP_shl, TYPE_idx32, 1, 31, 0},
    {OP_add, TYPE_int, INT64_MAX, 1, 0},
    {OP_sub, TYPE_int, INT64_MIN, 1, 0},
    {OP_mul, TYPE_idx64, INT64_MAX, 2, 0},
    {OP_add, TYPE_idx32, INT32_MAX, 1, 0},
    {OP_mul, TYPE_idx32, 65536, 65536, 0},
    {OP_neg, TYPE_idx32, INT32_MIN, 0, 0},
    {OP_abs, TYPE_int, INT64_MIN, 0, 0},
};

// Division by zero, quotients and indices that do not fit, wild shifts.
static void operations_without_a_result(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faulty_rows / sizeof *faulty_rows; i++) {
        const struct int_row *r = &faulty_rows[i];
        const char *fault = NULL;
        union number x[3] = {{.i = r->a}, {.i = r->b}, {.i = 0}};
        ir_apply(r->op, type_scalar(r->kind), x, &fault);
        if (!fault)
            print_error("%s: row %d\n", ir_op_info(r->op)->name, (int)i);
        assert_non_null(fault);
    }
}

// An operation, the types of its operands, and what is wrong with them.
struct type_row {
    enum ir_op op;
    uint32_t n;
    struct type operands[4];
    const char *wrong; // or NULL, and then:
    struct type result;
};

#define SCALAR(kind)                                                           \
    {                                                                          \
        TYPE_##kind, 1                                                         \
    }
#define VECTOR(kind)                                                           \
    {                                                                          \
        TYPE_##kind, 4                                                         \
    }

static const struct type_row type_rows[] = {
    {OP_add, 2, {SCALAR(i8), SCALAR(i8)}, NULL, SCALAR(i8)},
    {OP_lt, 2, {VECTOR(f32), VECTOR(f32)}, NULL, VECTOR(bool)},
    {OP_select, 3, {SCALAR(bool), VECTOR(f32), VECTOR(f32)}, NULL, VECTOR(f32)},
    {OP_select, 3, {VECTOR(bool), VECTOR(f32), VECTOR(f32)}, NULL, VECTOR(f32)},
    {OP_lanes,
     3,
     {SCALAR(f8e4m3), SCALAR(f8e4m3), SCALAR(f8e4m3)},
     NULL,
     {TYPE_f8e4m3, 3}},
    {OP_isnan, 1, {SCALAR(f64)}, NULL, SCALAR(bool)},
    {OP_float_bits, 1, {SCALAR(f32)}, NULL, SCALAR(u32)},
    {OP_bits_float, 1, {SCALAR(u32)}, NULL, SCALAR(f32)},
    {OP_tf32, 1, {VECTOR(f32)}, NULL, VECTOR(f32)},
    {OP_tf32, 1, {SCALAR(f64)}, "`tf32` needs f32, not f64", SCALAR(bool)},
    {OP_float_bits,
     1,
     {SCALAR(f16)},
     "`float_bits` needs f32, not f16",
     SCALAR(bool)},
    {OP_bits_float,
     1,
     {SCALAR(i32)},
     "`bits_float` needs u32, not i32",
     SCALAR(bool)},
    {OP_add,
     2,
     {SCALAR(f32), SCALAR(f16)},
     "operands of `+` have types f32 and f16",
     SCALAR(bool)},
    {OP_add,
     2,
     {VECTOR(f32), SCALAR(f32)},
     "operands of `+` have types f32x4 and f32",
     SCALAR(bool)},
    {OP_select,
     3,
     {VECTOR(bool), SCALAR(f32), SCALAR(f32)},
     "operands of `?` have types boolx4 and f32",
     SCALAR(bool)},
    {OP_select,
     3,
     {SCALAR(bool), SCALAR(f32), SCALAR(f64)},
     "operands of `?` have types f32 and f64",
     SCALAR(bool)},
    {OP_mul,
     2,
     {SCALAR(f8e4m3), SCALAR(f8e4m3)},
     "`*` needs a number, not f8e4m3",
     SCALAR(bool)},
    {OP_mod,
     2,
     {SCALAR(f32), SCALAR(f32)},
     "`%` needs an integer, not f32",
     SCALAR(bool)},
    {OP_exp,
     1,
     {SCALAR(i32)},
     "`exp` needs a floating number, not i32",
     SCALAR(bool)},
    {OP_and,
     2,
     {SCALAR(bool), SCALAR(i32)},
     "`&&` needs a bool, not i32",
     SCALAR(bool)},
    {OP_eq,
     2,
     {SCALAR(f8e5m2), SCALAR(f8e5m2)},
     "`==` cannot compare f8e5m2: convert it first",
     SCALAR(bool)},
    {OP_sqrt,
     2,
     {SCALAR(f32), SCALAR(f32)},
     "`sqrt` takes 1 operand, not 2",
     SCALAR(bool)},
    {OP_fma,
     2,
     {SCALAR(f32), SCALAR(f32)},
     "`fma` takes 3 operands, not 2",
     SCALAR(bool)},
    {OP_lanes,
     1,
     {SCALAR(f32)},
     "`lanes` takes 2 to 16 operands, not 1",
     SCALAR(bool)},
    {OP_dp4a, 3, {VECTOR(i8), VECTOR(u8), SCALAR(u32)}, NULL, SCALAR(u32)},
    {OP_dp4a,
     3,
     {VECTOR(i8), SCALAR(i8), SCALAR(i32)},
     "`dp4a` needs a vector of four i8 or u8, not i8",
     SCALAR(bool)},
    {OP_dp4a,
     3,
     {VECTOR(u8), VECTOR(u8), SCALAR(i64)},
     "`dp4a` needs an i32 or a u32, not i64",
     SCALAR(bool)},
    {OP_mulhi, 2, {SCALAR(u32), SCALAR(u32)}, NULL, SCALAR(u32)},
    {OP_mulhi,
     2,
     {SCALAR(u32), SCALAR(idx32)},
     "`mulhi` needs a u32 or a u64, not idx32",
     SCALAR(bool)},
    {OP_shuffle, 2, {SCALAR(f16), SCALAR(int)}, NULL, SCALAR(f16)},
    {OP_match_any, 1, {SCALAR(f64)}, NULL, SCALAR(u32)},
    {OP_vote_any, 1, {SCALAR(bool)}, NULL, SCALAR(bool)},
    {OP_shuffle,
     2,
     {SCALAR(f16), SCALAR(f16)},
     "`shuffle` needs an index, not f16",
     SCALAR(bool)},
    {OP_warp_sum,
     1,
     {VECTOR(f32)},
     "`warp_sum` needs scalars, not f32x4",
     SCALAR(bool)},
    {OP_warp_and,
     1,
     {SCALAR(f32)},
     "`warp_and` needs an integer, not f32",
     SCALAR(bool)},
    {OP_atomic_min, 2, {SCALAR(f32), SCALAR(f32)}, NULL, SCALAR(f32)},
    {OP_atomic_or,
     2,
     {SCALAR(f32), SCALAR(f32)},
     "`atomic_or` needs an integer, not f32",
     SCALAR(bool)},
};

// Types of operations, and phrases for operands that do not fit.
static void types_of_operations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof type_rows / sizeof *type_rows; i++) {
        const struct type_row *r = &type_rows[i];
        struct arena a = {0};
        struct type result = {TYPE_COUNT, 0};
        const char *wrong = NULL;
        bool ok = ir_result_type(&a, r->op, r->n, r->operands, &result, &wrong);
        assert_int_equal(ok, r->wrong == NULL);
        if (ok)
            assert_true(type_equal(result, r->result));
        else
            assert_string_equal(wrong, r->wrong);
        arena_reset(&a);
    }
}

// Every atomic gives the old element and leaves what its name says.
static void atomics(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_kernel *k = kernel_text(
        &a, "kernel k(X: i32[8] inout, F: f32[1] inout) -> old: i32[8] {\n"
            "    old[0] = atomic_add(X[0], 5)\n"
            "    old[1] = atomic_min(X[1], 5)\n"
            "    old[2] = atomic_max(X[2], 5)\n"
            "    old[3] = atomic_and(X[3], 6)\n"
            "    old[4] = atomic_or(X[4], 6)\n"
            "    old[5] = atomic_xor(X[5], 6)\n"
            "    old[6] = atomic_exchange(X[6], 5)\n"
            "    old[7] = atomic_cas(X[7], 3, 9)\n"
            "    atomic_cas(X[0], 3, 77)\n"
            "    atomic_add(F[0], 0.25)\n"
            "}\n");
    int32_t x[8] = {3, 3, 3, 3, 3, 3, 3, 3}, old[8];
    float f[1] = {0.5};
    kernel_run(k, (struct eval_argument[]){ARRAY(x), ARRAY(f), ARRAY(old)});
    const int32_t wanted[8] = {8, 3, 5, 2, 7, 5, 5, 9};
    assert_memory_equal(x, wanted, sizeof x);
    for (int i = 0; i < 8; i++)
        assert_int_equal(old[i], 3);
    assert_true(f[0] == 0.75f);
    arena_reset(&a);
}

// Run a kernel of one block of 64 threads, each of which stores `value` of
// its number t and its element x.
static void exchange(const char *value, const char *type, int32_t *y)
{
    struct arena a = {0};
    int32_t x[64];
    for (int i = 0; i < 64; i++)
        x[i] = (i * 7 + 3) % 13 - 5;
    struct ir_kernel *k =
        kernel_text(&a, arena_printf(&a,
                                     "kernel k(X: i32[64]) -> Y: %s[64] {\n"
                                     "    for b in 0..1 @block.x {\n"
                                     "        for t in 0..64 @thread.x {\n"
                                     "            let x = X[t]\n"
                                     "            Y[t] = %s\n"
                                     "        }\n    }\n}\n",
                                     type, value));
    memset(y, 0, 64 * sizeof *y);
    kernel_run(k, (struct eval_argument[]){
                      ARRAY(x), {.data = y, .size = 64 * sizeof *y}});
    arena_reset(&a);
}

// The element of thread t in `exchange`.
static int32_t element(int t)
{
    return (t * 7 + 3) % 13 - 5;
}

// Shuffles read the lane that their name says, in the warp of the thread.
static void shuffles(void **state)
{
    (void)state;
    int32_t y[64];
    for (int by = 0; by < 32; by += 5) {
        char text[64];
        for (int kind = 0; kind < 4; kind++) {
            static const char *const names[] = {"", "_up", "_down", "_xor"};
            snprintf(text, sizeof text, "shuffle%s(x, %d)", names[kind], by);
            exchange(text, "i32", y);
            for (int t = 0; t < 64; t++) {
                int lane = t % 32;
                int from = kind == 0   ? by
                           : kind == 1 ? (lane < by ? lane : lane - by)
                           : kind == 2 ? (lane + by > 31 ? lane : lane + by)
                                       : lane ^ by;
                assert_int_equal(y[t], element(t - lane + from));
            }
        }
    }
    exchange("shuffle(shuffle(x, t + 1), t + 31)", "i32", y);
    for (int t = 0; t < 64; t++)
        assert_int_equal(y[t], element(t));
}

// Votes, matches and reductions see the whole warp and no other.
static void reductions_of_warps(void **state)
{
    (void)state;
    int32_t sum[64], least[64], mask[64], any[64], all[64], match[64];
    exchange("warp_sum(x)", "i32", sum);
    exchange("warp_min(x) * 100 + warp_max(x)", "i32", least);
    exchange("ballot(x > 0)", "u32", mask);
    exchange("i32(vote_any(x == 7 && t < 32))", "i32", any);
    exchange("i32(vote_all(x > -6 || t < 32))", "i32", all);
    exchange("match_any(x)", "u32", match);
    for (int t = 0; t < 64; t++) {
        int32_t s = 0, lo = 99, hi = -99;
        uint32_t positive = 0, same = 0;
        for (int l = 0; l < 32; l++) {
            int32_t v = element(t / 32 * 32 + l);
            s += v;
            lo = v < lo ? v : lo;
            hi = v > hi ? v : hi;
            positive |= (uint32_t)(v > 0) << l;
            same |= (uint32_t)(v == element(t)) << l;
        }
        assert_int_equal(sum[t], s);
        assert_int_equal(least[t], lo * 100 + hi);
        assert_int_equal((uint32_t)mask[t], positive);
        assert_int_equal((uint32_t)match[t], same);
        assert_int_equal(any[t], t < 32);
        assert_int_equal(all[t], 1);
    }
}

// What the threads of a warp cannot do at once is a fault.
static void warps_that_part(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "for t in 0..64 @thread.x { if t < 16 { Y[t] = warp_sum(X[t]) } }",
        ("for t in 0..64 @thread.x { for j in 0..t { Y[t] = "
         "shuffle(X[t], 0) } }"),
        "for t in 0..48 @thread.x { Y[t] = warp_sum(X[t]) }",
        "for t in 0..48 @thread.x { Y[t] = shuffle_xor(X[t], 16) }",
        "for t in 0..64 @thread.x { if t % 2 == 0 { syncwarp } }",
        "Y[0] = shuffle(X[0], 1)",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct arena a = {0};
        float x[64] = {0}, y[64] = {0};
        struct ir_kernel *k = kernel_text(
            &a, arena_printf(&a,
                             "kernel k(X: f32[64], Y: f32[64] inout) {\n"
                             "    for b in 0..1 @block.x {\n        %s\n"
                             "    }\n}\n",
                             bodies[i]));
        struct eval_result r =
            ir_eval(&a, k, (struct eval_argument[]){ARRAY(x), ARRAY(y)}, 0);
        if (r.status != EVAL_FAULT)
            print_error("%s\n", bodies[i]);
        assert_int_equal(r.status, EVAL_FAULT);
        arena_reset(&a);
    }
}

// Lazy operations do not run what they do not need.
static void lazy_operations(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_kernel *k = kernel_text(
        &a, "kernel k(n: int, X: f32[n]) -> (Y: f32[4], B: bool[4]) {\n"
            "    for i in 0..4 {\n"
            "        Y[i] = i < n ? X[i] : -1.0\n"
            "        B[i] = i < n && X[i] > 0.0 || i == 3\n"
            "    }\n"
            "}\n");
    float x[2] = {1, -1}, y[4];
    uint8_t b[4];
    kernel_run(k, (struct eval_argument[]){
                      {.scalar.i = 2}, ARRAY(x), ARRAY(y), ARRAY(b)});
    const float wanted[4] = {1, -1, -1, -1};
    const uint8_t truth[4] = {1, 0, 0, 1};
    assert_memory_equal(y, wanted, sizeof y);
    assert_memory_equal(b, truth, sizeof b);
    arena_reset(&a);
}

// Vectors: ramps, broadcasts, lanes, arithmetic and choice lane by lane.
static void vector_operations(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_kernel *k = kernel_text(
        &a, "kernel k(X: f32[8]) -> (Y: f32[8], Z: f32[2]) {\n"
            "    let v = X[ramp(4, 4)]\n"
            "    var w = v * broadcast(2.0, 4) + X[ramp(0, 4)]\n"
            "    w = lanes(lane(w, 3), lane(w, 2), lane(w, 1), lane(w, 0))\n"
            "    Y[ramp(0, 4)] = w\n"
            "    Y[ramp(4, 4)] = v > broadcast(5.5, 4) ? v : -v\n"
            "    Z[0] = lane(w, 1)\n"
            "    Z[1] = lane(X[ramp(2, 2)], 1)\n"
            "}\n");
    float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[8], z[2];
    kernel_run(k, (struct eval_argument[]){ARRAY(x), ARRAY(y), ARRAY(z)});
    const float wanted[8] = {17, 14, 11, 8, -4, -5, 6, 7};
    assert_memory_equal(y, wanted, sizeof y);
    assert_true(z[0] == 14 && z[1] == 3);
    arena_reset(&a);
}

// dp4a adds four products of bytes of any signs, and the sum wraps.
static void sums_of_four_products(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_kernel *k = kernel_text(
        &a, "kernel k(S: i8[8], U: u8[8], C: i32[1])\n"
            "    -> (Y: i32[5], Z: u32[2]) {\n"
            "    Y[0] = dp4a(S[ramp(0, 4)], S[ramp(4, 4)], C[0])\n"
            "    Y[1] = dp4a(S[ramp(0, 4)], U[ramp(0, 4)], i32(0))\n"
            "    Y[2] = dp4a(U[ramp(0, 4)], S[ramp(0, 4)], i32(1))\n"
            "    Y[3] = dp4a(U[ramp(0, 4)], U[ramp(4, 4)], i32(2))\n"
            "    Y[4] = dp4a(broadcast(i8(3), 4), lanes(S[0], S[2], S[4], "
            "S[6]), C[0])\n"
            "    Z[0] = dp4a(S[ramp(0, 4)], U[ramp(0, 4)], u32(0))\n"
            "    Z[1] = dp4a(U[ramp(0, 4)], U[ramp(4, 4)], u32(4294967295))\n"
            "}\n");
    int8_t s[8] = {-128, 127, -1, 3, -128, 127, 5, -7};
    uint8_t u[8] = {255, 254, 128, 1, 255, 0, 2, 129};
    int32_t c[1] = {INT32_MAX}, y[5];
    uint32_t z[2];
    kernel_run(k, (struct eval_argument[]){ARRAY(s), ARRAY(u), ARRAY(c),
                                           ARRAY(y), ARRAY(z)});
    const int32_t wanted[5] = {INT32_MIN + 32486, -507, -506, 65412,
                               INT32_MAX - 756};
    assert_memory_equal(y, wanted, sizeof y);
    assert_true(z[0] == (uint32_t)-507 && z[1] == 65409);
    arena_reset(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_operations),
        cmocka_unit_test(floating_operations),
        cmocka_unit_test(every_operation_has_a_row),
        cmocka_unit_test(operations_without_a_result),
        cmocka_unit_test(types_of_operations),
        cmocka_unit_test(atomics),
        cmocka_unit_test(shuffles),
        cmocka_unit_test(reductions_of_warps),
        cmocka_unit_test(warps_that_part),
        cmocka_unit_test(lazy_operations),
        cmocka_unit_test(vector_operations),
        cmocka_unit_test(sums_of_four_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
