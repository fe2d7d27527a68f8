// Whatever primitives accept keeps the meaning of a kernel: sequences of them
// with random arguments are applied, refusals ignored, and the kernel must
// pass ir_check, read back from its text as it is, and compute the same, with
// bound loops running forwards and backwards.

#include "passes/schedule/schedule.h"
#include "support/subject.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { ROUNDS = 600, CALLS_MOST = 8 };

// Kernels on integers, so that sums have one value in any order.  All sizes
// are called m, n, k.
static const struct {
    const char *name, *text;
} kernels[] = {
    {"copy",
     "kernel copy(n: int, A: i32[n]) -> C: i32[n] { C[i] = A[i] + i32(i) }"},

    {"matmul",
     "kernel matmul(m: int, n: int, k: int, A: i32[m, k], B: i32[k, n])\n"
     "    -> C: i32[m, n] { C[i, j] = sum(l in k) A[i, l] * B[l, j] }"},

    {"blur", "kernel blur(m: int, n: int, A: i32[m, n]) -> C: i32[m, n] {\n"
             "    let P[i in m, j in n + 2] =\n"
             "        1 <= j && j < n + 1 ? A[i, j - 1] : 7\n"
             "    let S[i in m, j in n] = P[i, j] + P[i, j + 1] + P[i, j + 2]\n"
             "    C[i, j] = S[i, j] - P[i, j]\n"
             "}"},

    {"chain", "kernel chain(n: int, A: i32[n + 3]) -> C: i32[n] {\n"
              "    let S[i in n + 2] = A[i] + A[i + 1] * 3\n"
              "    let T[i in n] = S[i] - S[i + 2]\n"
              "    C[i] = T[i] * T[i] + A[i]\n"
              "}"},

    {"turn", "kernel turn(A: i32[4, 6], B: i32[6]) -> C: i32[6, 4] {\n"
             "    let S[i in 4] = sum(j in 6) A[i, j] * B[j]\n"
             "    let T[j, i] = A[i, j] + S[i]\n"
             "    C[j, i] = T[j, i] * B[j]\n"
             "}"},

    {"rows", "kernel rows(m: int, n: int, A: i32[m, n + 1, 3]) -> C: i32[m] {\n"
             "    let s[i] = sum(j in n + 1, l in 3) A[i, j, l]\n"
             "    C[i] = s[i] * 2\n"
             "}"},

    {"linear",
     "kernel linear(m: int, n: int, A: i32[m, n + 1], B: i32[n + 1, n])\n"
     "    -> (C: i32[m, n], D: i32[n, m]) {\n"
     "    let S[i, j] = sum(l in n + 1) A[i, l] * B[l, j]\n"
     "    let T[i, j] = sum(l in n + 1) A[i, l] + B[l, j]\n"
     "    C[i, j] = S[i, j] + i32(j)\n"
     "    D[j, i] = max(T[i, j], 5) - C[i, j]\n"
     "}"},

    {"offset",
     "kernel offset(n: int, A: i32[n]) -> C: i32[n] {\n"
     "    alloc T: i32[n * 4 + 1] in global\n"
     "    for i in 0..n {\n"
     "        for j in 0..4 {\n"
     "            stage T(vi in n = i, vj in 4 = j) {\n"
     "                if vi < 3 { T[1 + vi * 4 + vj] = A[vi] }\n"
     "                else { T[1 + vi * 4 + vj] = i32(vj) }\n"
     "            }\n"
     "        }\n"
     "    }\n"
     "    for i in 0..n {\n"
     "        stage C(vi in n = i) { C[n - 1 - vi] = T[vi * 4 + 3] }\n"
     "    }\n"
     "}"},

    {"dot",
     "kernel dot(m: int, n: int, A: i32[m, n], B: i32[n]) -> C: i32[m] {\n"
     "    C[i] = sum(j in n) A[i, j] * B[j]\n"
     "}"},

    {"flip", "kernel flip(A: i32[4, 6]) -> C: i32[6, 4] { C[i, j] = A[j, i] }"},

    {"scale",
     "kernel scale(n: int, A: i32[6, 4], B: i32[n]) -> C: i32[4, 6] {\n"
     "    let T[i, j] = A[i, j] * 3\n"
     "    let S[i] = B[i] + 1\n"
     "    C[j, i] = sum(l in n) T[i, j] * S[l]\n"
     "}"},

    {"raw", "kernel raw(m: int, n: int, A: i32[m, n], C: i32[m] inout) {\n"
            "    for i in 0..m {\n"
            "        for j in 0..n { C[i] = C[i] * 3 + A[i, j] }\n"
            "    }\n"
            "}"},

    {"wave",
     "kernel wave(n: int, C: i32[n, n] inout) {\n"
     "    for i in 1..n {\n"
     "        for j in 0..n - 1 step 2 { C[i, j] = C[i - 1, j + 1] + 1 }\n"
     "    }\n"
     "}"},

    {"far",
     "kernel far(n: int, C: i32[3 * n + 3] inout) {\n"
     "    for i in 0..n {\n"
     "        for j in 0..4 { C[i * 3 + j] = C[i * 3 + j] * 2 + i32(j) }\n"
     "    }\n"
     "}"},

    {"flat", "kernel flat(m: int, n: int, C: i32[m * n + 1] inout) {\n"
             "    for i in 0..m {\n"
             "        for j in 0..n {\n"
             "            let at = i * n + j\n"
             "            C[at] = C[at] * 2 + i32(i)\n"
             "        }\n"
             "    }\n"
             "}"},

    {"lower", "kernel lower(n: int, A: i32[n, n]) -> C: i32[n] {\n"
              "    for i in 0..n {\n"
              "        for j in 0..i { C[i] = C[i] + A[i, j] }\n"
              "    }\n"
              "}"},
};

// Check what lowering makes of virtual threads and stages, if the arrays fit
// where they are.
static void check_lowered(struct subject *s, struct pass *p,
                          const struct ir_kernel *before)
{
    static const enum pass_name passes[] = {PASS_vthreads, PASS_guards};
    struct pass_options options = {.checked = true};
    struct pass copy = subject_pass(s, p->kernel);
    if (!passes_run_one(&copy, PASS_buffers, &options))
        return;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        assert_true(passes_run_one(&copy, passes[i], &options));
        subject_check(s, before, copy.kernel);
    }
}

// Apply one random sequence, then what binds the rest.
static void run_round(struct subject *s, const struct ir_kernel *kernel)
{
    struct pass p = subject_pass(s, kernel);
    uint64_t n = subject_below(s, CALLS_MOST + 1);
    for (uint64_t i = 0; i < n; i++) {
        enum sched_prim prim = (enum sched_prim)subject_below(s, PRIM_COUNT);
        subject_call(s, &p, prim, NULL, NULL);
    }
    subject_check(s, kernel, p.kernel);
    check_lowered(s, &p, kernel);
    if (subject_below(s, 2) ? schedule_complete(&p)
                            : schedule_default(&p, true))
        subject_check(s, kernel, p.kernel);
    subject_rest(s);
}

// Run all rounds on one kernel.
static void test_kernel(void **state)
{
    struct subject s = {0};
    subject_open(&s, *state);
    for (int i = 0; i < ROUNDS; i++)
        run_round(&s, s.program.kernels.at[0]);
    subject_close(&s);
}

int main(void)
{
    enum { KERNELS = sizeof kernels / sizeof *kernels };
    struct CMUnitTest tests[KERNELS];
    for (int i = 0; i < KERNELS; i++)
        tests[i] =
            (struct CMUnitTest){.name = kernels[i].name,
                                .test_func = test_kernel,
                                .initial_state = (char *)kernels[i].text};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
