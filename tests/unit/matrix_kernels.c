// The kernels of tests/kernels/matrix, written as loops, compute what the
// definition behind them in the same file says.

#include "frontend/frontend.h"
#include "ir/eval.h"
#include "tests/unit/support/kernel_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { M = 128, N = 128, K = 192 };

// Read a file of the folder whole into the arena.
static struct source read_source(struct arena *a, const char *name)
{
    const char *root = getenv("SOURCE_DIR");
    const char *path =
        arena_printf(a, "%s/tests/kernels/matrix/%s", root ? root : ".", name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    size_t size = (size_t)ftell(in);
    char *text = arena_alloc(a, size + 1);
    rewind(in);
    assert_int_equal(fread(text, 1, size, in), size);
    fclose(in);
    return (struct source){path, text, size};
}

// Return halves that are small whole numbers, so that sums are exact.
static void *halves(struct arena *a, size_t n, size_t seed)
{
    struct type t = type_scalar(TYPE_f16);
    char *data = arena_alloc(a, n * type_bytes(t));
    for (size_t i = 0; i < n; i++)
        eval_store_float(t, data + i * type_bytes(t),
                         (double)((i * seed + i / 31) % 7) - 3);
    return data;
}

// Evaluate a kernel of a file on the same numbers each time.
static float *evaluate(struct arena *a, const struct ir_kernel *k)
{
    float *c = arena_alloc(a, M * N * sizeof *c);
    memset(c, 0xff, M * N * sizeof *c);
    struct eval_argument args[] = {
        {.scalar.i = M},
        {.scalar.i = N},
        {.scalar.i = K},
        {.data = halves(a, M * K, 5), .size = M * K * 2},
        {.data = halves(a, K * N, 3), .size = K * N * 2},
        {.data = c, .size = M * N * sizeof *c}};
    kernel_run(k, args);
    return c;
}

// Compare the first kernel of a file with the second.
static void check_file(const char *name)
{
    struct arena arena = {0};
    struct str_table names = {.arena = &arena};
    struct diag_list diags = {.arena = &arena};
    struct program program = {0};
    struct source source = read_source(&arena, name);
    assert_true(
        frontend_parse(&arena, &names, &source, false, &diags, &program));
    assert_int_equal(program.kernels.n, 2);
    float *got = evaluate(&arena, program.kernels.at[0]);
    float *wanted = evaluate(&arena, program.kernels.at[1]);
    for (int i = 0; i < M * N; i++)
        assert_true(got[i] == wanted[i]);
    arena_reset(&arena);
}

static void warps(void **state)
{
    (void)state;
    check_file("mma_f16.ing");
}

static void warpgroups(void **state)
{
    (void)state;
    check_file("wgmma_f16.ing");
}

static void ring(void **state)
{
    (void)state;
    check_file("wgmma_ring.ing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps),
        cmocka_unit_test(warpgroups),
        cmocka_unit_test(ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
