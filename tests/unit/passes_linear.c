// Linear systems over integers: quotients, and what bounds decide, against
// trying all numbers.

#include "passes/analysis/linear.h"
#include "passes/analysis/linear_bounds.h"
#include "passes/analysis/linear_reduce.h"

#include "tests/support/draw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SYSTEMS = 2000, MOST = 40, UNKNOWNS = 3 };

// Start with a system of unknowns from 0 to MOST.
static struct linear bounded(struct arena *a)
{
    struct linear l = linear_start(a);
    struct sum zero = linear_number(0), most = linear_number(MOST);
    for (int i = 0; i < UNKNOWNS; i++) {
        struct sum x = linear_add_unknown(&l);
        linear_require(&l, &x, &zero, 0);
        linear_require(&l, &most, &x, 0);
    }
    return l;
}

// Return a random number from -most to most.
static int64_t draw_signed(uint64_t *state, int64_t most)
{
    return (int64_t)draw_below(state, (uint64_t)(2 * most + 1)) - most;
}

// What is asked of the numbers x, y, z: factors with a constant first, for a
// sum and for one whose quotient is added to it.
struct condition {
    int64_t sum[1 + UNKNOWNS], inner[1 + UNKNOWNS], by;
    bool is_zero;
};

// Draw a condition.
static struct condition draw_condition(uint64_t *state)
{
    static const int64_t factors[] = {0, 0, 1, -1, 2, -2, 3, 4, -8, 16};
    struct condition c = {.by = 1 + (int64_t)draw_below(state, 12)};
    c.is_zero = draw_below(state, 2);
    for (int i = 1; i <= UNKNOWNS; i++) {
        c.sum[i] = draw_one(state, factors);
        c.inner[i] = draw_one(state, factors);
    }
    c.sum[0] = draw_signed(state, 40);
    c.inner[0] = draw_signed(state, 9);
    return c;
}

// Return factors applied to numbers.
static int64_t value(const int64_t *factors, const int64_t *x)
{
    int64_t r = factors[0];
    for (int i = 1; i <= UNKNOWNS; i++)
        r += factors[i] * x[i];
    return r;
}

// Return whether numbers satisfy a condition.
static bool satisfies(const struct condition *c, const int64_t *x)
{
    int64_t inner = value(c->inner, x);
    int64_t r = value(c->sum, x) + inner / c->by - (inner % c->by < 0);
    return c->is_zero ? r == 0 : r >= 0;
}

// Return whether some numbers from 0 to MOST satisfy all conditions.
static bool try_all(const struct condition *c, int n)
{
    enum { SIDE = MOST + 1 };
    for (int k = 0; k < SIDE * SIDE * SIDE; k++) {
        int64_t x[] = {1, k % SIDE, k / SIDE % SIDE, k / SIDE / SIDE};
        bool good = true;
        for (int i = 0; i < n && good; i++)
            good = satisfies(&c[i], x);
        if (good)
            return true;
    }
    return false;
}

// Require a condition.
static void require(struct linear *l, const struct condition *c)
{
    struct sum sum = linear_number(0), inner = sum, zero = sum;
    for (int i = 0; i <= UNKNOWNS; i++) {
        sum.k[i] = c->sum[i];
        inner.k[i] = c->inner[i];
    }
    struct sum quotient = linear_divide(l, inner, c->by);
    sum = linear_plus(l, sum, 1, &quotient);
    if (c->is_zero)
        linear_require_equal(l, &sum, &zero);
    else
        linear_require(l, &sum, &zero, 0);
}

// Return whether isl finds a solution of the rows as they are.
static bool ask_isl(const struct linear *l)
{
    isl_basic_set *set = linear_solutions(l, l->ctx);
    bool is_empty = isl_basic_set_is_empty(set) == isl_bool_true;
    isl_basic_set_free(set);
    return !is_empty;
}

// Assert that a system has a solution or not, for bounds, for what these leave and
// for a smaller system.  Returns what bounds say.
static enum solvable assert_truth(struct linear *l, bool truth)
{
    struct linear left, small = linear_reduced(l->arena, l);
    enum solvable by_bounds = linear_bounds(l, &left);
    if (by_bounds != SOLVABLE_UNKNOWN)
        assert_int_equal(by_bounds == SOLVABLE_YES, truth);
    if (by_bounds != SOLVABLE_NO)
        assert_int_equal(ask_isl(&left), truth);
    assert_int_equal(ask_isl(&small), truth);
    assert_int_equal(linear_is_possible(l), truth);
    return by_bounds;
}

static void answers_are_those_of_trying(void **state)
{
    (void)state;
    uint64_t random = draw_start(7, 0);
    int decided = 0, possible = 0;
    for (int i = 0; i < SYSTEMS; i++) {
        struct arena a = {0};
        struct linear l = bounded(&a);
        struct condition c[4];
        int n = 1 + (int)draw_below(&random, 4);
        for (int k = 0; k < n; k++) {
            c[k] = draw_condition(&random);
            require(&l, &c[k]);
        }
        bool truth = try_all(c, n);
        enum solvable by_bounds = assert_truth(&l, truth);
        decided += by_bounds != SOLVABLE_UNKNOWN;
        possible += truth;
        linear_end(&l);
        arena_reset(&a);
    }
    assert_true(decided > SYSTEMS * 4 / 5);
    assert_in_range(possible, SYSTEMS / 5, SYSTEMS * 4 / 5);
}

static void answers_without_ends_are_those_of_isl(void **state)
{
    (void)state;
    uint64_t random = draw_start(8, 0);
    int smaller = 0;
    for (int i = 0; i < SYSTEMS; i++) {
        struct arena a = {0};
        struct linear l = linear_start(&a);
        struct sum zero = linear_number(0), most = linear_number(MOST);
        for (int k = 0; k < UNKNOWNS; k++) {
            struct sum x = linear_add_unknown(&l);
            if (draw_below(&random, 2))
                linear_require(&l, &x, &zero, 0);
            if (draw_below(&random, 2))
                linear_require(&l, &most, &x, 0);
        }
        for (int n = 1 + (int)draw_below(&random, 4); n > 0; n--) {
            struct condition c = draw_condition(&random);
            require(&l, &c);
        }
        assert_truth(&l, ask_isl(&l));
        smaller += linear_reduced(&a, &l).n < l.n;
        linear_end(&l);
        arena_reset(&a);
    }
    assert_true(smaller > SYSTEMS / 50);
}

static void unknowns_without_an_end_go_one_after_another(void **state)
{
    (void)state;
    struct arena a = {0};
    struct linear l = bounded(&a);
    struct sum x = linear_add_unknown(&l), n = linear_add_unknown(&l);
    struct sum m = linear_unknown(1), times = linear_number(0);
    times = linear_plus(&l, times, 4, &n);
    linear_require(&l, &x, &times, 0);
    linear_require(&l, &n, &m, -1);
    linear_require(&l, &n, &m, -7);
    assert_int_equal(linear_reduced(&a, &l).n, UNKNOWNS);
    assert_int_equal(linear_reduced(&a, &l).rows.n, 2 * UNKNOWNS);
    assert_true(linear_is_possible(&l));
    linear_end(&l);
    arena_reset(&a);
}

static void of_parallel_rows_the_strictest_stays(void **state)
{
    (void)state;
    struct arena a = {0};
    struct linear l = bounded(&a);
    struct sum x = linear_unknown(1), y = linear_unknown(2);
    for (int i = 0; i < 5; i++)
        linear_require(&l, &x, &y, -(i ^ 2));
    struct linear small = linear_reduced(&a, &l);
    assert_int_equal(small.rows.n, 2 * UNKNOWNS + 1);
    assert_int_equal(small.rows.at[2 * UNKNOWNS].sum.k[0], -6);
    linear_end(&l);
    arena_reset(&a);
}

// Assert that two sums are the same.
static void assert_same(const struct sum *x, const struct sum *y)
{
    assert_memory_equal(x, y, sizeof *x);
}

static void quotients_are_one_unknown(void **state)
{
    (void)state;
    struct arena a = {0};
    struct linear l = bounded(&a);
    struct sum t = linear_unknown(1), eight = linear_number(8);
    struct sum warp = linear_divide(&l, t, 32), group = linear_divide(&l, t, 8);
    struct sum lane = linear_plus(&l, t, -32, &warp);
    struct sum row = linear_divide(&l, lane, 8);
    struct sum same = linear_plus(&l, group, -4, &warp);
    assert_same(&row, &same);
    struct sum twice = linear_divide(&l, group, 4);
    assert_same(&twice, &warp);
    struct sum more = linear_plus(&l, t, 1, &eight);
    more = linear_divide(&l, more, 8);
    same = linear_number(1);
    same = linear_plus(&l, same, 1, &group);
    assert_same(&more, &same);
    assert_int_equal(l.n, UNKNOWNS + 2);
    linear_end(&l);
    arena_reset(&a);
}

static void open_systems_are_left_to_isl(void **state)
{
    (void)state;
    struct arena a = {0};
    struct linear l = linear_start(&a);
    struct sum x = linear_add_unknown(&l), y = linear_add_unknown(&l);
    struct sum left = linear_plus(&l, linear_number(0), 6, &x);
    left = linear_plus(&l, left, 4, &y);
    struct sum right = linear_number(INT64_C(3) << 40);
    linear_require_equal(&l, &left, &right);
    struct linear rest;
    assert_int_equal(linear_bounds(&l, &rest), SOLVABLE_UNKNOWN);
    assert_int_equal(rest.rows.n, l.rows.n);
    assert_true(linear_is_possible(&l));
    linear_end(&l);
    arena_reset(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_trying),
        cmocka_unit_test(answers_without_ends_are_those_of_isl),
        cmocka_unit_test(unknowns_without_an_end_go_one_after_another),
        cmocka_unit_test(of_parallel_rows_the_strictest_stays),
        cmocka_unit_test(quotients_are_one_unknown),
        cmocka_unit_test(open_systems_are_left_to_isl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
