// Builders: what they fold, what they must not fold, and questions about
// expressions.

#include "ir/build.h"
#include "ir/text.h"
#include "support/kernel_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// An expression as written, and as it stands in the program.
struct fold_row {
    const char *from, *to;
};

static const struct fold_row rows[] = {
    {"2 + 3 * 4", "14"},
    {"7 / 2 - 7 % 2", "2"},
    {"-(3)", "-3"},
    {"1 / 0", "1 / 0"},
    {"9223372036854775807 + 1", "9223372036854775807 + 1"},
    {"i32(2147483647) + i32(1)", "i32(-2147483648)"},
    {"u8(255) + u8(1)", "u8(0)"},
    {"i8(i32(200))", "i8(-56)"},
    {"ceildiv(7, 2)", "4"},
    {"ceildiv(n, 1)", "n"},
    {"n + 0", "n"},
    {"0 + n", "n"},
    {"n - 0", "n"},
    {"0 - n", "0 - n"},
    {"n * 1", "n"},
    {"1 * n", "n"},
    {"n * 0", "0"},
    {"0 * n", "0"},
    {"n / 1", "n"},
    {"n % 1", "0"},
    {"n << 0", "n"},
    {"n | 0", "n"},
    {"-(-n)", "n"},
    {"min(3, 4) + max(3, 4)", "7"},
    {"I[0] * 0", "I[0] * 0"},
    {"I[0] % 1", "I[0] % 1"},
    {"1.5 + 2.25", "3.75"},
    {"x * 1.0", "x"},
    {"x / 1.0", "x"},
    {"x + 0.0", "x + 0.0"},
    {"x * 0.0", "x * 0.0"},
    {"1.0 / 0.0", "1.0 / 0.0"},
    {"f32(16777217)", "16777216.0"},
    {"f16(0.1)", "f16(0.1)"},
    {"sqrt(f32(2.25))", "1.5"},
    {"exp(f32(0.0))", "exp(0.0)"},
    {"fma(f32(2.0), 3.0, 3.0)", "9.0"},
    {"f16(1.0) / f16(3.0)", "f16(0.3333)"},
    {"1 < 2", "true"},
    {"f32(1.0) >= 2.0", "false"},
    {"isnan(f32(1.0))", "false"},
    {"b && true", "b"},
    {"true && b", "b"},
    {"b && false", "false"},
    {"false && b", "false"},
    {"b || true", "true"},
    {"false || b", "b"},
    {"I[0] > 0 && false", "I[0] > 0 && false"},
    {"false && I[0] > 0", "false"},
    {"!(!b)", "b"},
    {"!true", "false"},
    {"true ? n : 2", "n"},
    {"false ? n : 2", "2"},
    {"true ? x : A[0]", "x"},
    {"b ? n : n", "b ? n : n"},
    {"int(n)", "n"},
    {"i32(n)", "i32(n)"},
    {"i32(f32(-1.5))", "i32(-1)"},
    {"broadcast(x, 4) * broadcast(2.0, 4)", "broadcast(x * 2.0, 4)"},
    {"f16(broadcast(x, 4))", "broadcast(f16(x), 4)"},
    {"ramp(n, 4) + broadcast(2, 4)", "ramp(n + 2, 4)"},
    {"broadcast(2, 4) + ramp(n, 4)", "ramp(2 + n, 4)"},
    {"ramp(n, 4) - broadcast(2, 4)", "ramp(n - 2, 4)"},
    {"lane(ramp(n, 4), 3)", "n + 3"},
    {"lane(broadcast(x, 4), 3)", "x"},
    {"lane(lanes(x, 2.0), 1)", "2.0"},
    {"lane(lanes(x, A[0]), 0)", "lane(lanes(x, A[0]), 0)"},
};

// Return a kernel with one expression in it.
static struct ir_kernel *kernel_with(struct arena *a, const char *x)
{
    return kernel_text(
        a, arena_printf(a,
                        "kernel k(n: int, b: bool, x: f32, A: f32[n], "
                        "I: i32[n]) -> C: f32[1] {\n    let r = %s\n}\n",
                        x));
}

// Return an expression of such a kernel.
static struct ir_expr *expr_text(struct arena *a, const char *x)
{
    return kernel_stmt(kernel_with(a, x), STMT_let)->u.let.value;
}

// Each expression is folded as its row says.
static void folding(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct buf out = {0};
        ir_print_expr(&out, expr_text(&a, rows[i].from));
        assert_string_equal(out.data, rows[i].to);
        buf_free(&out);
        arena_reset(&a);
    }
}

// A choice between one and the same expression needs no condition.
static void choice_of_the_same(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_expr *x =
        ir_select(&a, ir_bool(&a, true), ir_int(&a, 1), ir_int(&a, 2));
    assert_true(ir_is_int_const(x, 1));
    struct ir_expr *b = expr_text(&a, "b"), *n = expr_text(&a, "n");
    struct ir_expr *read = expr_text(&a, "I[0] > 0");
    assert_ptr_equal(ir_select(&a, b, n, n), n);
    assert_int_equal(ir_select(&a, read, n, n)->op, OP_select);
    arena_reset(&a);
}

// Constants take the range and precision of their type.
static void constants_fit_their_type(void **state)
{
    (void)state;
    struct arena a = {0};
    assert_int_equal(ir_const_int(&a, type_scalar(TYPE_i8), 300)->u.i, 44);
    assert_int_equal(ir_const_int(&a, type_scalar(TYPE_u64), -1)->u.i, -1);
    assert_true(ir_const_float(&a, type_scalar(TYPE_f16), 0.1)->u.f ==
                0x1.998p-4);
    struct ir_expr *v = ir_zero(&a, type_vector(type_scalar(TYPE_f32), 4));
    assert_int_equal(v->op, OP_broadcast);
    assert_true(ir_is_const(v));
    arena_reset(&a);
}

// Purity tells reads and writes apart.
static void purity(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_expr *sum = expr_text(&a, "n + 2");
    struct ir_expr *load = expr_text(&a, "x + A[0]");
    struct ir_kernel *k =
        kernel_text(&a, "kernel k(I: i32[1] inout) {\n"
                        "    let r = 1 + atomic_add(I[0], 1)\n}\n");
    struct ir_expr *atomic = kernel_stmt(k, STMT_let)->u.let.value;
    assert_true(ir_is_pure(sum, true));
    assert_true(ir_is_pure(load, false));
    assert_false(ir_is_pure(load, true));
    assert_false(ir_is_pure(atomic, false));
    arena_reset(&a);
}

// Rebuilding a node with other operands folds, and keeps its own span.
static void rebuilding(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_expr *sum = expr_text(&a, "n + 2");
    struct ir_expr *args[2] = {ir_int(&a, 1), sum->args[1]};
    struct ir_expr *three = ir_with_args(&a, sum, args);
    assert_true(ir_is_int_const(three, 3));
    assert_int_equal(three->span.from, sum->span.from);
    args[1] = ir_int(&a, 0);
    args[0] = sum->args[0];
    assert_ptr_equal(ir_with_args(&a, sum, args), args[0]);
    struct ir_kernel *k = kernel_text(&a, "kernel k(I: i32[2, 2] inout) {\n"
                                          "    atomic_cas(I[0, 1], 1, 2)\n}\n");
    struct ir_expr *cas = kernel_stmt(k, STMT_eval)->u.value;
    assert_int_equal(ir_index_count(cas), 2);
    struct ir_expr *copy = ir_with_args(&a, cas, cas->args);
    assert_int_equal(copy->n, 4);
    assert_ptr_equal(copy->u.buffer, cas->u.buffer);
    arena_reset(&a);
}

// A span can be given to a shared node without changing it.
static void spans(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_expr *n = expr_text(&a, "n + 1");
    struct span elsewhere = {n->span.source, 1, 2};
    struct ir_expr *moved = ir_at(&a, n, elsewhere);
    assert_ptr_not_equal(moved, n);
    assert_int_equal(moved->span.from, 1);
    assert_ptr_equal(ir_at(&a, moved, elsewhere), moved);
    arena_reset(&a);
}

// A loop, and how many iterations it has.
static const struct fold_row extents[] = {
    {"0..n", "n"},
    {"0..64 step 4", "16"},
    {"0..n step 4", "ceildiv(n, 4)"},
    {"2..10", "8"},
    {"10..2", "0"},
    {"0..n - 3", "max(n - 3, 0)"},
    {"n..n * 2", "max(n * 2 - n, 0)"},
    {"0..ceildiv(n, 128) * 128", "ceildiv(n, 128) * 128"},
};

// The number of iterations of a loop, never negative.
static void loop_extents(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
        struct arena a = {0};
        struct buf out = {0};
        struct ir_kernel *k =
            kernel_text(&a, arena_printf(&a,
                                         "kernel k(n: int) -> C: f32[1] {\n"
                                         "    for i in %s { C[0] = 0.0 }\n}\n",
                                         extents[i].from));
        struct ir_stmt *s = kernel_stmt(k, STMT_for);
        ir_print_expr(&out, ir_for_extent(&a, &s->u.loop));
        assert_string_equal(out.data, extents[i].to);
        buf_free(&out);
        arena_reset(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folding),
        cmocka_unit_test(choice_of_the_same),
        cmocka_unit_test(constants_fit_their_type),
        cmocka_unit_test(purity),
        cmocka_unit_test(rebuilding),
        cmocka_unit_test(spans),
        cmocka_unit_test(loop_extents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
