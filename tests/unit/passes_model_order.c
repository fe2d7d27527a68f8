// Of two ways to run a kernel that were measured, the model says that the faster one is.
// Every row is from tools/bench/RESULTS.md: times, or shares of one peer's speed.

#include "passes/model/model.h"
#include "tools/libingot/compile.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// How far a predicted ratio may be from the measured one, as a factor.
#define FACTOR 1.6

static const char product[] =
    "kernel mm(M: int, N: int, K: int, A: f16[M, K] align 16, B: f16[K, N] align 16)"
    " -> C: f16[M, N] {\n"
    "let acc[i, j] = sum(k in K) f32(A[i, k]) * f32(B[k, j])\n"
    "C[i, j] = f16(acc[i, j])\n}\n"
    "schedule mm for sm_90a { %s }\n";

static const char sums[] =
    "kernel column_sums(m: int, n: int, A: f32[m, n]) -> S: f32[n] {\n"
    "S[j] = sum(i in m) A[i, j]\n}\n"
    "schedule column_sums { %s }\n";

static const char convolution[] =
    "kernel conv(b: int, h: int, w: int, c: int, f: int, X: f16[b, h, w, c], W: f16[f, 3, 3, c])"
    " -> Y: f16[b, h, w, f] {\n"
    "let P[n in b, y in h + 2, x in w + 2, k in c] ="
    " 1 <= y && y <= h && 1 <= x && x <= w ? X[n, y - 1, x - 1, k] : f16(0.0)\n"
    "let acc[n in b, y in h, x in w, o in f] ="
    " sum(r in 3, s in 3, k in c) f32(P[n, y + r, x + s, k]) * f32(W[o, r, s, k])\n"
    "Y[n, y, x, o] = f16(acc[n, y, x, o])\n}\n"
    "schedule conv for sm_80+ when c % 8 == 0 && f % 8 == 0 { %s }\n";

// One way to run a kernel: a file of tests/kernels, or a text with a schedule in it.
struct way {
    const char *file, *text, *schedule;
};
#define FILE_(name)                                                            \
    {                                                                          \
        "seeds/" name ".ing", NULL, NULL                                       \
    }
#define TILE(arguments)                                                        \
    {                                                                          \
        NULL, product, "gemm_sm90(acc, C, " arguments ")"                      \
    }
#define PARTS(n)                                                               \
    {                                                                          \
        NULL, sums, "column_reduce(S, " #n ")"                                 \
    }
#define WINDOWS(arguments)                                                     \
    {                                                                          \
        NULL, convolution, "conv(acc, Y, " arguments ")"                       \
    }

enum { SIZES_MOST = 5 };

// Two ways, sizes of the launch (M, N, K, where it has any), and how many times as long
// as the second one the first one took on an H200.
static const struct row {
    struct way slow, fast;
    int64_t sizes[SIZES_MOST];
    double ratio;
} rows[] = {
    // The seeds' chains, in steps: 3, 12, 192, 12 and 24 blocks for 132 SMs.
    {FILE_("004_dwconv_v0_plain"),
     FILE_("004_dwconv_v1_plain"),
     {0},
     795.0 / 213},
    {FILE_("004_dwconv_v1_plain"),
     FILE_("004_dwconv_v2_plain"),
     {0},
     213 / 21.3},
    {FILE_("004_dwconv_v2_plain"),
     FILE_("004_dwconv_v3_plain"),
     {0},
     21.3 / 3.52},
    {FILE_("004_dwconv_v3_plain"),
     FILE_("004_dwconv_v4_plain"),
     {0},
     3.52 / 2.53},
    {FILE_("004_dwconv_v2_shared"),
     FILE_("004_dwconv_v3_shared"),
     {0},
     9.21 / 2.98},
    {FILE_("004_dwconv_v3_shared"),
     FILE_("004_dwconv_v4_shared"),
     {0},
     2.98 / 1.96},
    {FILE_("004_dwconv_v0_unrolled"),
     FILE_("004_dwconv_v1_unrolled"),
     {0},
     306 / 87.9},
    {FILE_("004_dwconv_v1_unrolled"),
     FILE_("004_dwconv_v2_unrolled"),
     {0},
     87.9 / 9.28},
    {FILE_("004_dwconv_v2_unrolled"),
     FILE_("004_dwconv_v3_unrolled"),
     {0},
     9.28 / 2.98},
    {FILE_("004_dwconv_v3_unrolled"),
     FILE_("004_dwconv_v4_unrolled"),
     {0},
     2.98 / 1.96},
    {FILE_("000_matmul_naive"),
     FILE_("000_matmul_blocking"),
     {1024, 1024, 1024},
     432.0 / 203},
    {FILE_("000_matmul_blocking"),
     FILE_("000_matmul_shared"),
     {1024, 1024, 1024},
     203.0 / 193},
    {FILE_("002_hgemm_local"),
     FILE_("002_hgemm_tile"),
     {1024, 1024, 1024},
     512.0 / 110},
    {FILE_("003_matmul_naive_f32"),
     FILE_("003_matmul_shared_f32"),
     {6000, 4800, 4000},
     237083.0 / 30406},
    // "Which tile, by size": fewer tiles than SMs, a last wave of few, short k.
    {TILE("[128, 256]"),
     TILE("[64, 128], 8, 2"),
     {1024, 1024, 1024},
     0.987 / 0.508},
    {TILE("[128, 192], 4, 2"),
     TILE("[128, 128], 4, 2"),
     {1024, 1024, 1024},
     0.732 / 0.591},
    {TILE("[256, 192], 3"),
     TILE("[128, 256]"),
     {1024, 1024, 1024},
     0.508 / 0.372},
    {TILE("[128, 192], 4, 2"),
     TILE("[128, 256]"),
     {2048, 2048, 2048},
     0.997 / 0.746},
    {TILE("[128, 224]"),
     TILE("[256, 192], 3"),
     {2048, 2048, 2048},
     0.749 / 0.625},
    {TILE("[128, 256]"),
     TILE("[128, 192], 4, 2"),
     {3072, 3072, 3072},
     1.006 / 0.765},
    {TILE("[256, 192], 3"),
     TILE("[128, 224]"),
     {3072, 3072, 3072},
     0.823 / 0.767},
    {TILE("[128, 128], 4, 2"),
     TILE("[128, 256]"),
     {4096, 4096, 4096},
     0.995 / 0.927},
    {TILE("[256, 192], 3"),
     TILE("[128, 224]"),
     {5120, 5120, 5120},
     0.979 / 0.865},
    {TILE("[128, 128], 4, 2"),
     TILE("[128, 192], 4, 2"),
     {8192, 8192, 8192},
     1.028 / 0.901},
    {TILE("[128, 224]"),
     TILE("[128, 192], 4, 2"),
     {8192, 8192, 256},
     1.031 / 0.803},
    {TILE("[64, 128], 8, 2"),
     TILE("[128, 192], 4, 2"),
     {8192, 8192, 512},
     1.114 / 0.945},
    // "Whole spaces": of few blocks each waits for its own loads; a thread that copies
    // eight times finds each place anew, one that does so four times does not.
    {PARTS(1), PARTS(2), {16384, 4096}, 145.5 / 89.3},
    {PARTS(2), PARTS(8), {16384, 4096}, 89.3 / 67.3},
    {WINDOWS("[128, 64], [1, 2], 3"),
     WINDOWS("[128, 64], [2, 2], 3"),
     {32, 56, 56, 64, 64},
     55.4 / 34.8},
    {WINDOWS("[256, 64], [2, 2], 3"),
     WINDOWS("[128, 64], [2, 2], 3"),
     {32, 56, 56, 64, 64},
     52.1 / 34.8},
};

// Write a text with the schedule of a way, and return how long it is.
static size_t write_text(char *to, size_t most, const struct way *w)
{
    const char *hole = strstr(w->text, "%s");
    int n = snprintf(to, most, "%.*s%s%s", (int)(hole - w->text), w->text,
                     w->schedule, hole + 2);
    assert_true(n > 0 && (size_t)n < most);
    return (size_t)n;
}

// Add the text of a way to a compilation.
static void add(struct compilation *c, const struct way *w)
{
    enum { SIZE = 1 << 14 };
    char *text = arena_array(&c->arena, char, SIZE);
    const char *root = getenv("SOURCE_DIR");
    size_t n;
    if (w->file) {
        const char *path = arena_printf(&c->arena, "%s/tests/kernels/%s",
                                        root ? root : ".", w->file);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        n = fread(text, 1, SIZE, file);
        assert_true(n > 0 && n < SIZE);
        fclose(file);
    } else {
        n = write_text(text, SIZE, w);
    }
    assert_true(compile_add(c, w->file ? w->file : w->schedule, text, n));
}

// Ways that were lowered, which do not depend on sizes.
enum { LOWERED_MOST = 64 };
struct lowered {
    const struct way *ways[LOWERED_MOST];
    struct compilation all[LOWERED_MOST];
    size_t n;
};

// Return whether two texts are the same, or there are none.
static bool is_same(const char *x, const char *y)
{
    return x && y ? strcmp(x, y) == 0 : x == y;
}

// Return the compilation of a way, which is lowered for sm_90a.
static struct compilation *lower(struct lowered *l, const struct way *w)
{
    for (size_t i = 0; i < l->n; i++)
        if (is_same(l->ways[i]->file, w->file) &&
            is_same(l->ways[i]->schedule, w->schedule))
            return &l->all[i];
    assert_true(l->n < LOWERED_MOST);
    struct compilation *c = &l->all[l->n];
    l->ways[l->n++] = w;
    compile_start(c);
    add(c, w);
    const struct nvptx_target *target = nvptx_target_find("sm_90a", &c->diags);
    struct compile_options o = {
        .targets = &target, .n_targets = 1, .schedule = "1"};
    assert_true(compile_lower(c, &o) && c->variants.n);
    return c;
}

// Return the microseconds that are predicted of a way, on the H200.
static double predicted(struct lowered *l, const struct way *w,
                        const int64_t sizes[SIZES_MOST])
{
    struct compilation *c = lower(l, w);
    struct model_time time = {0};
    const struct ir_kernel *kernel = c->variants.at[0].kernel;
    size_t room = kernel->params.n + SIZES_MOST;
    int64_t *values = arena_array(&c->arena, int64_t, room);
    for (size_t i = 0; i < SIZES_MOST; i++)
        values[i] = sizes[i];
    struct model_question q = {.kernel = kernel,
                               .values = values,
                               .device = model_device_named("H200")};
    assert_true(model_time(&c->arena, &q, &time));
    return time.us;
}

// The order of all pairs, and about how far they are apart.
static void test_order(void **state)
{
    struct lowered *l = *state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        double slow = predicted(l, &r->slow, r->sizes);
        double fast = predicted(l, &r->fast, r->sizes);
        double ratio = slow / fast, off = fabs(log(ratio / r->ratio));
        if (ratio > 1 && off < log(FACTOR))
            continue;
        wrong++;
        print_error("row %zu: %g us and %g us are predicted, a ratio of %.3f; "
                    "%.3f was measured\n",
                    i, slow, fast, ratio, r->ratio);
    }
    assert_int_equal(wrong, 0);
}

// Of two slots one is filled while the other one is used, and products wait for copies;
// with three and four they do not.
static void test_slots(void **state)
{
    struct lowered *l = *state;
    static const struct way ways[] = {
        TILE("[128, 256], 2"), TILE("[128, 256], 3"), TILE("[128, 256]")};
    const int64_t sizes[SIZES_MOST] = {4096, 4096, 4096};
    double two = predicted(l, &ways[0], sizes);
    double three = predicted(l, &ways[1], sizes);
    double four = predicted(l, &ways[2], sizes);
    assert_true(two > 1.1 * three && fabs(three / four - 1) < 0.01);
}

// Make room for what is lowered.
static int set_up(void **state)
{
    *state = calloc(1, sizeof(struct lowered));
    return *state ? 0 : -1;
}

// Release it.
static int tear_down(void **state)
{
    struct lowered *l = *state;
    while (l->n)
        compile_end(&l->all[--l->n]);
    free(l);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_slots)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
