// What the last rule asks of kernels: nests, independent loops, vectors, rows, the cost
// of inlining.

#include "passes/schedule/default/independent.h"
#include "passes/schedule/default/inline.h"
#include "passes/schedule/default/lanes.h"
#include "passes/schedule/default/nests.h"
#include "passes/schedule/default/rows.h"
#include "support/subject.h"

#include "ir/stage.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char text[] =
    "kernel rows(m: int, n: int, A: f32[m, n]) -> (C: f32[m, n], S: f32[m]) {\n"
    "    C[i, j] = A[i, j] + 1.0\n"
    "    S[i] = sum(j in n) A[i, j]\n"
    "}\n"
    "kernel columns(m: int, n: int, A: f32[m, n]) -> S: f32[n] {\n"
    "    S[j] = sum(i in m) A[i, j]\n"
    "}\n"
    "kernel turned(m: int, n: int, A: f16[m, n]) -> C: f16[n, m] {\n"
    "    C[j, i] = A[i, j]\n"
    "}\n"
    "kernel halves(n: int, A: f16[n]) -> C: f16[n] { C[i] = A[i] }\n"
    "kernel scans(m: int, n: int, A: f32[m, n]) -> C: f32[m, n] {\n"
    "    C[i, j] = scan(k <= j) sum A[i, k]\n"
    "}\n"
    "kernel chain(n: int, A: f32[n, n]) -> C: f32[n] {\n"
    "    let P[i, j] = A[i, j] * 2.0\n"
    "    let S[i] = sum(j in n) P[i, j] * P[i, j]\n"
    "    C[i] = S[i] + 1.0\n"
    "}\n"
    "kernel prelude(n: int, A: f32[n]) -> C: i32[1] {\n"
    "    var k: i32 = 0\n"
    "    for i in 0..n { if A[i] > 0.0 { k = k + 1 } }\n"
    "    C[0] = k\n"
    "}\n";

enum { ROWS, COLUMNS, TURNED, HALVES, SCANS, CHAIN, PRELUDE };

// A kernel that is asked about.
struct asked {
    struct subject s;
    struct pass p;
    struct ir_block stages, nests;
};

// Open a kernel of the text.
static void open(struct asked *a, size_t kernel)
{
    *a = (struct asked){0};
    subject_open(&a->s, text);
    a->p = subject_pass(&a->s, a->s.program.kernels.at[kernel]);
    a->stages = ir_stages_of(&a->s.scratch, &a->p.kernel->body);
    a->nests = nests_left(&a->p);
}

// Return how many neighbours the loops around a stage allow.
static int64_t lanes(struct asked *a, size_t stage)
{
    struct ir_block loops = sched_loops(&a->p, a->stages.at[stage]);
    return lanes_allowed(&a->p, loops.at, loops.n);
}

// Return whether a stage reads along one of its loops.
static bool along(struct asked *a, size_t stage, size_t loop)
{
    struct ir_stmt *s = a->stages.at[stage];
    return rows_lie_along(&a->p, s, sched_loops(&a->p, s).at[loop]);
}

static void rows_are_shared_along_their_elements(void **state)
{
    struct asked a;
    (void)state;
    open(&a, ROWS);
    assert_int_equal(a.nests.n, 2);
    assert_false(rows_can_share(&a.p, a.stages.at[0]));
    assert_true(rows_can_share(&a.p, a.stages.at[1]));
    assert_false(along(&a, 1, 0));
    assert_true(along(&a, 1, 1));
    subject_close(&a.s);
    open(&a, COLUMNS);
    assert_true(along(&a, 0, 0));
    assert_false(along(&a, 0, 1));
    subject_close(&a.s);
}

static void loops_of_results_are_independent(void **state)
{
    struct asked a;
    (void)state;
    open(&a, ROWS);
    assert_int_equal(independent_loops(&a.p, a.nests.at[0]).n, 2);
    assert_int_equal(independent_loops(&a.p, a.nests.at[1]).n, 1);
    subject_close(&a.s);
    open(&a, SCANS);
    assert_int_equal(independent_loops(&a.p, a.nests.at[0]).n, 1);
    assert_false(rows_can_share(&a.p, a.stages.at[0]));
    subject_close(&a.s);
}

static void vectors_have_16_bytes(void **state)
{
    struct asked a;
    (void)state;
    open(&a, HALVES);
    assert_int_equal(lanes(&a, 0), 8);
    assert_int_equal(lanes_allowed(&a.p, NULL, 0), 0);
    subject_close(&a.s);
    open(&a, TURNED);
    assert_int_equal(lanes(&a, 0), 1);
    subject_close(&a.s);
    open(&a, COLUMNS);
    assert_int_equal(lanes(&a, 0), 0);
    subject_close(&a.s);
}

static void inlining_costs_what_is_computed_again(void **state)
{
    struct asked a;
    (void)state;
    open(&a, CHAIN);
    assert_int_equal(a.nests.n, 3);
    assert_int_equal(inline_cost(&a.p, a.stages.at[0]), 14);
    assert_int_equal(inline_cost(&a.p, a.stages.at[1]), -1);
    assert_int_equal(inline_cost(&a.p, a.stages.at[2]), -1);
    assert_int_equal(a.s.errors.errors, 0);
    subject_close(&a.s);
}

static void what_others_need_is_no_nest_until_all_are_one(void **state)
{
    struct asked a;
    (void)state;
    open(&a, PRELUDE);
    assert_int_equal(a.nests.n, 0);
    nests_join(&a.p);
    assert_int_equal(nests_left(&a.p).n, 1);
    nests_join(&a.p);
    assert_int_equal(a.p.kernel->body.n, 1);
    subject_close(&a.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_shared_along_their_elements),
        cmocka_unit_test(loops_of_results_are_independent),
        cmocka_unit_test(vectors_have_16_bytes),
        cmocka_unit_test(inlining_costs_what_is_computed_again),
        cmocka_unit_test(what_others_need_is_no_nest_until_all_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
