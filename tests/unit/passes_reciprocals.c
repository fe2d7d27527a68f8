// The pass `reciprocals`: its products are the quotients and rests, next to every
// multiple of every kind of divisor, in both widths.

#include "passes/pass.h"
#include "support/kernel_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { NUMBERS = 3000 };

// A number with all bits below the sign, in one of the two widths.
struct width {
    const char *type, *most;
    uint64_t end; // one more than the largest
};

static const struct width widths[] = {
    {"u32", "2147483647", UINT64_C(1) << 31},
    {"i64", "i64(9223372036854775807)", UINT64_C(1) << 63},
};

// Return the next of a row of random numbers.
static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *state ^ *state >> 29;
}

// Set numbers below an end: the first and the last, and those around multiples of
// a divisor, first, last and random ones.
static void set_numbers(uint64_t *out, uint64_t d, uint64_t end,
                        uint64_t *state)
{
    for (uint64_t i = 0; i < NUMBERS; i++) {
        uint64_t most = (end - 1) / d, by = i / 6;
        uint64_t multiple = i % 2 ? most - (by < most ? by : most) : by;
        if (by > NUMBERS / 18)
            multiple = next(state) % (most + 1);
        uint64_t n = multiple * d + i % 3 - 1;
        out[i] = i == 0 ? end - 1 : n < end ? n : 0;
    }
}

// Return the kernel that divides such numbers, after the pass, which has to leave
// no division in the loop.
static struct ir_kernel *divider(struct arena *a, const struct width *w)
{
    struct arena scratch = {0};
    struct str_table names = {.arena = a};
    struct diag_list diags = {.arena = a};
    struct pass p = {
        .arena = a, .scratch = &scratch, .names = &names, .diags = &diags};
    const struct pass_options options = {.checked = true};
    p.kernel = kernel_text(
        a, arena_printf(
               a,
               "kernel k(d: int, A: %s[%d]) -> (Q: i64[%d], R: i64[%d])\n"
               "level flat {\n launch k grid(1, 1, 1) block(1, 1, 1) {\n"
               "  for i in 0..idx64(%d) {\n"
               "    let q = idx64(A[i] & %s) / idx64(d)\n"
               "    let r = idx64(A[i] & %s) %% idx64(d)\n"
               "    Q[i] = i64(q)\n    R[i] = i64(r)\n  }\n }\n}\n",
               w->type, NUMBERS, NUMBERS, NUMBERS, NUMBERS, w->most, w->most));
    assert_true(passes_run_one(&p, PASS_reciprocals, &options));
    const char *text = kernel_printed(a, p.kernel);
    assert_non_null(strstr(text, "mulhi"));
    assert_null(strstr(text, "/ idx64(d)"));
    assert_null(strstr(text, "% idx64(d)"));
    arena_reset(&scratch);
    return p.kernel;
}

// Divide numbers by d; fails where a quotient or a rest is wrong.
static void divide(const struct ir_kernel *k, const struct width *w, uint64_t d,
                   uint64_t *state)
{
    uint64_t n[NUMBERS];
    uint32_t narrow[NUMBERS];
    int64_t q[NUMBERS], r[NUMBERS];
    set_numbers(n, d, w->end, state);
    for (int i = 0; i < NUMBERS; i++)
        narrow[i] = (uint32_t)n[i];
    bool is_narrow = w == widths;
    kernel_run(k, ARGS(SIZE((int64_t)d),
                       {.data = is_narrow ? (void *)narrow : (void *)n,
                        .size = is_narrow ? sizeof narrow : sizeof n},
                       ARRAY(q), ARRAY(r)));
    for (int i = 0; i < NUMBERS; i++) {
        if ((uint64_t)q[i] != n[i] / d || (uint64_t)r[i] != n[i] % d)
            print_error("%llu / %llu\n", (unsigned long long)n[i],
                        (unsigned long long)d);
        assert_true((uint64_t)q[i] == n[i] / d);
        assert_true((uint64_t)r[i] == n[i] % d);
    }
}

// Powers of 2, their neighbours, and random sizes of every length divide all
// numbers as they should: in 32 bits, also those that need more.
static void products_are_quotients(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct arena a = {0};
        uint64_t random = 1;
        struct ir_kernel *k = divider(&a, &widths[i]);
        for (int bit = 0; bit < 63; bit++) {
            uint64_t power = UINT64_C(1) << bit;
            divide(k, &widths[i], power, &random);
            divide(k, &widths[i], power + 1, &random);
            divide(k, &widths[i], 2 * power - 1, &random);
            divide(k, &widths[i], power + next(&random) % power, &random);
        }
        arena_reset(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_quotients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
