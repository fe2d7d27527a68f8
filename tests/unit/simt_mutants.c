// Mutants of lowered kernels: the executor, or the comparison with the
// definition, must notice nearly all of them.
//
// A sample of the mutants of tests/simt/subjects.txt runs under all policies
// on two kinds of inputs.
//
//   MUTANTS=400 MUTANTS_SEED=7 MUTANTS_ONLY=matmul_buffers simt_mutants
//
// chooses how many ("all": each kind at most SITES_MOST times a kernel), which,
// and of which kernels; survivors are printed.  MUTANTS_TO=FOLDER writes those
// that are caught there, as files that say what they should compute.

#include "tests/unit/support/mutant_file.h"
#include "tests/unit/support/mutate.h"
#include "tests/unit/support/trial.h"

#include "ir/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SITES_MOST = 6, MUTANTS_DEFAULT = 150 };
#define CAUGHT_LEAST 0.95
#define TOLERANCE    1e-4

// A kernel that is mutated.
struct subject {
    const char *file;
    struct tried tried;
    const char *module; // optimised, without lines
    unsigned notes;     // that are made of it, a bit each
    bool is_async;      // only its order is changed
};
struct subjects VEC(struct subject);

// How a mutant fares.
enum verdict {
    CAUGHT_BY_BOTH,
    CAUGHT_BY_CHECK,      // findings, but the results are right
    CAUGHT_BY_COMPARISON, // no findings, but wrong results
    NOTED,                // a note that is not made of the kernel itself
    REFUSED,              // by the compiler's own checks of the module
    SAME,                 // LLVM makes the same module of it
    UNREACHED,            // no size has the place executed
    EXPLAINED,            // tests/simt/equivalents.txt says why it is right
    SURVIVED,
    VERDICTS,
};

// A mutant.
struct mutant {
    const struct subject *subject;
    enum mutation what;
    size_t site;
};
struct mutants VEC(struct mutant);

// Mutants that are right though they differ.
struct explained {
    const char *file, *mutation;
    const char *line, *becomes; // the first that differs; NULL: anything
};

// All of a run.
struct experiment {
    struct arena arena;
    struct VEC(struct explained) explained;
    struct subjects subjects;
    struct mutants mutants;
    uint64_t random;
    unsigned counts[MUTATIONS][VERDICTS];
};

// Return the next random number below `n`.
static size_t random_below(struct experiment *e, size_t n)
{
    e->random = e->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (size_t)((e->random >> 33) % n);
}

// Return the optimised module of a kernel, or NULL.
static const char *module_of(struct arena *a, const struct ir_kernel *kernel,
                             const struct specimen *s)
{
    struct nvptx_options options = {.target = s->options.target,
                                    .form = NVPTX_OPTIMISED,
                                    .opt_level = s->options.opt_level,
                                    .libdevice = s->options.libdevice,
                                    .libdevice_size =
                                        s->options.libdevice_size};
    struct diag_list diags = {.arena = a};
    struct buf out = {0};
    bool ok = nvptx_emit(a, &kernel, 1, &options, &out, &diags);
    const char *text = ok ? arena_copy(a, out.data, out.n) : NULL;
    buf_free(&out);
    return text;
}

// Return how a mutant fares.
static enum verdict judge(struct arena *a, const struct mutant *m,
                          const struct ir_kernel *mutant)
{
    const struct subject *s = m->subject;
    struct outcome out = trial_run(a, mutant, &s->tried);
    if (out.is_refused)
        return REFUSED;
    if (out.is_flagged)
        return out.apart > s->tried.tolerance ? CAUGHT_BY_BOTH
                                              : CAUGHT_BY_CHECK;
    if (out.apart > s->tried.tolerance)
        return CAUGHT_BY_COMPARISON;
    if (out.notes & ~s->notes)
        return NOTED;
    const char *module = module_of(a, mutant, s->tried.specimen);
    if (module && strcmp(module, s->module) == 0)
        return SAME;
    const struct ir_kernel *probe =
        mutation_probe(a, s->tried.variant->kernel, m->what, m->site);
    return trial_run(a, probe, &s->tried).is_flagged ? SURVIVED : UNREACHED;
}

// ---- Subjects -------------------------------------------------------------

// Check that a subject itself is right, and find how exact it is.  Returns
// false if it needs libdevice, which is not at hand.
static bool calibrate(struct experiment *e, struct subject *s)
{
    struct outcome out =
        trial_run(&e->arena, s->tried.variant->kernel, &s->tried);
    if (out.is_refused && !s->tried.specimen->libdevice.n)
        return false;
    if (out.is_refused || out.is_flagged || out.apart > TOLERANCE)
        fail_msg("%s, variant %s: %s, %g from its definition", s->file,
                 s->tried.variant->kernel->variant,
                 out.is_flagged ? "it has faults" : "it is wrong", out.apart);
    s->notes = out.notes;
    s->tried.tolerance = 4 * out.apart;
    s->module =
        module_of(&e->arena, s->tried.variant->kernel, s->tried.specimen);
    return true;
}

// Take the architecture off the end of "FILE sm_90a"; NULL: none is said.
static const char *take_target(char *file)
{
    char *space = strchr(file, ' ');
    if (!space)
        return NULL;
    *space = 0;
    return space + 1;
}

// Add the variants of a file for an architecture that take some of the sizes,
// separated by commas.
static void add_file(struct experiment *e, char *file, char *sizes)
{
    struct arena *a = &e->arena;
    struct specimen *specimen = arena_new(a, struct specimen);
    struct buf text = {0};
    const char *target = take_target(file);
    struct VEC(const char *) all = {0};
    const char *path =
        arena_printf(a, "%s/tests/kernels/%s", getenv("SOURCE_DIR"), file);
    assert_true(specimen_read(path, &text));
    if (!specimen_open(specimen, file, text.data, text.n))
        specimen_complain(&specimen->c.diags);
    if (target)
        specimen->options.target =
            nvptx_target_find(target, &specimen->c.diags);
    for (char *one = strtok(sizes, ","); one; one = strtok(NULL, ","))
        vec_push(a, &all, one);
    if (!all.n)
        vec_push(a, &all, "");
    for (size_t v = 0; v < specimen->c.variants.n; v++) {
        struct subject s = {
            .file = file, .tried = {.specimen = specimen}, .is_async = target};
        s.tried.variant = &specimen->c.variants.at[v];
        if (!target_set_has(s.tried.variant->targets, specimen->options.target))
            continue;
        vec_foreach_value(one, &all)
            trial_add(a, &s.tried, one, specimen_scattered);
        size_t ordinary = s.tried.trials.n;
        for (size_t i = 0; i < all.n && s.tried.trials.n == ordinary; i++)
            trial_add(a, &s.tried, all.at[i], specimen_steep);
        if (s.tried.trials.n && calibrate(e, &s))
            vec_push(a, &e->subjects, s);
    }
    buf_free(&text);
}

// Give each line of a file of tests/simt that is no comment to `take`, as a copy.
static void read_lines(struct experiment *e, const char *name,
                       void (*take)(struct experiment *e, char *line))
{
    struct buf list = {0};
    const char *path =
        arena_printf(&e->arena, "%s/tests/simt/%s", getenv("SOURCE_DIR"), name);
    assert_true(specimen_read(path, &list));
    for (char *line = list.data, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*line != '#')
            take(e, arena_copy(&e->arena, line, (size_t)(end - line)));
        end += *end != 0;
    }
    buf_free(&list);
}

// Add a subject, "FILE: ...", if all are wanted or it is.
static void take_subject(struct experiment *e, char *line)
{
    const char *only = getenv("MUTANTS_ONLY");
    char *colon = strchr(line, ':');
    if (!colon || (only && !strstr(line, only)))
        return;
    *colon = 0;
    add_file(e, line, colon + 1);
}

// Add a mutant that is right: "FILE MUTATION: LINE => LINE", the second line where
// the first is not enough.
static void take_explained(struct experiment *e, char *line)
{
    char *space = strchr(line, ' '), *colon = strstr(line, ": ");
    char *becomes = strstr(line, " => ");
    if (!space || !colon)
        return;
    *space = *colon = 0;
    if (becomes)
        *becomes = 0;
    vec_push(&e->arena, &e->explained,
             (struct explained){line, space + 1, colon + 2,
                                becomes ? becomes + 4 : NULL});
}

// ---- Mutants --------------------------------------------------------------

// Add mutants of one kind of one subject: all, or some.
static void add_sites(struct experiment *e, const struct subject *s,
                      enum mutation what)
{
    size_t n = mutation_sites(s->tried.variant->kernel, what), taken = 0;
    for (size_t site = 0; site < n && taken < SITES_MOST; site++) {
        if (random_below(e, n - site) >= SITES_MOST - taken)
            continue;
        vec_push(&e->arena, &e->mutants, (struct mutant){s, what, site});
        taken++;
    }
}

// List mutants in random order.
static void list_mutants(struct experiment *e)
{
    for (size_t i = 0; i < e->subjects.n; i++)
        for (int what = 0; what < MUTATIONS; what++)
            if (!e->subjects.at[i].is_async ||
                mutation_is_of_order((enum mutation)what))
                add_sites(e, &e->subjects.at[i], (enum mutation)what);
    for (size_t i = e->mutants.n; i > 1; i--) {
        size_t k = random_below(e, i);
        struct mutant kept = e->mutants.at[i - 1];
        e->mutants.at[i - 1] = e->mutants.at[k];
        e->mutants.at[k] = kept;
    }
}

// Return the lines from the first in which two texts differ, without spaces in
// front.
static void find_difference(const struct buf *x, const struct buf *y,
                            struct arena *a, const char **from, const char **to)
{
    size_t at = 0, begin = 0;
    for (; x->data[at] && x->data[at] == y->data[at]; at++)
        if (x->data[at] == '\n')
            begin = at + 1;
    while (x->data[begin] == ' ' && begin < at)
        begin++;
    *from = arena_copy(a, x->data + begin, strcspn(x->data + begin, "\n"));
    *to = arena_copy(a, y->data + begin, strcspn(y->data + begin, "\n"));
}

// Return whether a mutant that survived is right, as the list of those says.
static bool is_explained(const struct experiment *e, const struct mutant *m,
                         const char *line, const char *becomes)
{
    for (size_t i = 0; i < e->explained.n; i++) {
        const struct explained *x = &e->explained.at[i];
        if (strcmp(x->file, m->subject->file) == 0 &&
            strcmp(x->mutation, mutation_name(m->what)) == 0 &&
            strcmp(x->line, line) == 0 &&
            (!x->becomes || strcmp(x->becomes, becomes) == 0))
            return true;
    }
    return false;
}

// Return what a mutant that survived is; prints it unless that is explained.
static enum verdict explain(struct experiment *e, struct arena *a,
                            const struct mutant *m,
                            const struct ir_kernel *mutant, enum verdict v)
{
    const struct ir_kernel *kernel = m->subject->tried.variant->kernel;
    struct buf x = {0}, y = {0};
    const char *from, *to;
    ir_print_kernel(&x, kernel);
    ir_print_kernel(&y, mutant);
    find_difference(&x, &y, a, &from, &to);
    buf_free(&x);
    buf_free(&y);
    if (v == SURVIVED && is_explained(e, m, from, to))
        return EXPLAINED;
    print_message("%s: %s %s: %s\n    %s\n",
                  v == SURVIVED ? "survived" : "unreached", m->subject->file,
                  mutation_name(m->what), from, to);
    return v;
}

// Run one mutant, the n-th, and count it.
static void run_mutant(struct experiment *e, const struct mutant *m, size_t n)
{
    struct arena work = {0};
    const char *folder = getenv("MUTANTS_TO");
    const struct ir_kernel *kernel = m->subject->tried.variant->kernel;
    struct ir_kernel *mutant = mutation_apply(&work, kernel, m->what, m->site);
    enum verdict v = judge(&work, m, mutant);
    if (v == SURVIVED || v == UNREACHED)
        v = explain(e, &work, m, mutant, v);
    e->counts[m->what][v]++;
    if (folder && v <= CAUGHT_BY_COMPARISON)
        assert_true(mutant_write(
            folder, arena_printf(&work, "%03zu-%s", n, mutation_name(m->what)),
            &m->subject->tried, mutant));
    arena_reset(&work);
}

// Print a row of counts.
static void print_row(const char *name, const unsigned *n)
{
    print_message("%-16s", name);
    for (int v = 0; v < VERDICTS; v++)
        print_message(" %7u", n[v]);
    print_message("\n");
}

// Print the counts; returns the share of mutants that were caught.
static double print_counts(const struct experiment *e)
{
    static const char *const heads[] = {"both",    "check",   "compare",
                                        "noted",   "refused", "same",
                                        "unreach", "equal",   "survive"};
    unsigned sums[VERDICTS] = {0}, all = 0;
    print_message("%-16s", "");
    for (int v = 0; v < VERDICTS; v++)
        print_message(" %7s", heads[v]);
    print_message("\n");
    for (int what = 0; what < MUTATIONS; what++) {
        print_row(mutation_name((enum mutation)what), e->counts[what]);
        for (int v = 0; v < VERDICTS; v++)
            sums[v] += e->counts[what][v];
    }
    print_row("all", sums);
    for (int v = 0; v < VERDICTS; v++)
        all += v == SAME || v == UNREACHED || v == EXPLAINED ? 0 : sums[v];
    return all ? 1 - (double)sums[SURVIVED] / all : 0;
}

static void notices_nearly_all_mutants(void **state)
{
    const char *number = getenv("MUTANTS"), *seed = getenv("MUTANTS_SEED");
    struct experiment e = {.random = seed ? strtoull(seed, NULL, 10) : 1};
    size_t n = number ? strtoull(number, NULL, 10) : MUTANTS_DEFAULT;
    (void)state;
    read_lines(&e, "equivalents.txt", take_explained);
    read_lines(&e, "subjects.txt", take_subject);
    list_mutants(&e);
    assert_true(e.mutants.n > 0);
    if ((number && strcmp(number, "all") == 0) || n > e.mutants.n)
        n = e.mutants.n;
    for (size_t i = 0; i < n; i++)
        run_mutant(&e, &e.mutants.at[i], i);
    double caught = print_counts(&e);
    print_message("%zu of %zu mutants, %.1f %% caught\n", n, e.mutants.n,
                  100 * caught);
    for (size_t i = 0; i < e.subjects.n; i++)
        if (i == 0 || e.subjects.at[i].tried.specimen !=
                          e.subjects.at[i - 1].tried.specimen)
            specimen_close(e.subjects.at[i].tried.specimen);
    arena_reset(&e.arena);
    assert_true(caught >= CAUGHT_LEAST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notices_nearly_all_mutants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
