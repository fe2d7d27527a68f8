// Normal forms, ranges, proofs, and the guards of narrow variants.

#include "ir/affine.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"
#include "passes/analysis/models.h"
#include "passes/analysis/narrow.h"
#include "passes/pass.h"

#include "support/kernel_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// A kernel whose stores are the expressions under test, each in its own place.
struct probe {
    struct arena arena;
    struct ir_kernel *kernel;
    struct facts facts; // inside the loops
};

// Enter the loops down to the first store; returns the block that holds it.
static struct ir_block *descend(struct probe *p)
{
    struct ir_block *block = &p->kernel->body;
    while (block->at[0]->kind == STMT_for) {
        facts_enter(&p->facts, block->at[0]);
        block = &block->at[0]->u.loop.body;
    }
    return block;
}

// Parse loops over `n` and `m` around stores of the given expressions, and
// return the values stored.
static struct ir_block *probe(struct probe *p, const char *where,
                              const char *stores)
{
    memset(p, 0, sizeof *p);
    const char *text = arena_printf(
        &p->arena,
        "kernel f(n: int, m: int, A: f32[n, m]) -> B: i64[n, m]%s {\n"
        "for i in 0..n { for j in 0..m { for k in 0..8 {\n%s\n} } } }",
        where, stores);
    p->kernel = kernel_text(&p->arena, text);
    facts_start(&p->facts, &p->arena, p->kernel);
    return descend(p);
}

// Return what statement `at` converts to i64 and stores.
static struct ir_expr *stored(const struct ir_block *block, size_t at)
{
    return block->at[at]->u.store.value->args[0];
}

// Fail unless an expression prints so.
static void prints(const struct ir_expr *x, const char *text)
{
    struct buf out = {0};
    ir_print_expr(&out, x);
    assert_string_equal(out.data, text);
    buf_free(&out);
}

static void forms_are_normal(void **state)
{
    struct probe p;
    (void)state;
    struct ir_block *b = probe(&p, "",
                               "B[i, j] = i64((i + 3) * m - 2 * (m - j))\n"
                               "B[i, j] = i64(m * i + m + j * 2)\n"
                               "B[i, j] = i64(0 - i * 2 - 7)");
    struct affine x = affine_of(&p.arena, stored(b, 0));
    struct affine y = affine_of(&p.arena, stored(b, 1));
    struct affine d = affine_add(&p.arena, &x, -1, &y);
    assert_true(affine_is_number(&d));
    assert_int_equal(d.constant, 0);
    prints(affine_expr(&p.arena, &x, type_scalar(TYPE_int)),
           "i * m + m + j * 2");
    struct affine z = affine_of(&p.arena, stored(b, 2));
    prints(affine_expr(&p.arena, &z, type_scalar(TYPE_int)), "-7 - i * 2");
    arena_reset(&p.arena);
}

static void forms_divide(void **state)
{
    struct probe p;
    struct affine quotient, rest;
    int64_t factor;
    (void)state;
    struct ir_block *b = probe(&p, "",
                               "B[i, j] = i64(i * 8 + j + 11)\n"
                               "B[i, j] = i64(i * m + j)\n"
                               "B[i, j] = i64(m)");
    struct affine x = affine_of(&p.arena, stored(b, 0));
    struct affine eight = affine_number(8), minus = affine_number(-8);
    assert_true(affine_divide(&p.arena, &x, &eight, &quotient, &rest));
    prints(affine_expr(&p.arena, &quotient, type_scalar(TYPE_int)), "i + 1");
    prints(affine_expr(&p.arena, &rest, type_scalar(TYPE_int)), "j + 3");
    assert_true(affine_divide(&p.arena, &x, &minus, &quotient, &rest));
    assert_int_equal(rest.constant, 3);
    struct affine y = affine_of(&p.arena, stored(b, 1));
    struct affine m = affine_of(&p.arena, stored(b, 2));
    assert_true(affine_divide(&p.arena, &y, &m, &quotient, &rest));
    prints(affine_expr(&p.arena, &quotient, type_scalar(TYPE_int)), "i");
    assert_false(affine_divide(&p.arena, &y, &x, &quotient, &rest));
    const struct ir_var *i = p.kernel->body.at[0]->u.loop.var;
    assert_false(affine_linear(&p.arena, &y, i, &factor, &rest));
    assert_true(affine_linear(&p.arena, &x, i, &factor, &rest));
    assert_int_equal(factor, 8);
    arena_reset(&p.arena);
}

static void forms_overflow_visibly(void **state)
{
    struct arena a = {0};
    struct affine big = affine_number(INT64_MAX), one = affine_number(1);
    (void)state;
    assert_true(affine_add(&a, &big, 1, &one).failed);
    assert_true(affine_add(&a, &one, 2, &big).failed);
    assert_true(affine_mul(&a, &big, &big).failed);
    assert_false(affine_add(&a, &big, -1, &one).failed);
    arena_reset(&a);
}

static void intervals_stay_open(void **state)
{
    struct interval open = {0, INT64_MAX}, some = {-3, 5}, by = {2, 4};
    (void)state;
    assert_int_equal(interval_mul(open, some).lo, INT64_MIN);
    assert_int_equal(interval_mul(open, by).lo, 0);
    assert_int_equal(interval_add(open, by).lo, 2);
    assert_int_equal(interval_add(open, by).hi, INT64_MAX);
    assert_int_equal(interval_div(some, by).lo, -1);
    assert_int_equal(interval_div(some, by).hi, 2);
    assert_int_equal(interval_div(by, some).hi, INT64_MAX);
    assert_int_equal(interval_mod(some, by).lo, -3);
    assert_int_equal(interval_mod(some, by).hi, 3);
    assert_int_equal(interval_ceildiv(interval_of(9), by).lo, 3);
    assert_int_equal(interval_ceildiv(interval_of(9), by).hi, 5);
    assert_int_equal(interval_negate(open).lo, INT64_MIN);
}

// An integer expression of the sizes n and m and the loops i, j and k < 8.
struct range_row {
    const char *expr;
    struct interval range;
};

static const struct range_row range_rows[] = {
    {"k", {0, 7}},
    {"abs(0 - k)", {0, 7}},
    {"0 - k", {-7, 0}},
    {"-k", {-7, 0}},
    {"k + 3", {3, 10}},
    {"k / 2", {0, 3}},
    {"i > j ? k : k * 2", {0, 14}},
    {"1 << k", {1, 128}},
    {"1 << (k - 1)", {INT64_MIN, INT64_MAX}},
    {"int(u8(i))", {0, 255}},
    {"i8(A[i, j])", {-128, 127}},
    {"int(A[i, j])", {INT64_MIN, INT64_MAX}},
    {"int(i < j)", {0, 1}},
    {"i & 3", {0, 3}},
    {"k | 8", {0, 15}},
    {"k ^ 3", {0, 7}},
    {"i | j", {0, INT64_MAX}},
    {"(k - 3) | 1", {INT64_MIN, INT64_MAX}},
    {"min(i, k)", {0, 7}},
};

static void ranges_follow_operations(void **state)
{
    struct probe p;
    struct buf stores = {0};
    (void)state;
    for (size_t i = 0; i < sizeof range_rows / sizeof *range_rows; i++)
        buf_printf(&stores, "B[i, j] = i64(%s)\n", range_rows[i].expr);
    struct ir_block *b = probe(&p, "", stores.data);
    for (size_t i = 0; i < sizeof range_rows / sizeof *range_rows; i++) {
        struct interval r = facts_range(&p.facts, stored(b, i));
        assert_int_equal(r.lo, range_rows[i].range.lo);
        assert_int_equal(r.hi, range_rows[i].range.hi);
    }
    buf_free(&stores);
    arena_reset(&p.arena);
}

// Decide the conditions that a list of stores selects by.
static void decide(const char *where, const char *stores,
                   const enum truth *expected, size_t n)
{
    struct probe p;
    struct ir_block *b = probe(&p, where, stores);
    for (size_t i = 0; i < n; i++) {
        const struct ir_expr *x = b->at[i]->u.store.value;
        if (facts_decide(&p.facts, x->args[0]) != expected[i])
            fail_msg("condition %zu of\n%s", i, stores);
    }
    arena_reset(&p.arena);
}

static void conditions_are_decided(void **state)
{
    static const enum truth expected[] = {
        TRUTH_TRUE, TRUTH_FALSE, TRUTH_TRUE, TRUTH_UNKNOWN,
        TRUTH_TRUE, TRUTH_TRUE,  TRUTH_TRUE, TRUTH_UNKNOWN,
    };
    (void)state;
    decide("",
           "B[i, j] = i * m + j < n * m ? i64(0) : i64(1)\n"
           "B[i, j] = i >= n ? i64(0) : i64(1)\n"
           "B[i, j] = j / 4 * 4 <= j ? i64(0) : i64(1)\n"
           "B[i, j] = i < j ? i64(0) : i64(1)\n"
           "B[i, j] = ceildiv(m, 8) * 8 >= m ? i64(0) : i64(1)\n"
           "B[i, j] = i < n && j % 5 < 5 ? i64(0) : i64(1)\n"
           "B[i, j] = i != n || i > j ? i64(0) : i64(1)\n"
           "B[i, j] = A[i, j] < 1.0 ? i64(0) : i64(1)",
           expected, 8);
}

static void where_is_known(void **state)
{
    static const enum truth expected[] = {TRUTH_TRUE, TRUTH_TRUE, TRUTH_TRUE,
                                          TRUTH_UNKNOWN};
    (void)state;
    decide(" where n * m <= 1000, n <= m, m % 8 == 0",
           "B[i, j] = i * m + j < 1000 ? i64(0) : i64(1)\n"
           "B[i, j] = i < m ? i64(0) : i64(1)\n"
           "B[i, j] = m / 8 * 8 >= n ? i64(0) : i64(1)\n"
           "B[i, j] = n * n <= 100 ? i64(0) : i64(1)",
           expected, 4);
}

// Behind guards on the sizes, products with them are multiples of numbers.
static void sizes_are_multiples(void **state)
{
    static const struct {
        size_t store;
        int64_t of;
        bool is_multiple;
    } rows[] = {{0, 64, true}, {0, 128, false}, {1, 8, true}, {1, 16, false}};
    struct probe p;
    (void)state;
    struct ir_block *b = probe(&p, " where n == 64, (m + 8) % 16 == 0",
                               "B[i, j] = j * n == 0 ? i64(0) : i64(1)\n"
                               "B[i, j] = i * m == 0 ? i64(0) : i64(1)");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ir_expr *is_zero = b->at[rows[i].store]->u.store.value->args[0];
        struct affine x = affine_of(&p.arena, is_zero->args[0]);
        assert_int_equal(facts_multiple(&p.facts, &x, rows[i].of),
                         rows[i].is_multiple);
    }
    arena_reset(&p.arena);
}

// Behind a guard on a sum of sizes, so are sums that differ by multiples.
static void sums_are_multiples(void **state)
{
    static const struct {
        size_t store;
        int64_t of;
        bool is_multiple;
    } rows[] = {{0, 4, true},  {0, 8, true},  {0, 16, false}, {1, 8, true},
                {2, 4, false}, {3, 8, false}, {3, 2, true},   {4, 4, true}};
    struct probe p;
    (void)state;
    struct ir_block *b = probe(&p, " where (m + 2 * n) % 8 == 0",
                               "B[i, j] = m + 2 * n == 0 ? i64(0) : i64(1)\n"
                               "B[i, j] = m - 6 * n == 0 ? i64(0) : i64(1)\n"
                               "B[i, j] = m + n == 0 ? i64(0) : i64(1)\n"
                               "B[i, j] = m + 4 * n == 0 ? i64(0) : i64(1)\n"
                               "B[i, j] = i * m + 2 * i * n + 4 * j == 0 "
                               "? i64(0) : i64(1)");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ir_expr *is_zero = b->at[rows[i].store]->u.store.value->args[0];
        struct affine x = affine_of(&p.arena, is_zero->args[0]);
        assert_int_equal(facts_multiple(&p.facts, &x, rows[i].of),
                         rows[i].is_multiple);
    }
    arena_reset(&p.arena);
}

struct claim_row {
    const char *condition;
    bool is_refuted;
};

static const struct claim_row claim_rows[] = {
    {"i < n", false},
    {"i * m + j < n * m", false},
    {"j / 4 * 4 <= j", false},
    {"j % 5 < 5", false},
    {"A[i, j] < 1.0", false},
    {"i < j", true},
    {"j < i", true},
    {"k < 7", true},
    {"i * 8 + k < n", true},
    {"i * 8 + k < n - 1", true},
    {"j / 8 * 8 + 8 <= m", true},
    {"n < 1000", true},
    {"i + j < n + m - 2", true},
};

// Return whether a round of the search finds a model in which x >= 0 fails.
static bool finds_model(const struct facts *f, const struct affine *x)
{
    for (size_t i = 0; i < MODELS_ROUNDS; i++)
        if (models_search(f, x, i))
            return true;
    return false;
}

static void models_refute_only_what_may_fail(void **state)
{
    struct probe p;
    struct buf stores = {0};
    struct affine form;
    size_t n = sizeof claim_rows / sizeof *claim_rows;
    (void)state;
    for (size_t i = 0; i < n; i++)
        buf_printf(&stores, "B[i, j] = %s ? i64(0) : i64(1)\n",
                   claim_rows[i].condition);
    struct ir_block *b = probe(&p, " where n * m <= 1000000000", stores.data);
    for (size_t i = 0; i < n; i++) {
        const struct ir_expr *c = b->at[i]->u.store.value->args[0];
        bool is_form = facts_form(&p.arena, c, &form);
        if ((is_form && finds_model(&p.facts, &form)) !=
            claim_rows[i].is_refuted)
            fail_msg("%s", claim_rows[i].condition);
    }
    buf_free(&stores);
    arena_reset(&p.arena);
}

static void models_end_with_what_contradicts_them(void **state)
{
    struct probe p;
    struct affine form;
    (void)state;
    struct ir_block *b = probe(&p, "", "B[i, j] = i < j ? i64(0) : i64(1)");
    struct ir_expr *c = b->at[0]->u.store.value->args[0];
    assert_true(facts_form(&p.arena, c, &form));
    assert_false(models_refute(&p.facts, &form));
    assert_true(finds_model(&p.facts, &form));
    assert_true(models_refute(&p.facts, &form));
    struct facts_mark here = facts_mark(&p.facts);
    facts_assume(&p.facts, c, true);
    assert_false(models_refute(&p.facts, &form));
    assert_false(finds_model(&p.facts, &form));
    facts_leave(&p.facts, here);
    assert_true(models_refute(&p.facts, &form));
    arena_reset(&p.arena);
}

// Return the pass context for a kernel.
static struct pass pass_for(struct arena *a, struct arena *scratch,
                            struct str_table *names, struct diag_list *diags,
                            struct ir_kernel *k)
{
    names->arena = diags->arena = a;
    return (struct pass){.kernel = k,
                         .arena = a,
                         .scratch = scratch,
                         .names = names,
                         .diags = diags};
}

static void open_sizes_are_narrowed(void **state)
{
    struct arena a = {0}, scratch = {0};
    struct str_table names = {0};
    struct diag_list diags = {0};
    (void)state;
    struct ir_kernel *k = kernel_text(
        &a, "kernel f(n: int, m: int, l: int, A: f32[n, m, l]) -> B: f32[n] {\n"
            "for i in 0..n @block.x { for j in 0..m { B[i] = A[i, j, 0] } } }");
    struct pass p = pass_for(&a, &scratch, &names, &diags, k);
    assert_true(analysis_narrow(&p));
    assert_string_equal(k->variant, "i32");
    assert_int_equal(k->guard.n, 5);
    prints(k->guard.at[2], "l <= 2147418112");
    prints(k->guard.at[3], "m * l <= 2147418112");
    prints(k->guard.at[4], "n * (m * l) <= 2147418112");
    arena_reset(&scratch);
    arena_reset(&a);
}

static void fast_kernels_are_not_narrowed(void **state)
{
    static const char *const texts[] = {
        "kernel f(A: f32[64, 8]) -> B: f32[64] {\n"
        "for i in 0..512 { B[i / 8] = A[i / 8, i % 8] } }",
        "kernel f(n: int, A: f32[n]) -> B: f32[n] {\n"
        "for i in 0..ceildiv(n, 64) @block.x { for t in 0..64 @thread.x {\n"
        "if i * 64 + t < n { B[i * 64 + t] = A[i * 64 + t] } } } }",
        "kernel f(n: int, A: f32[n]) -> B: f32[n] where n <= 1000000 {\n"
        "for i in 0..n { B[i / 8] = A[i] } }",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena a = {0}, scratch = {0};
        struct str_table names = {0};
        struct diag_list diags = {0};
        struct ir_kernel *k = kernel_text(&a, texts[i]);
        struct pass p = pass_for(&a, &scratch, &names, &diags, k);
        assert_false(analysis_narrow(&p));
        assert_int_equal(k->guard.n, 0);
        arena_reset(&scratch);
        arena_reset(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_normal),
        cmocka_unit_test(forms_divide),
        cmocka_unit_test(forms_overflow_visibly),
        cmocka_unit_test(intervals_stay_open),
        cmocka_unit_test(ranges_follow_operations),
        cmocka_unit_test(conditions_are_decided),
        cmocka_unit_test(where_is_known),
        cmocka_unit_test(sizes_are_multiples),
        cmocka_unit_test(sums_are_multiples),
        cmocka_unit_test(models_refute_only_what_may_fail),
        cmocka_unit_test(models_end_with_what_contradicts_them),
        cmocka_unit_test(open_sizes_are_narrowed),
        cmocka_unit_test(fast_kernels_are_not_narrowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
