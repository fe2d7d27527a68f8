// No access of a mutant that the executor finds faulty is called proved.
//
// Kernels of tests/simt/subjects.txt are mutated where they have their barriers
// and their arrays several dimensions; claims are made of the mutant, and it runs
// at the sizes of the list.
//
//   MUTANTS=400 MUTANTS_SEED=7 MUTANTS_ONLY=softmax proof_mutants
//
// chooses how many, which, and of which kernels.

#include "tests/unit/support/mutate.h"
#include "tests/unit/support/specimen.h"

#include "ir/text.h"
#include "passes/pass.h"
#include "passes/proof/proof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MUTANTS_DEFAULT = 60, STEPS_MOST = 1 << 22, SIZES_MOST = 12 };

// What was compared.
struct counts {
    size_t mutants, faulty; // with a fault that a claim is made of
    size_t met, wrong;      // faults of such accesses; of those called proved
};

// A file, lowered but for its last passes.
struct subject {
    const char *file;
    struct compilation c;
    const char *sizes[SIZES_MOST];
    size_t n_sizes;
};

// The experiment.
struct experiment {
    struct arena arena;
    struct specimen tools; // for its options
    struct counts counts;
    uint64_t random;
};

// Return the next random number below `n`.
static size_t random_below(struct experiment *e, size_t n)
{
    e->random = e->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (size_t)((e->random >> 33) % n);
}

// ---- Comparing ------------------------------------------------------------

// Return the claim that a fault refutes; false if there is none.
static bool refutes(enum simt_fault fault, enum proof_claim *claim)
{
    const char *name = simt_fault_name(fault);
    *claim = strcmp(name, "race-block") == 0     ? CLAIM_block_race
             : strcmp(name, "async-early") == 0  ? CLAIM_block_race
             : strcmp(name, "async-source") == 0 ? CLAIM_block_race
             : strcmp(name, "race-grid") == 0    ? CLAIM_grid_race
             : strcmp(name, "unwritten") == 0    ? CLAIM_coverage
                                                 : CLAIM_bounds;
    return *claim != CLAIM_bounds || strcmp(name, "out-of-bounds") == 0;
}

// Return whether an item is about the access of a finding.
static bool is_about(const struct proof_item *item,
                     const struct simt_finding *f, enum proof_claim claim)
{
    if (item->claim != claim || !item->span.source || !f->array ||
        strcmp(item->buffer->name, f->array) != 0)
        return false;
    if (claim == CLAIM_coverage)
        return true;
    if (item->writes != f->is_write)
        return false;
    struct source_line line = source_line(item->span.source, item->span.from);
    return line.number == f->place.line && line.column == f->place.column;
}

// Compare a finding with the claims: accesses of one place are one, and one of
// them must be open.
static void compare(struct counts *counts, const struct proof *p,
                    const struct simt_finding *f, const struct subject *s)
{
    enum proof_claim claim;
    size_t n = 0, proved = 0;
    if (!refutes(f->fault, &claim))
        return;
    for (size_t i = 0; i < p->items.n; i++) {
        if (!is_about(&p->items.at[i], f, claim))
            continue;
        n++;
        proved += p->items.at[i].verdict == PROOF_PROVED;
    }
    counts->met += n > 0;
    if (!n || proved < n)
        return;
    counts->wrong++;
    print_error("%s:%u:%u: %s of %s is proved, but %s\n", s->file,
                f->place.line, f->place.column, proof_claim_name(claim),
                f->array, simt_fault_name(f->fault));
}

// ---- Running --------------------------------------------------------------

// Run a pass; returns whether it took the kernel.
static bool run_pass(struct compilation *c, struct ir_kernel *k,
                     enum pass_name name)
{
    struct pass_options options = {0};
    struct diag_list ignored = {.arena = &c->arena};
    struct pass p = {.kernel = k,
                     .arena = &c->arena,
                     .scratch = &c->scratch,
                     .names = &c->names,
                     .diags = &ignored};
    return passes_run_one(&p, name, &options);
}

// Run a mutant at one size and compare what is found.
static void run_at(struct experiment *e, struct arena *a, struct subject *s,
                   struct simt_code *code, const struct ir_kernel *mutant,
                   const struct proof *proof, const char *sizes)
{
    static struct simt_result result;
    for (int policy = 0; policy < SIMT_POLICIES; policy++) {
        struct diag_list diags = {.arena = a};
        struct simt_run run = {.policy = (enum simt_policy)policy,
                               .seed = 3,
                               .most_steps = STEPS_MOST};
        struct eval_argument *args =
            specimen_arguments(a, mutant, sizes, specimen_scattered);
        if (!args || !specimen_fits(mutant, args) ||
            !simt_run(code, args, &run, &result, &diags))
            return;
        e->counts.faulty += result.n > 0;
        for (size_t i = 0; i < result.n; i++)
            compare(&e->counts, proof, &result.findings[i], s);
    }
}

// Make claims of a mutant, lower and run it.
static void try_mutant(struct experiment *e, struct subject *s,
                       const struct ir_kernel *kernel, enum mutation what,
                       size_t site)
{
    struct arena a = {0};
    struct diag_list diags = {.arena = &a};
    struct ir_kernel *mutant = mutation_apply(&a, kernel, what, site);
    size_t wrong = e->counts.wrong;
    if (run_pass(&s->c, mutant, PASS_barriers)) {
        struct proof *proof = proof_make(&a, mutant, PROOF_QUESTIONS);
        struct simt_code *code = NULL;
        if (run_pass(&s->c, mutant, PASS_flatten))
            code = simt_compile(&a, mutant, &e->tools.options, &diags);
        for (size_t i = 0; code && i < s->n_sizes; i++)
            run_at(e, &a, s, code, mutant, proof, s->sizes[i]);
        simt_free(code);
    }
    e->counts.mutants++;
    if (e->counts.wrong > wrong) {
        struct buf text = {0};
        ir_print_kernel(&text, mutant);
        print_error("%s: mutant %s:\n%s", s->file, mutation_name(what),
                    text.data);
        buf_free(&text);
    }
    arena_reset(&a);
}

// ---- Subjects -------------------------------------------------------------

// Open a line of the list, "FILE sm_80: SIZES, SIZES"; false if it is none.
static bool open_subject(struct experiment *e, char *line, struct subject *s)
{
    struct compile_options options = {.passes = {.stop_after = "noalias"}};
    struct buf text = {0};
    char *colon = strchr(line, ':');
    if (*line == '#' || !colon)
        return false;
    *colon = 0;
    char *space = strchr(line, ' ');
    if (space)
        *space = 0;
    *s = (struct subject){.file = line};
    for (char *one = strtok(colon + 1, ","); one && s->n_sizes < SIZES_MOST;
         one = strtok(NULL, ","))
        s->sizes[s->n_sizes++] = one;
    if (!s->n_sizes)
        s->sizes[s->n_sizes++] = "";
    const char *path = arena_printf(&e->arena, "%s/tests/kernels/%s",
                                    getenv("SOURCE_DIR"), line);
    assert_true(specimen_read(path, &text));
    compile_start(&s->c);
    e->tools.options.target =
        nvptx_target_find(space ? space + 1 : "sm_80", &s->c.diags);
    assert_true(compile_add(&s->c, line, text.data, text.n));
    assert_true(compile_lower(&s->c, &options));
    buf_free(&text);
    return true;
}

// Try so many mutants of a subject.
static void try_subject(struct experiment *e, struct subject *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        enum mutation what = (enum mutation)random_below(e, MUTATIONS);
        const struct ir_kernel *k =
            s->c.variants.at[random_below(e, s->c.variants.n)].kernel;
        size_t sites = mutation_sites(k, what);
        if (sites)
            try_mutant(e, s, k, what, random_below(e, sites));
    }
}

static void proves_no_fault_of_a_mutant(void **state)
{
    const char *number = getenv("MUTANTS"), *seed = getenv("MUTANTS_SEED");
    const char *only = getenv("MUTANTS_ONLY");
    struct experiment e = {.random = seed ? strtoull(seed, NULL, 10) : 1};
    size_t n = number ? strtoull(number, NULL, 10) : MUTANTS_DEFAULT;
    static const char stub[] =
        "kernel f(A: f32[1]) -> B: f32[1] { B[i] = A[i] }";
    struct buf list = {0};
    (void)state;
    assert_true(specimen_open(&e.tools, "stub", stub, sizeof stub - 1));
    // LLVM drops stores of what is read unset; the claims are of stores.
    e.tools.options.opt_level = 0;
    assert_true(
        specimen_read(arena_printf(&e.arena, "%s/tests/simt/subjects.txt",
                                   getenv("SOURCE_DIR")),
                      &list));
    char *copy = arena_copy(&e.arena, list.data, list.n), *next = NULL;
    for (char *line = copy; line && *line; line = next) {
        struct subject s;
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if ((only && !strstr(line, only)) || !open_subject(&e, line, &s))
            continue;
        try_subject(&e, &s, only ? n : n / 30 + 1);
        compile_end(&s.c);
    }
    print_message("%zu mutants, %zu runs with findings, %zu faults of accesses "
                  "with a claim, %zu called proved\n",
                  e.counts.mutants, e.counts.faulty, e.counts.met,
                  e.counts.wrong);
    assert_true(e.counts.mutants > 0);
    assert_true(only || e.counts.met > 0);
    specimen_close(&e.tools);
    buf_free(&list);
    arena_reset(&e.arena);
    assert_int_equal(e.counts.wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proves_no_fault_of_a_mutant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
