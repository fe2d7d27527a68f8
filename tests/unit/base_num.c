// Checked arithmetic at its edges: what does not fit is refused, and the
// result left alone.

#include "ir/base/num.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// One operation on two numbers.
struct row {
    bool (*operation)(int64_t a, int64_t b, int64_t *out);
    int64_t a, b;
    bool fits;
    int64_t result; // if it fits
};

static const struct row rows[] = {
    {num_add, INT64_MAX, 0, true, INT64_MAX},
    {num_add, INT64_MAX, 1, false, 0},
    {num_add, INT64_MIN, -1, false, 0},
    {num_add, INT64_MAX, INT64_MIN, true, -1},
    {num_sub, INT64_MIN, 1, false, 0},
    {num_sub, 0, INT64_MIN, false, 0},
    {num_sub, -1, INT64_MIN, true, INT64_MAX},
    {num_mul, INT64_MAX, 2, false, 0},
    {num_mul, INT64_MIN, -1, false, 0},
    {num_mul, INT64_C(1) << 32, INT64_C(1) << 31, false, 0},
    {num_mul, INT64_C(1) << 31, INT64_C(1) << 31, true, INT64_C(1) << 62},
    {num_mul, INT64_MIN, 0, true, 0},
    {num_div, 7, 0, false, 0},
    {num_div, INT64_MIN, -1, false, 0},
    {num_div, -7, 2, true, -3},
    {num_div, 7, -2, true, -3},
    {num_div, INT64_MIN, 1, true, INT64_MIN},
    {num_mod, 7, 0, false, 0},
    {num_mod, INT64_MIN, -1, false, 0},
    {num_mod, -7, 2, true, -1},
    {num_mod, 7, -2, true, 1},
    {num_ceildiv, 7, 2, true, 4},
    {num_ceildiv, 8, 2, true, 4},
    {num_ceildiv, 0, 5, true, 0},
    {num_ceildiv, INT64_MAX, 2, true, (INT64_C(1) << 62)},
    {num_ceildiv, INT64_MAX, 1, true, INT64_MAX},
    {num_ceildiv, -1, 2, false, 0},
    {num_ceildiv, 1, 0, false, 0},
    {num_ceildiv, 1, -2, false, 0},
};

static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t result = 12345;
        bool fits = rows[i].operation(rows[i].a, rows[i].b, &result);
        assert_int_equal(fits, rows[i].fits);
        assert_int_equal(result, fits ? rows[i].result : 12345);
    }
}

static void finds_divisors(void **state)
{
    (void)state;
    assert_int_equal(num_gcd(12, 18), 6);
    assert_int_equal(num_gcd(-12, 18), 6);
    assert_int_equal(num_gcd(12, -18), 6);
    assert_int_equal(num_gcd(0, 5), 5);
    assert_int_equal(num_gcd(5, 0), 5);
    assert_int_equal(num_gcd(0, 0), 0);
    assert_int_equal(num_gcd(INT64_MAX, 1), 1);
    assert_int_equal(num_gcd(INT64_MAX - 1, 2), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_does_not_fit),
        cmocka_unit_test(finds_divisors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
