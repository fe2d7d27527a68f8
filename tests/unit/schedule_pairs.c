// Every ordered pair of primitives: after one has been applied to a product of
// matrices and to a stencil, the other still finds something to do, and what
// they make of the kernel computes the same, before and after lowering.
//
// Arguments are random.  A pair is tried on a few outcomes of its first
// primitive, of which some need a preparation: a schedule beside the kernel.
//
// Some pairs cannot follow one another, or rarely can: decompose_reduction
// leaves no init to a second one, to rfactor or to an epilogue; what folds an
// epilogue needs it next to its sum, neither scheduled; a window that rolls or
// has two halves is not remapped, moved or rolled again; an annotation is
// removed once.  The test prints those that it did not find.

#include "ir/check.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/text.h"
#include "passes/schedule/schedule.h"
#include "passes/schedule/verify.h"
#include "support/subject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// How often arguments are chosen: for the first primitive on each preparation,
// for the second on each outcome of it.
enum { FIRST_TRIES = 150, SECOND_TRIES = 40 };
// How many outcomes of a primitive are kept for each preparation, and how many
// compositions of a pair are lowered, until one is accepted.
enum { OUTCOMES_EACH = 2, COMPOSITIONS_MOST = 1 };
// Which pairs are tried where SCHEDULE_PAIRS is not set: one in so many.
enum { STEP = 5 * TEST_SHARE };

static const char product[] =
    "kernel product(m: int, n: int, k: int, A: i32[m, k + 1], B: i32[k, n],\n"
    "               D: i32[m, n], X: i32[m, n] inout) -> C: i32[m, n] {\n"
    "    let S[i in m, l in k] = A[i, l] * 2 + A[i, l + 1]\n"
    "    let T[i in m, j in n] = sum(l in k) S[i, l] * B[l, j]\n"
    "    C[i, j] = T[i, j] + D[i, j]\n"
    "    for i in 0..m {\n"
    "        for j in 0..n {\n"
    "            stage X(vi in m = i, vj in n = j) {\n"
    "                X[vi, vj] = X[vi, vj] * 3 + 1\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "}\n"
    "schedule product {}\n"
    "schedule product {\n"
    "    i0, i1 = split(T.i, _, 4)\n"
    "    j0, j1 = split(T.j, _, 4)\n"
    "    l0, l1 = split(T.l, _, 4)\n"
    "    reorder(i0, j0, i1, j1, l0, l1)\n"
    "    bind(i0, block.y)\n"
    "    bind(j0, block.x)\n"
    "    c = cache_read(T, B, shared)\n"
    "    compute_at(c, l0)\n"
    "    compute_inline(S)\n"
    "}\n"
    "schedule product {\n"
    "    i0, i1 = split(T.i, _, 4)\n"
    "    j0, j1 = split(T.j, _, 4)\n"
    "    l0, l1 = split(T.l, _, 4)\n"
    "    reorder(i0, j0, l0, i1, j1, l1)\n"
    "    c = cache_write(T, local)\n"
    "    reverse_compute_at(c, j0)\n"
    "    set_scope(S, shared)\n"
    "    compute_at(S, l0)\n"
    "    annotate(C.i, hint, 2)\n"
    "}\n"
    "schedule product {\n"
    "    pad_einsum(T, 4, 4, 4)\n"
    "    c = cache_read(S, A, local)\n"
    "    compute_at(c, S.l)\n"
    "    annotate(T, mark, 1)\n"
    "}\n"
    "schedule product {\n"
    "    reverse_compute_at(C, T.j)\n"
    "    i0, i1 = split(X.i, _, 3)\n"
    "    j0, j1 = split(X.j, _, 4)\n"
    "    split(S.l, _, 2)\n"
    "}\n";

static const char stencil[] =
    "kernel stencil(m: int, n: int, A: i32[m, n], W: i32[3, 3], D: i32[m, n],\n"
    "               X: i32[m, n] inout) -> C: i32[m, n] {\n"
    "    let P[i in m + 2, j in n + 2] =\n"
    "        1 <= i && i < m + 1 && 1 <= j && j < n + 1 ?\n"
    "            A[i - 1, j - 1] : 0\n"
    "    let S[i in m, j in n] =\n"
    "        sum(y in 3, x in 3) P[i + y, j + x] * W[y, x]\n"
    "    C[i, j] = S[i, j] + D[i, j]\n"
    "    for i in 0..m {\n"
    "        for j in 0..n {\n"
    "            stage X(vi in m = i, vj in n = j) {\n"
    "                X[vi, vj] = X[vi, vj] * 3 + 1\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "}\n"
    "schedule stencil {}\n"
    "schedule stencil {\n"
    "    i0, i1 = split(S.i, _, 4)\n"
    "    j0, j1 = split(S.j, _, 4)\n"
    "    reorder(i0, j0, i1, j1)\n"
    "    bind(i0, block.y)\n"
    "    bind(j0, block.x)\n"
    "    set_scope(P, shared)\n"
    "    compute_at(P, j0)\n"
    "}\n"
    "schedule stencil {\n"
    "    compute_at(P, S.i)\n"
    "    c = cache_write(C, local)\n"
    "    reverse_compute_at(c, C.j)\n"
    "    annotate(c, hint, 2)\n"
    "}\n"
    "schedule stencil {\n"
    "    i0, i1 = split(S.i, _, 4)\n"
    "    j0, j1 = split(S.j, _, 4)\n"
    "    reorder(i0, j0, S.y, S.x, i1, j1)\n"
    "    c = cache_read(S, P, shared)\n"
    "    compute_at(c, S.y)\n"
    "    annotate(C.i, mark, 2)\n"
    "}\n"
    "schedule stencil {\n"
    "    reverse_compute_at(C, S.j)\n"
    "    i0, i1 = split(X.i, _, 3)\n"
    "    j0, j1 = split(X.j, _, 4)\n"
    "    split(P.j, _, 2)\n"
    "}\n";

// What is tested, and the least that must be found of it.
struct suite {
    const char *text;
    int64_t sizes[3][3];
    int accepted, lowered; // pairs
};

static const struct suite suites[] = {
    {product, {{7, 5, 6}, {1, 1, 1}, {4, 8, 4}}, 1470, 1050},
    {stencil, {{7, 5}, {1, 1}, {4, 8}}, 1476, 1000},
};

// Calls of a primitive that is accepted after a preparation.
struct outcome {
    size_t prepared; // of the preparations
    uint64_t random; // state of the generator before
};

// The work on one kernel.
struct work {
    struct subject s;
    const struct suite *suite;
    struct VEC(struct ir_kernel *) prepared;
    struct VEC(struct outcome) outcomes[PRIM_COUNT];
    bool accepted[PRIM_COUNT][PRIM_COUNT], lowered[PRIM_COUNT][PRIM_COUNT];
    int faults;
};

// Return the kernel of the text.
static const struct ir_kernel *original(const struct work *w)
{
    return w->s.program.kernels.at[0];
}

// Apply the schedules beside the kernel.
static void prepare(struct work *w)
{
    struct sched_program *all = &w->s.program.schedules;
    for (size_t i = 0; i < all->schedules.n; i++) {
        struct pass p = subject_pass(&w->s, original(w));
        p.arena = &w->s.arena;
        p.kernel = ir_copy_kernel(&w->s.arena, original(w));
        if (!schedule_apply(&p, all, all->schedules.at[i], NULL, 0, NULL))
            fail_msg("%s", subject_errors(&w->s));
        vec_push(&w->s.arena, &w->prepared, p.kernel);
        subject_rest(&w->s);
    }
}

// Fail the test if a refused call has changed the kernel.
static void check_unchanged(struct work *w, size_t prepared,
                            const struct pass *p, enum sched_prim prim)
{
    const char *difference;
    if (!ir_kernel_equal(&w->s.scratch, w->prepared.at[prepared], p->kernel,
                         &difference))
        fail_msg("refused %s: %s", sched_prim_info(prim)->name, difference);
}

// Find calls of a primitive that are accepted.
static void find_outcomes(struct work *w, enum sched_prim prim)
{
    for (size_t i = 0; i < w->prepared.n; i++) {
        struct pass p = subject_pass(&w->s, w->prepared.at[i]);
        int found = 0;
        for (int k = 0; k < FIRST_TRIES && found < OUTCOMES_EACH; k++) {
            struct outcome o = {i, w->s.random};
            if (!subject_call(&w->s, &p, prim, NULL, NULL)) {
                check_unchanged(w, i, &p, prim);
                continue;
            }
            vec_push(&w->s.arena, &w->outcomes[prim], o);
            found++;
            p = subject_pass(&w->s, w->prepared.at[i]);
        }
        subject_rest(&w->s);
    }
}

// A composition under test.
struct trial {
    struct work *w;
    const struct outcome *first;
    struct buf calls; // as text
    bool closely;     // compare after each pass, not only the last one
};

// Print what is wrong with a kernel, and the calls that led to it.
static bool report(struct trial *t, const struct ir_kernel *k,
                   const char *stage, const char *fault)
{
    struct buf text = {0};
    buf_printf(&text, "%s: %s\n", stage, fault);
    ir_print_kernel(&text, t->w->prepared.at[t->first->prepared]);
    buf_printf(&text, "schedule {\n%s}\n", t->calls.data);
    ir_print_kernel(&text, k);
    fprintf(stderr, "%s\n", text.data);
    buf_free(&text);
    t->w->faults++;
    return false;
}

// Return whether a kernel computes what the original one does at each set of
// sizes.
static bool same(struct trial *t, const struct ir_kernel *k, const char **fault)
{
    struct subject *s = &t->w->s;
    for (int i = 0; i < 3; i++) {
        s->sizes = t->w->suite->sizes[i];
        if (!subject_same(s, original(t->w), k, fault))
            return false;
    }
    return true;
}

// Report a kernel that does not.
static bool compare(struct trial *t, const struct ir_kernel *k,
                    const char *stage)
{
    const char *fault;
    return same(t, k, &fault) || report(t, k, stage, fault);
}

// Run the pipeline on a kernel, check and evaluate the outcome; false if a pass
// refuses it.  What is wrong is looked for again, pass by pass.
static bool lower(struct trial *t, const struct ir_kernel *k)
{
    static const enum pass_name pipeline[] = {
#define STEP(name, ...) PASS_##name,
#include "passes/passes.def"
#undef STEP
    };
    const char *fault;
    struct subject *s = &t->w->s;
    struct pass_options options = {.checked = t->closely};
    struct sched_item item = {.name = {.text = k->name}};
    struct pass p = subject_pass(s, k);
    bool good = schedule_verify(&p, &item, false) &&
                schedule_complete(&p, &s->program.schedules);
    for (size_t i = 0; good && i < sizeof pipeline / sizeof *pipeline; i++) {
        const char *name = pass_text(pipeline[i]);
        s->errors = (struct diag_list){.arena = &s->work};
        good = passes_run_one(&p, pipeline[i], &options);
        if (!good && s->errors.all.at[0].code == D_pass_fault)
            return report(t, k, name, subject_errors(s));
        if (t->closely && good && !compare(t, p.kernel, name))
            return false;
    }
    bool right =
        good && !ir_check(&s->scratch, p.kernel) && same(t, p.kernel, &fault);
    if (!good || right || t->closely)
        return right;
    t->closely = true;
    return lower(t, k);
}

// Check the outcome of a pair.
static void check(struct trial *t, struct pass *p, enum sched_prim first,
                  enum sched_prim second)
{
    const char *fault;
    struct work *w = t->w;
    w->s.sizes = w->suite->sizes[0];
    w->accepted[first][second] = true;
    if (!subject_holds(&w->s, original(w), p->kernel, &fault))
        report(t, p->kernel, "stages", fault);
    else if (compare(t, p->kernel, "stages"))
        w->lowered[first][second] |= lower(t, p->kernel);
}

// Try a pair on an outcome of the first primitive; returns whether it was
// accepted.
static bool try_pair(struct work *w, const struct outcome *o,
                     enum sched_prim first, enum sched_prim second)
{
    struct pass p = subject_pass(&w->s, w->prepared.at[o->prepared]);
    struct call_near near = {0};
    struct trial t = {.w = w, .first = o};
    uint64_t kept = w->s.random;
    w->s.random = o->random;
    assert_true(subject_call(&w->s, &p, first, &near, &t.calls));
    w->s.random = kept;
    bool found = false;
    for (int i = 0; i < SECOND_TRIES && !found; i++)
        found = subject_call(&w->s, &p, second, &near, &t.calls);
    if (found)
        check(&t, &p, first, second);
    buf_free(&t.calls);
    subject_rest(&w->s);
    return found;
}

// Look for a composition of a pair that the whole pipeline accepts.
static void test_pair(struct work *w, enum sched_prim first,
                      enum sched_prim second)
{
    const struct outcome *all = w->outcomes[first].at;
    size_t n = w->outcomes[first].n, start = subject_below(&w->s, n);
    int found = 0;
    for (size_t i = 0; i < n && found < COMPOSITIONS_MOST; i++) {
        found += try_pair(w, &all[(start + i) % n], first, second);
        if (w->lowered[first][second])
            return;
    }
}

// Print the pairs of a table that were not found, a line for each first one;
// returns how many were.
static int print_missing(const char *what,
                         bool (*found)[PRIM_COUNT][PRIM_COUNT])
{
    int count = 0;
    for (int i = 0; i < PRIM_COUNT; i++) {
        bool any = false;
        for (int k = 0; k < PRIM_COUNT; k++) {
            count += (*found)[i][k];
            if ((*found)[i][k])
                continue;
            if (!any)
                print_message("%s %s, then", what,
                              sched_prim_info((enum sched_prim)i)->name);
            any = true;
            print_message(" %s", sched_prim_info((enum sched_prim)k)->name);
        }
        if (any)
            print_message("\n");
    }
    return count;
}

// Test all pairs on one kernel.
static void test_kernel(void **state)
{
    struct work *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->suite = *state;
    subject_open(&w->s, w->suite->text);
    prepare(w);
    for (int i = 0; i < PRIM_COUNT; i++)
        find_outcomes(w, (enum sched_prim)i);
    int step = getenv("SCHEDULE_PAIRS") ? 1 : STEP;
    for (int i = 0; i < PRIM_COUNT; i++) {
        for (int k = i % step; k < PRIM_COUNT && w->outcomes[i].n; k += step)
            test_pair(w, (enum sched_prim)i, (enum sched_prim)k);
    }
    int accepted = print_missing("never:", &w->accepted);
    int lowered = print_missing("not lowered:", &w->lowered);
    print_message("%d of %d pairs, %d lowered\n", accepted,
                  PRIM_COUNT * PRIM_COUNT, lowered);
    assert_int_equal(w->faults, 0);
    assert_true(accepted * step >= w->suite->accepted * 8 / 10);
    assert_true(lowered * step >= w->suite->lowered * 8 / 10);
    subject_close(&w->s);
    free(w);
}

int main(void)
{
    struct CMUnitTest tests[] = {
        {.name = "product",
         .test_func = test_kernel,
         .initial_state = (void *)&suites[0]},
        {.name = "stencil",
         .test_func = test_kernel,
         .initial_state = (void *)&suites[1]},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
