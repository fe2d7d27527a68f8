// Modules of LLVM IR, written by hand, for what kernels use that are
// asynchronous: the executor computes what the kernel in the comments of the
// file says, under all policies; a planted fault is found, and nothing else,
// and nothing in the repaired twin.  tests/simt/README.md tells how the files
// are written.

#include "tests/unit/support/nvptx_fixture.h"
#include "tests/unit/support/plants.h"
#include "tests/unit/support/specimen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FILES_LEAST = 20, STEPS_MOST = 1 << 24 };

// Faults that only modules have until schedules ask for what is asynchronous:
// D_fault_async_early, D_fault_async_source, D_fault_missing_fence,
// D_fault_no_mbarrier, D_fault_mbarrier_overflow, D_fault_stuck_mbarrier,
// D_fault_stuck_named, D_fault_divergent_cluster, D_fault_race_cluster,
// D_fault_registers, D_fault_async_unfinished, D_fault_descriptor,
// D_fault_product_early, D_fault_mbarrier_alive.

// A file.
struct subject {
    struct emission t;
    const char *name, *file;
    bool is_twin;
    struct buf kernel, module;
    bool is_expected[SIMT_FAULTS]; // to be found under some policy
    bool is_found[SIMT_FAULTS];
    bool is_wrong; // the results are to differ under every policy
    unsigned failures;
};

// ---- Reading --------------------------------------------------------------

// Note the faults that a line names, "async-early stuck-mbarrier", or that
// results alone show.
static void read_faults(struct subject *s, const char *line)
{
    s->is_wrong |= strstr(line, "wrong-results") != NULL;
    for (int f = 0; f < SIMT_FAULTS; f++) {
        const char *name = simt_fault_name((enum simt_fault)f);
        const char *at = strstr(line, name);
        if (at && strchr(" \n", at[strlen(name)]))
            s->is_expected[f] = true;
    }
}

// Take a line of the file.
static void read_line(struct subject *s, const char *line)
{
    if (strncmp(line, ";> ", 3) == 0)
        buf_printf(&s->kernel, "%s\n", line + 3);
    else if (strncmp(line, ";! ", 3) == 0 && !s->is_twin)
        read_faults(s, arena_printf(&s->t.base.arena, "%s\n", line + 3));
    else
        buf_printf(&s->module, "%s\n",
                   s->is_twin ? plant_repaired(line, "; fixed:") : line);
}

// Take the file apart.
static void read_file(struct subject *s)
{
    for (const char *line = s->file; *line;) {
        size_t n = strcspn(line, "\n");
        read_line(s, arena_copy(&s->t.base.arena, line, n));
        line += n + (line[n] != 0);
    }
}

// ---- Running --------------------------------------------------------------

// Return arguments for the kernel: its extents are numbers.
static struct eval_argument *arguments(struct subject *s,
                                       const struct ir_kernel *k)
{
    return specimen_arguments(&s->t.base.arena, k, "", specimen_scattered);
}

// Note what differs.
static void wrong(struct subject *s, const char *what, const char *more)
{
    print_error("%s%s: %s %s\n", s->name, s->is_twin ? " (repaired)" : "", what,
                more);
    s->failures++;
}

// Compare the results with those of the definition.
static void compare(struct subject *s, const struct ir_kernel *k,
                    const struct eval_argument *got,
                    const struct eval_argument *want, const char *policy)
{
    bool differs = false;
    for (size_t i = 0; i < k->params.n; i++)
        differs |= k->params.at[i].buffer &&
                   memcmp(got[i].data, want[i].data, got[i].size) != 0;
    if (differs != s->is_wrong)
        wrong(s, differs ? "wrong results under" : "no wrong results under",
              policy);
}

// Note what a run found.
static void take_findings(struct subject *s, const struct simt_result *r,
                          const char *policy)
{
    for (size_t i = 0; i < r->n; i++) {
        enum simt_fault f = r->findings[i].fault;
        s->is_found[f] = true;
        if (!s->is_expected[f] && simt_fault_severity(f) == SIMT_ERROR)
            wrong(s, simt_fault_name(f), policy);
    }
}

// Run the module under one policy.
static void run_policy(struct subject *s, const struct ir_kernel *k,
                       struct simt_code *code, enum simt_policy policy,
                       const struct eval_argument *want, bool is_right)
{
    static struct simt_result result;
    struct simt_run run = {
        .policy = policy, .seed = 1, .most_steps = STEPS_MOST};
    struct eval_argument *got = arguments(s, k);
    const char *name = simt_policy_name(policy);
    if (!simt_run(code, got, &run, &result, &s->t.base.diags)) {
        emission_show(&s->t.base.diags);
        wrong(s, "cannot run under", name);
        return;
    }
    take_findings(s, &result, name);
    if (is_right)
        compare(s, k, got, want, name);
}

// Run the module under all policies.
static void run_module(struct subject *s)
{
    struct arena *a = &s->t.base.arena;
    const struct ir_kernel *k = fixture_kernel(&s->t.base, s->kernel.data);
    struct simt_options options = {.target = s->t.options.target,
                                   .module = s->module.data};
    struct eval_argument *want = arguments(s, k);
    bool is_right = true;
    assert_int_equal(ir_eval(a, k, want, STEPS_MOST).status, EVAL_DONE);
    struct simt_code *code = simt_compile(a, k, &options, &s->t.base.diags);
    if (!code) {
        emission_show(&s->t.base.diags);
        wrong(s, "does not compile", "");
        return;
    }
    for (int f = 0; f < SIMT_FAULTS; f++)
        is_right &= !s->is_expected[f];
    for (int p = 0; p < SIMT_POLICIES; p++)
        run_policy(s, k, code, (enum simt_policy)p, want, is_right);
    for (int f = 0; f < SIMT_FAULTS; f++)
        if (s->is_expected[f] && !s->is_found[f])
            wrong(s, "not found:", simt_fault_name((enum simt_fault)f));
    simt_free(code);
}

// Check a file, or its twin.  Returns what is wrong.
static unsigned check_file(const char *folder, const char *name, bool is_twin)
{
    struct subject s = {.name = name, .is_twin = is_twin};
    struct buf text = {0};
    emission_start(&s.t);
    emission_target(&s.t, "sm_90a");
    assert_true(specimen_read(
        arena_printf(&s.t.base.arena, "%s/%s", folder, name), &text));
    s.file = text.data;
    read_file(&s);
    run_module(&s);
    buf_free(&text);
    buf_free(&s.kernel);
    buf_free(&s.module);
    emission_end(&s.t);
    return s.failures;
}

static void finds_each_fault_and_nothing_else(void **state)
{
    (void)state;
    plants_check("tests/simt/modules", ".ll", FILES_LEAST, check_file, false);
}

static void computes_what_the_kernels_say(void **state)
{
    (void)state;
    plants_check("tests/simt/modules", ".ll", FILES_LEAST, check_file, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_each_fault_and_nothing_else),
        cmocka_unit_test(computes_what_the_kernels_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
