// Whatever primitives accept keeps the meaning of a kernel: sequences of them
// with random arguments are applied, refusals ignored, and the kernel must
// pass ir_check, read back from its text as it is, and compute the same, with
// bound loops running forwards and backwards, and so must what each pass of
// the pipeline makes of it.
//
// A longer run: SCHEDULE_RANDOM_ROUNDS for each kernel, SCHEDULE_RANDOM_SEED,
// SCHEDULE_RANDOM_CALLS at most in a round, SCHEDULE_RANDOM_FIRST round,
// SCHEDULE_RANDOM_KERNEL alone.  Instrumented builds run one round in four.

#include "ir/text.h"
#include "passes/schedule/schedule.h"
#include "passes/schedule/verify.h"
#include "support/rounds.h"
#include "support/subject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 40 / TEST_SHARE, CALLS_MOST = 12, TRIES = 8 };

// What is counted behind the calls accepted of each primitive.
enum {
    COUNT_BOUND = PRIM_COUNT,
    COUNT_REFUSED,
    COUNT_FLAT = COUNT_REFUSED + PASS_COUNT
};

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

// What the rounds on a kernel share.
struct work {
    struct subject s;
    struct rounds rounds;
};

// A kernel to be tested.
struct job {
    const char *text;
    uint32_t *counts; // ROUND_COUNTS
};

// Return a number of the environment.
static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

// Fail unless a kernel is still what it was before a call that was refused.
static void check_unchanged(struct pass *p, enum sched_prim prim,
                            const struct buf *before)
{
    struct buf after = {0};
    ir_print_kernel(&after, p->kernel);
    if (after.n != before->n || memcmp(after.data, before->data, after.n) != 0)
        fail_msg("%s was refused and changed\n%.*sto\n%.*s",
                 sched_prim_info(prim)->name, (int)before->n, before->data,
                 (int)after.n, after.data);
    buf_free(&after);
}

// Call some primitive until it is accepted.
static void run_call(struct work *w, struct pass *p, struct call_near *near)
{
    enum sched_prim prim = (enum sched_prim)subject_below(&w->s, PRIM_COUNT);
    bool strict = subject_below(&w->s, 8) == 0;
    for (int i = 0; i < TRIES; i++) {
        struct buf text = {0}, before = {0};
        if (strict)
            ir_print_kernel(&before, p->kernel);
        bool done =
            subject_call(&w->s, p, prim, near, w->rounds.loud ? &text : NULL);
        if (text.n)
            printf("%.*s", (int)text.n, text.data);
        if (strict && !done)
            check_unchanged(p, prim, &before);
        buf_free(&text);
        buf_free(&before);
        fflush(stdout);
        if (done) {
            w->rounds.counts[prim]++;
            return;
        }
    }
}

// Run the pipeline; what it makes must compute the same.
static void check_lowered(struct work *w, struct pass *p,
                          const struct ir_kernel *before)
{
    static const enum pass_name pipeline[] = {
#define STEP(name, ...) PASS_##name,
#include "passes/passes.def"
#undef STEP
    };
    struct pass_options options = {.checked = true};
    w->s.errors = (struct diag_list){.arena = &w->s.work};
    for (size_t i = 0; i < sizeof pipeline / sizeof *pipeline; i++) {
        if (!passes_run_one(p, pipeline[i], &options)) {
            if (w->s.errors.all.at[w->s.errors.all.n - 1].code == D_pass_fault)
                fail_msg("%s", subject_errors(&w->s));
            if (w->rounds.loud)
                printf("refused: %s\n", subject_errors(&w->s));
            w->rounds.counts[COUNT_REFUSED + pipeline[i]]++;
            return;
        }
        if (w->rounds.loud) {
            printf("after %s\n", pass_text(pipeline[i]));
            fflush(stdout);
            struct buf text = {0};
            ir_print_kernel(&text, p->kernel);
            for (int k = 0; k < 4; k++)
                subject_compare(&w->s, before, p->kernel, text.data);
            buf_free(&text);
        }
    }
    w->rounds.counts[COUNT_FLAT]++;
    struct buf text = {0};
    ir_print_kernel(&text, p->kernel);
    for (int i = 0; i < 2; i++)
        subject_compare(&w->s, before, p->kernel, text.data);
    buf_free(&text);
}

// Apply one random sequence, then what binds the rest.
static void run_round(struct rounds *r, const struct round *round)
{
    struct work *w = r->subject;
    const struct ir_kernel *kernel = w->s.program.kernels.at[0];
    struct sched_item item = {.name = {.text = kernel->name}};
    struct pass p = subject_pass(&w->s, kernel);
    struct call_near near = {0};
    w->rounds.loud = r->loud;
    for (uint32_t i = 0; i < round->n; i++) {
        w->s.random = round->calls[i];
        run_call(w, &p, &near);
    }
    w->s.random = round->rest;
    subject_check(&w->s, kernel, p.kernel);
    bool bound =
        schedule_verify(&p, &item, false) &&
        (subject_below(&w->s, 4)
             ? schedule_complete(&p, &w->s.program.schedules)
             : schedule_default(&p, &w->s.program.schedules, NULL, true));
    if (bound) {
        w->rounds.counts[COUNT_BOUND]++;
        subject_check(&w->s, kernel, p.kernel);
        check_lowered(w, &p, kernel);
    }
    subject_rest(&w->s);
}

// Run all rounds on one kernel.
static void test_kernel(void **state)
{
    const struct job *job = *state;
    struct work w = {
        .rounds = {.run = run_round,
                   .seed = setting("SCHEDULE_RANDOM_SEED", 4),
                   .first = setting("SCHEDULE_RANDOM_FIRST", 0),
                   .count = setting("SCHEDULE_RANDOM_ROUNDS", ROUNDS),
                   .calls =
                       (uint32_t)setting("SCHEDULE_RANDOM_CALLS", CALLS_MOST),
                   .counts = job->counts}};
    w.rounds.count += w.rounds.first;
    w.rounds.subject = &w;
    for (const char *at = job->text; *at; at++)
        w.rounds.seed = w.rounds.seed * 31 + (unsigned char)*at;
    subject_open(&w.s, job->text);
    uint64_t failed = rounds_run(&w.rounds);
    subject_close(&w.s);
    assert_int_equal(failed, 0);
}

// Print how often each primitive was accepted, and how far kernels came.
static void print_counts(const uint32_t *counts)
{
    for (int i = 0; i < PRIM_COUNT; i++)
        print_message("%8u %s\n", counts[i],
                      sched_prim_info((enum sched_prim)i)->name);
    print_message("%8u bound\n", counts[COUNT_BOUND]);
    for (int i = 0; i < PASS_COUNT; i++)
        print_message("%8u refused by %s\n", counts[COUNT_REFUSED + i],
                      pass_text((enum pass_name)i));
    print_message("%8u flat\n", counts[COUNT_FLAT]);
}

int main(void)
{
    enum { KERNELS = sizeof kernels / sizeof *kernels };
    struct CMUnitTest tests[KERNELS];
    struct job jobs[KERNELS];
    uint32_t counts[ROUND_COUNTS] = {0};
    for (int i = 0; i < KERNELS; i++) {
        jobs[i] = (struct job){kernels[i].text, counts};
        tests[i] = (struct CMUnitTest){.name = kernels[i].name,
                                       .test_func = test_kernel,
                                       .initial_state = &jobs[i]};
    }
    if (getenv("SCHEDULE_RANDOM_KERNEL"))
        cmocka_set_test_filter(getenv("SCHEDULE_RANDOM_KERNEL"));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    print_counts(counts);
    return failed;
}
