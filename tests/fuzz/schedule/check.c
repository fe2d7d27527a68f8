// Compiles a case and asks the oracles.

#include "tests/fuzz/schedule/check.h"

#include "tests/fuzz/schedule/oracle.h"
#include "tools/libingot/compile.h"

#include <stdio.h>
#include <string.h>

enum { SETS_MOST = 8, ARCHITECTURES = 4 };
static const char *const architectures[ARCHITECTURES] = {"sm_75", "sm_80",
                                                         "sm_90a", "sm_100"};
static const char *const has_all = "sm_90a";
static const uint64_t steps_most = 500000;

// A row of oracles.def.
struct fuzz_oracle {
    const char *name;
    unsigned percent;
    void *(*start)(const struct fuzz_subject *s, struct buf *out);
    enum fuzz_answer (*ask)(void *ready, const struct fuzz_trial *t,
                            struct buf *out);
    void (*end)(void *ready);
};

static const struct fuzz_oracle oracles[] = {
#define ORACLE(name, percent, meaning)                                         \
    {#name, percent, fuzz_##name##_start, fuzz_##name##_ask, fuzz_##name##_end},
#include "tests/fuzz/schedule/oracles.def"
#undef ORACLE
};
enum { ORACLES = sizeof oracles / sizeof *oracles };

// A case under test.
struct trial {
    struct compilation c;
    const struct nvptx_target *target;
    uint64_t seed;
    struct fuzz_verdict *verdict;
};

// Note a failure.
static void fail(struct trial *t, const char *who, const char *text)
{
    struct fuzz_verdict *v = t->verdict;
    size_t head = strcspn(text, ":");
    v->outcome = FUZZ_FAILED;
    snprintf(v->what, sizeof v->what, "%s: %.*s", who, (int)head, text);
    snprintf(v->detail, sizeof v->detail, "%s", text);
}

// Return whether a refusal is a fault of the compiler.
static bool is_internal(enum diag_code code)
{
    return code == D_pass_fault || code == D_bad_module ||
           code == D_llvm_failed;
}

// Return whether a refusal is of instructions that the target lacks, or of
// functions that this machine has not.
static bool is_about_target(enum diag_code code)
{
    return code == D_no_libdevice || code == D_cluster_target ||
           code == D_matrix_target || code == D_tensor_target ||
           code == D_mbarrier_target;
}

// Return the first error of the compiler, or NULL.
static const struct diag *first_error(const struct trial *t)
{
    for (size_t i = 0; i < t->c.diags.all.n; i++) {
        if (t->c.diags.all.at[i].severity == DIAG_ERROR)
            return &t->c.diags.all.at[i];
    }
    return NULL;
}

// Note why the compiler refuses the case.
static void refuse(struct trial *t)
{
    const struct diag *first = first_error(t);
    if (!first) {
        fail(t, "compiler", "refused without an error");
        return;
    }
    t->verdict->outcome = FUZZ_REFUSED;
    t->verdict->code = first->code;
    snprintf(t->verdict->detail, sizeof t->verdict->detail, "%s", first->text);
    if (is_internal(first->code))
        fail(t, "compiler",
             arena_printf(&t->c.arena, "%s: %s", diag_code_text(first->code),
                          first->text));
}

// Return whether the conditions of a kernel hold.
static bool holds(const struct ir_conditions *all, const struct fuzz_inputs *in)
{
    int64_t value = 1;
    for (size_t i = 0; i < all->n && value; i++) {
        if (!ir_eval_int(in->kernel, in->args, all->at[i], &value))
            return false;
    }
    return value != 0;
}

// What is known of a set of sizes.
struct sizes {
    const char *line;
    bool is_defined;          // there is something that should come out
    bool is_taken;            // by the variant
    bool is_run;              // of the variant, by some oracle
    bool is_long, is_refused; // by the evaluator, as the variant has it
    struct fuzz_inputs wanted;
};

// Count what an oracle says of a variant at a set of sizes; returns false
// after noting that it is wrong.
static bool count_answer(struct trial *t, const struct fuzz_oracle *oracle,
                         const struct ir_kernel *kernel, struct sizes *at,
                         enum fuzz_answer answer, struct buf *fault)
{
    at->is_taken = true;
    at->is_run |= answer != FUZZ_LEFT;
    t->verdict->runs += answer != FUZZ_LEFT;
    if (answer != FUZZ_WRONG)
        return true;
    buf_printf(fault, " (sizes:%s; variant `%s`)", at->line, kernel->variant);
    fail(t, oracle->name, fault->data);
    return false;
}

// Run a variant, ready for an oracle, at a set of sizes.
static bool run_at(struct trial *t, const struct fuzz_oracle *oracle,
                   const struct ir_kernel *kernel, void *ready,
                   struct sizes *at)
{
    struct fuzz_inputs in;
    struct buf fault = {0};
    fuzz_inputs_sizes(kernel, at->line, &in);
    bool runs = holds(&kernel->guard, &in) && fuzz_inputs_fill(&in);
    struct fuzz_trial trial = {&t->c.scratch,
                               t->seed + t->verdict->runs,
                               &in,
                               &at->wanted,
                               &t->verdict->reads_unwritten,
                               &t->verdict->writes_alike,
                               &at->is_long,
                               &at->is_refused};
    bool good =
        !runs || count_answer(t, oracle, kernel, at,
                              oracle->ask(ready, &trial, &fault), &fault);
    buf_free(&fault);
    fuzz_inputs_free(&in);
    arena_reset(&t->c.scratch);
    return good;
}

// Return whether no oracle has run a variant to its end.
static bool is_unrun(const struct sizes *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (all[i].is_run)
            return false;
    }
    return true;
}

// Ask an oracle about a variant at all sizes; what takes long, at one at most.
static bool ask(struct trial *t, const struct fuzz_oracle *oracle,
                const struct ir_kernel *kernel, struct sizes *all, size_t n)
{
    struct fuzz_subject subject = {&t->c.arena, kernel, t->target, t->seed,
                                   &t->c.diags};
    struct buf fault = {0};
    void *ready = oracle->start(&subject, &fault);
    const struct diag *error = first_error(t);
    bool good = fault.n == 0;
    if (!good && error && is_about_target(error->code))
        refuse(t);
    else if (!good)
        fail(t, oracle->name, fault.data);
    for (size_t i = 0; good && i < n; i++) {
        bool is_asked =
            all[i].is_defined && (!all[i].is_long || is_unrun(all, n));
        good = !is_asked || run_at(t, oracle, kernel, ready, &all[i]);
    }
    oracle->end(ready);
    buf_free(&fault);
    return good;
}

// Return whether a fault is that an index type does not hold a value: kernels
// with several integer types have such sizes.
static bool is_beyond_index(const char *fault)
{
    return strstr(fault, "overflow") || strstr(fault, "index type");
}

// Compute what a set of sizes should give; false if that is not to be had.
static bool define(struct trial *t, const char *line, struct fuzz_inputs *out)
{
    const struct ir_kernel *k = t->c.program.kernels.at[0];
    fuzz_inputs_sizes(k, line, out);
    if (!holds(&k->where, out) || !fuzz_inputs_fill(out))
        return false;
    struct eval_result r = ir_eval(&t->c.scratch, k, out->args, steps_most);
    if (r.status == EVAL_FAULT && !is_beyond_index(r.text))
        fail(t, "definition", arena_printf(&t->c.arena, "fault: %s", r.text));
    t->verdict->is_huge |= out->is_huge;
    return r.status == EVAL_DONE;
}

// Find the sets of sizes that the file names; returns how many.
static size_t find_sizes(struct trial *t, const char *text, struct sizes *all)
{
    static const char head[] = "// test:";
    size_t n = 0;
    for (const char *at = strstr(text, head); at && n < SETS_MOST;
         at = strstr(at, head)) {
        at += sizeof head - 1;
        all[n].line = arena_copy(&t->c.arena, at, strcspn(at, "\n"));
        all[n].is_defined = define(t, all[n].line, &all[n].wanted);
        n++;
    }
    arena_reset(&t->c.scratch);
    return n;
}

// Ask the oracles about a variant; about later ones than the first not always.
static bool check_variant(struct trial *t, size_t variant, struct sizes *all,
                          size_t n)
{
    bool good = true;
    for (size_t i = 0; i < n; i++)
        all[i].is_taken = all[i].is_run = all[i].is_long = all[i].is_refused =
            false;
    for (size_t k = 0; good && k < ORACLES; k++) {
        bool is_asked = variant == 0 || is_unrun(all, n) ||
                        t->seed / 32 % 100 < oracles[k].percent;
        good = !is_asked ||
               ask(t, &oracles[k], t->c.variants.at[variant].kernel, all, n);
    }
    for (size_t i = 0; i < n; i++)
        t->verdict->left += all[i].is_taken && !all[i].is_run;
    return good;
}

// Check all variants.
static void check_all(struct trial *t, const char *text)
{
    struct sizes all[SETS_MOST];
    size_t n = find_sizes(t, text, all);
    bool good = t->verdict->outcome != FUZZ_FAILED;
    for (size_t i = 0; good && i < t->c.variants.n; i++)
        good = check_variant(t, i, all, n);
    for (size_t i = 0; i < n; i++)
        fuzz_inputs_free(&all[i].wanted);
}

// Compile the case down to level flat.
static bool compile(struct trial *t, const char *text, size_t size)
{
    struct compile_options o = {.targets = &t->target,
                                .n_targets = 1,
                                .opt_level = 2,
                                .passes.checked =
                                    t->seed % 8 == 0 || INGOT_CHECKED};
    return compile_add(&t->c, "case.ing", text, size) &&
           compile_lower(&t->c, &o);
}

// Compile a case for an architecture, and ask the oracles if it is to be run.
static struct fuzz_verdict look_at(const char *text, size_t size, uint64_t seed,
                                   const char *architecture, bool is_run)
{
    struct fuzz_verdict verdict = {.outcome = FUZZ_ACCEPTED};
    struct trial t = {.seed = seed, .verdict = &verdict};
    compile_start(&t.c);
    t.target = nvptx_target_find(architecture, &t.c.diags);
    if (!compile(&t, text, size))
        refuse(&t);
    else if (is_run)
        check_all(&t, text);
    compile_end(&t.c);
    return verdict;
}

struct fuzz_verdict fuzz_check(const char *text, size_t size, uint64_t seed)
{
    const char *drawn = architectures[seed / 8 % ARCHITECTURES];
    struct fuzz_verdict v = look_at(text, size, seed, drawn, true);
    bool lacks = v.outcome == FUZZ_REFUSED && is_about_target(v.code);
    return lacks ? look_at(text, size, seed, has_all, true) : v;
}

struct fuzz_verdict fuzz_compile(const char *text, size_t size, uint64_t seed)
{
    return look_at(text, size, seed, architectures[seed / 8 % ARCHITECTURES],
                   false);
}
