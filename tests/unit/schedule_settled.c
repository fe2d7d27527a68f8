// Which questions about iterations need no isl, next to others that do; what a kernel
// without a schedule may ask; and sizes that are tried before isl.

#include "ir/build.h"
#include "ir/walk.h"
#include "passes/schedule/depend/access.h"
#include "tools/libingot/compile.h"
#include "tools/libingot/trials.h"

#include "support/kernel_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { LOOPS_MOST = 4 };

// A nest in a kernel, and a question about its loops.
struct subject {
    struct arena arena, scratch;
    struct diag_list diags;
    struct pass pass;
    struct ir_stmt *loops[LOOPS_MOST], *order[LOOPS_MOST];
    struct depend_nest nest;
    struct depend_question question;
};

// Parse a kernel, and find `n` loops of its nest, from loop number `first` on.
static void start(struct subject *s, const char *text, size_t first, size_t n)
{
    size_t at = 0;
    memset(s, 0, sizeof *s);
    s->diags.arena = &s->arena;
    s->pass = (struct pass){.kernel = kernel_text(&s->arena, text),
                            .arena = &s->arena,
                            .scratch = &s->scratch,
                            .diags = &s->diags};
    ir_foreach_stmt(loop, &s->pass.kernel->body) {
        if (loop->kind != STMT_for)
            continue;
        if (at >= first && at < first + n)
            s->loops[at - first] = loop;
        at++;
    }
    s->question = (struct depend_question){.loops = s->loops, .n = n};
}

// Release what a test has made.
static void finish(struct subject *s)
{
    arena_reset(&s->scratch);
    arena_reset(&s->arena);
}

// Return whether the question is settled for all pairs of accesses of an array of
// which one writes.
static bool is_settled(struct subject *s, const char *array)
{
    bool settled = true;
    depend_walk(&s->nest, &s->pass, s->loops[0], s->question.axis, false);
    vec_foreach(x, &s->nest.accesses) {
        vec_foreach(y, &s->nest.accesses) {
            if (strcmp(x->buffer->name, array) != 0 || x->buffer != y->buffer ||
                !x->writes)
                continue;
            struct depend_known known = depend_common(&s->nest, x, y);
            settled &= depend_is_settled(&s->nest, &s->question, x, y, &known);
        }
    }
    return settled;
}

// Return whether iterations of the outermost loop are independent without isl,
// and check that isl says the same.
static bool independent(const char *text, bool truth)
{
    struct subject s;
    struct depend_conflict ignored;
    start(&s, text, 0, 1);
    s.question.axis = AXIS_block_x;
    bool settled = is_settled(&s, "C");
    assert_int_equal(
        depend_carried(&s.pass, s.loops[0], AXIS_block_x, false, &ignored),
        !truth);
    finish(&s);
    return settled;
}

static void quotients_join_their_digits(void **state)
{
    (void)state;
#define LAYOUT(by, digit)                                                      \
    "kernel f(n: int) -> C: f32[n, 256, 128] {\n"                              \
    "for a in 0..n { for b in 0..2 { for c in 0..128 {\n"                      \
    "C[(a * 256 + b * 128 + c) / " by                                          \
    ", (a * 256 + b * 128 + c) / 128 % " digit                                 \
    ", (a * 256 + b * 128 + c) % 128] = 1 } } } }"
    assert_true(independent(LAYOUT("256", "2"), true));
    assert_true(independent(LAYOUT("512", "4"), true));
    assert_false(independent(LAYOUT("512", "2"), false));
    assert_false(independent(LAYOUT("256", "1"), true));
#undef LAYOUT
}

static void digits_of_one_weight_are_equal(void **state)
{
    (void)state;
#define TWO(second)                                                            \
    "kernel f(n: int, D: f32[n, 64] inout) -> C: f32[n, 64] {\n"               \
    "for a in 0..n {\n"                                                        \
    "for b in 0..2 { for c in 0..32 { C[a / 4, b * 32 + c / 4 * 4 + a % 4]"    \
    " = 1 } }\n"                                                               \
    "for b in 0..2 { for c in 0..8 { D[a, c] = C[" second "] } } } }"
    assert_true(independent(TWO("a / 4, b * 32 + c * 4 + a % 4"), true));
    assert_false(independent(TWO("a / 4, b * 16 + c * 2 + a % 2"), false));
    assert_false(
        independent(TWO("a / 4, b * 32 + c * 4 + (a + 1) % 4"), false));
#undef TWO
}

static void equations_around_tell_a_loop(void **state)
{
    (void)state;
#define UNDER(condition)                                                       \
    "kernel f(n: int) -> C: f32[n] {\n"                                        \
    "for s in 0..8 { for i in 0..n { if " condition " { C[i] = 1 } } } }"
    assert_true(independent(UNDER("s == 1"), true));
    assert_false(independent(UNDER("s <= 0"), true));
    assert_false(independent(UNDER("s / 2 == 1"), false));
    assert_true(independent(UNDER("s == i"), true));
#undef UNDER
}

// Return whether the read of L has a twin, in a nest with an extent, a condition and
// an index; `first` is that of the write.
static bool has_twin(const char *first, const char *extent,
                     const char *condition, const char *index)
{
    struct subject s;
    struct arena a = {0};
    bool found = false;
    start(&s,
          arena_printf(
              &a,
              "kernel f(n: int, A: f32[n]) -> C: f32[n, n] {\n"
              "alloc L: f32[n] in local\n"
              "for i in 0..n {\n"
              "for a in 0..ceildiv(n, 8) { for b in 0..8 {\n"
              "if a * 8 + b < n { L[a * 8 + b] = %s } } }\n"
              "for u in 0..1 { for j in 0..ceildiv(n, 8) { for k in 0..%s {\n"
              "if %s { C[i + u, j * 8 + k] = L[%s] } } } } } }",
              first, extent, condition, index),
          0, 1);
    depend_walk(&s.nest, &s.pass, s.loops[0], AXIS_block_x, true);
    vec_foreach(x, &s.nest.accesses)
        if (strcmp(x->buffer->name, "L") == 0 && !x->writes)
            found = depend_has_twin(&s.nest, &s.question, x);
    finish(&s);
    arena_reset(&a);
    return found;
}

static void reads_have_a_write_like_them(void **state)
{
    static const char at[] = "j * 8 + k", in[] = "j * 8 + k < n";
    (void)state;
    assert_true(has_twin("1", "8", in, at));
    assert_true(has_twin("1", "8", "i < n && j * 8 + k < n", at));
    assert_true(has_twin("1", "8", "j * 8 + k + i < n", at));
    assert_false(has_twin("1", "8", "i < n", at));
    assert_false(has_twin("1", "4", in, at));
    assert_false(has_twin("1", "8", in, "j * 8 + 7 - k"));
    assert_false(has_twin("1", "8", in, "j * 4 + k"));
    assert_false(has_twin("L[a * 8 + b] + 1", "8", "i < n", at));
}

// Return whether isl need not be asked of a loop inside of another one, whose
// iterations run at any time, too.
static bool inner_is_settled(const char *index)
{
    struct subject s;
    struct arena a = {0};
    start(&s,
          arena_printf(&a,
                       "kernel f(n: int) -> C: f32[n, 256] {\n"
                       "for a in 0..n { for b in 0..8 { for c in 0..8 {\n"
                       "C[%s] = 1 } } } }",
                       index),
          1, 1);
    depend_walk(&s.nest, &s.pass, s.loops[0], AXIS_thread_x, true);
    const struct depend_access *x = &s.nest.accesses.at[0];
    struct depend_known known = depend_common(&s.nest, x, x);
    bool settled = depend_is_settled(&s.nest, &s.question, x, x, &known);
    finish(&s);
    arena_reset(&a);
    return settled;
}

static void one_index_tells_where_others_begin(void **state)
{
    (void)state;
    assert_true(inner_is_settled("a, b * 8 + c"));
    assert_true(inner_is_settled("a, b * 8 + c - a * n % 4"));
    assert_false(inner_is_settled("a / 4, b * 8 + c - a * n % 4"));
    assert_false(inner_is_settled("a, b * 7 + c - a * n % 4"));
}

// Return whether the loops j_0 and j_1 of a reduction over rows that begin at
// `skew` may change places without asking isl, with a third loop inside.
static bool first_in_any_order(const char *skew, size_t from, size_t to)
{
    struct subject s;
    struct arena a = {0};
    const char *text = arena_printf(
        &a,
        "kernel f(M: int, N: int, X: f32[M, N]) -> C: f32[M] {\n"
        "for i in 0..M { let skew = %s\n"
        "for j_0 in 0..ceildiv(N + 3, 64) { for j_1 in 0..16 { for j_2 in 0..4 "
        "{ stage C(vi in M = i, reduce vj in N = j_0 * 64 + j_1 * 4 + j_2 - "
        "skew) if skew <= j_0 * 64 + j_1 * 4 + j_2 && "
        "j_0 * 64 + j_1 * 4 + j_2 - skew < N {\n"
        "init { C[vi] = 0 }\n C[vi] = C[vi] + X[vi, vj] } } } } } }",
        skew);
    start(&s, text, 1, 3);
    memcpy(s.order, s.loops, sizeof s.order);
    s.order[from] = s.loops[to];
    s.order[to] = s.loops[from];
    s.question.order = s.order;
    depend_walk(&s.nest, &s.pass, s.loops[0], AXIS_serial, false);
    bool settled = true;
    vec_foreach(x, &s.nest.accesses) {
        vec_foreach(y, &s.nest.accesses) {
            if (!x->in_init || y->in_init || x->buffer != y->buffer)
                continue;
            struct depend_known known = depend_common(&s.nest, x, y);
            settled &= depend_is_settled(&s.nest, &s.question, x, y, &known);
        }
    }
    finish(&s);
    arena_reset(&a);
    return settled;
}

static void inits_come_first_in_any_order(void **state)
{
    (void)state;
    assert_true(first_in_any_order("0", 0, 2));
    assert_true(first_in_any_order("i * N % 4", 0, 1));
    assert_true(first_in_any_order("i * N % 4", 1, 0));
    assert_false(first_in_any_order("i * N % 4", 1, 2));
    assert_false(first_in_any_order("i * N % 5", 0, 1));
}

// Return how often isl is asked to plan a kernel.
static size_t asked(const char *text)
{
    struct compilation c;
    struct compile_options o = {.opt_level = 2};
    compile_start(&c);
    assert_true(compile_add(&c, "k.ing", text, strlen(text)));
    assert_true(compile_schedule(&c, &o));
    size_t n = c.asked;
    compile_end(&c);
    return n;
}

static void plans_ask_seldom(void **state)
{
    (void)state;
    size_t half =
        asked("kernel f(M: int, N: int, K: int, A: f16[M, K], B: f16[K, N]) -> "
              "C: f16[M, N] {\n"
              "let acc[i, j] = sum(k in K) f32(A[i, k]) * f32(B[k, j])\n"
              "C[i, j] = f16(acc[i, j]) }");
    size_t single =
        asked("kernel f(M: int, N: int, K: int, A: f32[M, K], B: f32[K, N]) -> "
              "C: f32[M, N] { C[i, j] = sum(k in K) A[i, k] * B[k, j] }");
    size_t rows = asked("kernel f(M: int, N: int, X: f32[M, N]) -> "
                        "Y: f32[M, N] {\n"
                        "let m[i] = max(j in N) X[i, j]\n"
                        "let s[i] = sum(j in N) exp(X[i, j] - m[i])\n"
                        "Y[i, j] = exp(X[i, j] - m[i]) / s[i] }");
    size_t aligned = asked("kernel f(M: int, N: int, X: f16[M, N]) -> "
                           "Y: f16[M, N] where N % 8 == 0 {\n"
                           "let m[i] = max(j in N) f32(X[i, j])\n"
                           "let s[i] = sum(j in N) exp(f32(X[i, j]) - m[i])\n"
                           "Y[i, j] = f16(exp(f32(X[i, j]) - m[i]) / s[i]) }");
    size_t gradient =
        asked("kernel f(m: int, n: int, X: f16[m, n], W: f16[n], G: f16[m, n]) "
              "-> D: f16[m, n] where n % 8 == 0 && n >= 8 && n <= 512 {\n"
              "let a[i] = sum(j in n) f32(G[i, j]) * f32(W[j])\n"
              "let b[i] = sum(j in n) f32(G[i, j]) * f32(W[j]) * f32(X[i, j])\n"
              "D[i, j] = f16(f32(W[j]) * a[i] - f32(X[i, j]) * b[i]) }");
    assert_int_equal(half, 0);
    assert_int_equal(single, 0);
    assert_int_equal(rows, 0);
    assert_true(gradient <= 10);
    assert_int_equal(aligned, 0);
}

// Return whether sizes show that `own` holds where `other` does not.
static bool shown(const char *own, const char *other)
{
    struct arena arena = {0};
    struct trials t;
    const char *text = arena_printf(
        &arena,
        "kernel f(M: int, N: int) -> C: f32[M, N] where M %% 2 == 0 {\n"
        "if %s { C[0, 0] = 1 }\n if %s { C[0, 0] = 1 } }",
        own, other);
    struct ir_kernel *k = kernel_text(&arena, text);
    struct ir_expr *conditions[] = {k->body.at[0]->u.branch.cond,
                                    k->body.at[1]->u.branch.cond};
    trials_start(&t, &arena, k, conditions, 2);
    bool leave = trials_leave(&t, conditions[0], &conditions[1], 1);
    arena_reset(&arena);
    return leave;
}

static void sizes_show_what_is_left(void **state)
{
    (void)state;
    assert_true(shown("N <= 512 && N % 4 == 0", "N <= 256"));
    assert_true(shown("N >= 16378 && N + 7 <= 32768", "N % 4 == 0"));
    assert_true(shown("N % 8 == 0", "N % 8 == 0 && M <= 2147483647"));
    assert_true(shown("N >= 0", "N >= 1"));
    assert_true(shown("N <= 2600 && ceildiv(M, 64) * ceildiv(N, 64) <= 264",
                      "M <= 64 || N <= 64 || "
                      "ceildiv(M, 64) * ceildiv(N, 64) <= 92"));
    assert_false(shown("N <= 256 && N % 4 == 0", "N <= 512"));
    assert_false(shown("M >= 1 && M < 2", "M == 5"));
    assert_false(shown("N <= 512", "N / (M - M) == 0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotients_join_their_digits),
        cmocka_unit_test(digits_of_one_weight_are_equal),
        cmocka_unit_test(equations_around_tell_a_loop),
        cmocka_unit_test(reads_have_a_write_like_them),
        cmocka_unit_test(one_index_tells_where_others_begin),
        cmocka_unit_test(inits_come_first_in_any_order),
        cmocka_unit_test(plans_ask_seldom),
        cmocka_unit_test(sizes_show_what_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
