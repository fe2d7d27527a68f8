// ingot check FILE...: run what becomes PTX on the CPU, and find its faults.
//
//   ingot check gemm.ing
//   ingot check gemm.ing --schedule 2 --size M=65,N=129 --policies random
//   ingot check gemm.ing --proofs
//   ingot check reverse.ing --trace
//
// Every variant of every kernel runs at sizes that reach all of its paths,
// under several orders of its threads, with each access checked, and its
// results are compared with the definition.

#include "tools/ingot/check.h"

#include "tools/ingot/sarif.h"
#include "tools/ingot/targets.h"
#include "tools/libingot/contracts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    KEY_SCHEDULE = 5376,
    KEY_POLICIES,
    KEY_CASES,
    KEY_SECONDS,
    KEY_NOTES,
    KEY_STRICT,
    KEY_ELEMENTS,
    KEY_UNCHECKED,
    KEY_ACCESSES,
    KEY_SARIF,
    KEY_PROOFS,
    KEY_NO_PROOFS,
    KEY_TRACE,
    KEY_JSON,
};

// What the cases of a variant may cost whose sizes are chosen: statements of the
// definition, elements, and eight for each thread.
#define CASES_WORK 3e6

// Steps of a file, shared by its variants, after which each further case of a
// variant runs under one policy.
#define CASES_STEPS 80000000

// The command line.
struct options {
    struct check_request request;
    struct cli_compile compile;
    struct cli_targets targets;
    struct toolchain tools;
    struct VEC(const char *) files;
    struct arena arena;
    json_t *results;       // --json, else NULL
    const char *sarif;     // --sarif: the file, else NULL
    json_t *sarif_results; // and what goes there
};

static const struct argp_option options[] = {
    {"schedule", KEY_SCHEDULE, "N|NAME", 0,
     "check this schedule of the kernel, or this variant", 0},
    {"policies", KEY_POLICIES, "LIST", 0,
     "orders of the threads: forward, reverse, random, warp-contiguous, "
     "one-ahead or all (default)",
     0},
    {"cases", KEY_CASES, "N", 0, "choose at most N sizes (default 12)", 0},
    {"seconds", KEY_SECONDS, "N", 0,
     "end a run that takes longer (default: none does)", 0},
    {"elements", KEY_ELEMENTS, "KIND", 0,
     "what arrays without a range hold: distinct (default), random, few, "
     "zeros, ones or limits; without it and --size, kernels whose text "
     "says what threads do are run on the last four, too",
     0},
    {"strict", KEY_STRICT, 0, 0,
     "a variant of which stores never ran, or that no sizes reach, is an "
     "error, and so are elements of a result that nobody writes",
     0},
    {"notes", KEY_NOTES, 0, 0, "report what is no fault, such as writing twice",
     0},
    {"unchecked", KEY_UNCHECKED, 0, 0,
     "compare results alone, which is many times as fast: for large sizes", 0},
    {"accesses", KEY_ACCESSES, 0, 0,
     "print the bank conflicts and the sectors of every access, too", 0},
    {"sarif", KEY_SARIF, "FILE", 0,
     "write what was found to FILE, too, as SARIF 2.1.0", 0},
    {"proofs", KEY_PROOFS, 0, 0,
     "print what is proved of every access for all sizes, too", 0},
    {"no-proofs", KEY_NO_PROOFS, 0, 0,
     "prove nothing for all sizes, which takes long for kernels with many "
     "variants",
     0},
    {"trace", KEY_TRACE, 0, 0,
     "print under each fault which accesses of the element led to it, at the "
     "smallest sizes that show it",
     0},
    {"json", KEY_JSON, 0, 0, "print results and diagnostics as JSON", 0},
    {0}};

// Return the policies of a list; an unknown one ends the process.
static unsigned policies(const char *list, struct arena *a,
                         struct argp_state *state)
{
    unsigned set = 0;
    for (const char *at = list;; at++) {
        size_t n = strcspn(at, ",");
        const char *name = arena_copy(a, at, n);
        enum simt_policy one;
        if (simt_policy_find(name, &one))
            set |= 1u << one;
        else if (strcmp(name, "all") == 0)
            set |= (1u << SIMT_POLICIES) - 1;
        else
            argp_error(state, "--policies: `%s` is none; see --help", name);
        at += n;
        if (!*at)
            return set;
    }
}

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    struct check_request *q = &o->request;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &q->problem;
        state->child_inputs[1] = &o->compile;
        state->child_inputs[2] = &o->targets;
        return 0;
    case KEY_SCHEDULE: q->schedule = arg; return 0;
    case KEY_POLICIES: q->policies = policies(arg, &o->arena, state); return 0;
    case KEY_CASES: q->cases = (size_t)problem_number(arg, state); return 0;
    case KEY_SECONDS: q->seconds = problem_number(arg, state); return 0;
    case KEY_ELEMENTS:
        q->has_elements = true;
        q->problem.request.elements =
            (enum elements)problem_word(arg, elements_names(), state);
        return 0;
    case KEY_STRICT: q->is_strict = true; return 0;
    case KEY_NOTES: q->has_notes = true; return 0;
    case KEY_UNCHECKED: q->is_unchecked = true; return 0;
    case KEY_ACCESSES: q->has_costs = true; return 0;
    case KEY_SARIF:
        o->sarif = arg;
        o->sarif_results = json_array();
        return 0;
    case KEY_TRACE: q->has_trace = true; return 0;
    case KEY_PROOFS: q->has_proofs = true; return 0;
    case KEY_NO_PROOFS: q->proves_nothing = true; return 0;
    case KEY_JSON: o->results = json_array(); return 0;
    case ARGP_KEY_ARG: vec_push(&o->arena, &o->files, arg); return 0;
    case ARGP_KEY_END:
        if (q->has_proofs && q->proves_nothing)
            argp_error(state, "--no-proofs leaves no --proofs to print");
        if (q->has_trace && q->is_unchecked)
            argp_error(state, "--unchecked sees no accesses to --trace");
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a file"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

// Compile a file and check it.  Returns false after reporting.
static bool check_compiled(struct options *o, const char *path,
                           struct check *check)
{
    struct compilation *c = check->c;
    struct ir_kernel *k = NULL;
    if (!cli_add_files(&o->compile, c, &path, 1))
        return false;
    if (o->request.problem.kernel) {
        k = problem_kernel(&o->request.problem, c, &check->wrong);
        if (!k)
            return false;
        problem_keep_kernel(c, k);
    }
    return compile_lower(c, check->options) && contracts_check_lowered(c) &&
           check_run(check);
}

// Tell what came of a file.  Returns the exit code.
static int tell(struct options *o, const char *path, struct check *check)
{
    struct buf text = {0};
    bool written = true, has_faults = check_tell(check);
    if (o->results) {
        json_t *object = json_object();
        json_object_set_new(object, "source", json_text(path));
        json_object_set_new(
            object, "ok", json_boolean(!has_faults && !check->c->diags.errors));
        json_object_set_new(object, "variants", check_json(check));
        json_object_set_new(object, "diagnostics",
                            json_diagnostics(&check->c->diags));
        json_array_append_new(o->results, object);
    } else {
        check_print(check, &text);
        if (o->request.has_costs)
            check_print_costs(check, &text);
        if (o->request.has_proofs)
            check_print_proofs(check, &text);
        written = cli_print(&text);
    }
    buf_free(&text);
    if (o->sarif)
        sarif_add(o->sarif_results, &check->c->diags);
    int code = cli_report(&check->c->diags);
    if (check->wrong) {
        fprintf(stderr, "ingot check: %s\n", check->wrong);
        return EXIT_USAGE;
    }
    return code || written ? code : EXIT_TOOL;
}

// Check one file.  Returns the exit code.
static int check_file(struct options *o, const char *path)
{
    struct compilation c;
    struct compile_options compile = o->compile.options;
    struct check check = {.request = &o->request, .options = &compile, .c = &c};
    compile_start(&c);
    compile.ptx = NULL;
    compile.has_proofs = !o->request.is_unchecked && !o->request.proves_nothing;
    compile.schedule = o->request.schedule;
    check_compiled(o, path, &check);
    cli_progress(NULL);
    cli_print_log(&o->compile);
    int code = tell(o, path, &check);
    check_free(&check);
    compile_end(&c);
    return code;
}

// Write the file of --sarif, if there is to be one.  Returns the exit code.
static int write_sarif(struct options *o)
{
    struct diag_list diags = {.arena = &o->arena};
    if (o->sarif)
        sarif_write(o->sarif_results, o->sarif, &diags);
    json_decref(o->sarif_results);
    return cli_report(&diags);
}

static const struct argp_child children[] = {
    {&problem_argp, 0, "On what (default: sizes that reach all paths):", 1},
    {&cli_compile_argp, 0, "How to compile:", 2},
    {&cli_machine_argp, 0, "For what (default: every schedule):", 3},
    {0}};

const struct argp check_argp = {
    options,
    take,
    "FILE...",
    "Run each kernel of FILE.ing on the CPU, as it would become PTX, with "
    "every access checked, and compare with its definition.",
    children,
    0,
    0};

int command_check(int argc, char **argv)
{
    struct options o = {
        .request = {.problem = {.request = {.elements = ELEMENTS_distinct}},
                    .policies = (1u << SIMT_POLICIES) - 1,
                    .cases = 12,
                    .seconds = INFINITY,
                    .work = CASES_WORK,
                    .steps = CASES_STEPS}};
    int code = EXIT_DONE;
    cli_parse(&check_argp, argc, argv, &o);
    toolchain_start(&o.tools, o.targets.cuda);
    cli_targets_apply(&o.targets, &o.tools, &o.compile.options);
    for (size_t i = 0; i < o.files.n; i++) {
        int one = check_file(&o, o.files.at[i]);
        code = one > code ? one : code;
    }
    if (o.results && !json_print(o.results))
        code = EXIT_TOOL;
    int written = write_sarif(&o);
    code = written > code ? written : code;
    arena_reset(&o.arena);
    arena_reset(&o.request.problem.arena);
    arena_reset(&o.targets.arena);
    cli_end(&o.compile);
    return code;
}
