// The command line of `ingot run`.

#include "tools/ingot/run.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_SIZE = 3072,
    KEY_SCALAR,
    KEY_RANGE,
    KEY_SEED,
    KEY_KERNEL,
    KEY_VARIANT,
    KEY_DEVICE,
    KEY_DRIVER,
    KEY_JIT,
    KEY_REFERENCE,
    KEY_TOLERANCE,
    KEY_UNORDERED,
    KEY_STEPS,
    KEY_REPS,
    KEY_GRAPH,
    KEY_SETS,
    KEY_NO_TIMING,
    KEY_JSON,
};

static const struct argp_option options[] = {
    {"size", KEY_SIZE, "NAME=N,...", 0, "set sizes", 0},
    {"scalar", KEY_SCALAR, "NAME=X,...", 0, "set scalars (default: random)", 0},
    {"range", KEY_RANGE, "ARRAY=LOW:HIGH", 0,
     "draw the elements of an input from this range", 0},
    {"seed", KEY_SEED, "N", 0, "of the random data (default 1)", 0},
    {"kernel", KEY_KERNEL, "NAME", 0, "which kernel of the file", 0},
    {"variant", KEY_VARIANT, "NAME", 0, "run this variant or none", 0},
    {"device", KEY_DEVICE, "WHERE", 0,
     "gpu, cpu (evaluate the lowered kernel), or auto: the CPU if there is no "
     "GPU",
     0},
    {"jit", KEY_JIT, 0, 0, "build PTX alone, which the driver compiles", 0},
    {"reference", KEY_REFERENCE, "WHAT", 0,
     "compare with the definition: eval (interpreted), host (compiled with "
     "cc), none, or auto: host for larger sizes",
     0},
    {"tolerance", KEY_TOLERANCE, "X", 0,
     "most that floating results may differ, relative to the larger of the "
     "element and the root mean square of all",
     0},
    {"unordered", KEY_UNORDERED, "ARRAY [COUNT]", 0,
     "compare ARRAY, or as many elements as COUNT[0] says, in any order", 0},
    {"steps", KEY_STEPS, "N", 0,
     "most statements to evaluate on the CPU (default 1e9)", 0},
    {"reps", KEY_REPS, "N", 0, "measure N times", 0},
    {"graph", KEY_GRAPH, "N", 0, "time a graph of N runs that is replayed", 0},
    {"sets", KEY_SETS, "N", 0,
     "copies of the data that take turns (default: more than the cache holds)",
     0},
    {"no-timing", KEY_NO_TIMING, 0, 0, "run once, measure nothing", 0},
    {"driver", KEY_DRIVER, "PATH", 0, "the libcuda.so.1 to use", 0},
    {"json", KEY_JSON, 0, 0, "print the result as JSON", 0},
    {0}};

// Add one `name=text`.
static void add_setting(struct run_options *o, const char *text, size_t n,
                        bool is_range, struct argp_state *state)
{
    const char *copy = arena_copy(&o->arena, text, n);
    const char *equals = strchr(copy, '=');
    if (!equals || equals == copy || !equals[1])
        argp_error(state, "expected NAME=VALUE, not `%s`", copy);
    struct problem_setting s = {
        arena_copy(&o->arena, copy, (size_t)(equals - copy)), equals + 1};
    if (is_range)
        vec_push(&o->arena, &o->request.ranges, s);
    else
        vec_push(&o->arena, &o->request.values, s);
}

// Add `name=text,...`.
static void add_settings(struct run_options *o, const char *text, bool is_range,
                         struct argp_state *state)
{
    for (;;) {
        size_t n = strcspn(text, ",");
        add_setting(o, text, n, is_range, state);
        if (!text[n])
            return;
        text += n + 1;
    }
}

// Return a number that is not negative.
static double number(const char *text, struct argp_state *state)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !(x >= 0) || x > 1e18)
        argp_error(state, "expected a number, not `%s`", text);
    return x;
}

// Return the place of a word in a list that NULL ends.
static int word(const char *text, const char *const *words,
                struct argp_state *state)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    argp_error(state, "`%s` is not one of the choices; see --help", text);
    return 0;
}

// Take the file; there is one.
static void take_file(struct run_options *o, const char *arg,
                      struct argp_state *state)
{
    if (o->file)
        argp_error(state, "name one file");
    o->file = arg;
}

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    static const char *const devices[] = {"auto", "gpu", "cpu", NULL};
    static const char *const references[] = {"auto", "eval", "host", "none",
                                             NULL};
    struct run_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->compile;
        state->child_inputs[1] = &o->targets;
        return 0;
    case KEY_SIZE:
    case KEY_SCALAR: add_settings(o, arg, false, state); return 0;
    case KEY_RANGE: add_settings(o, arg, true, state); return 0;
    case KEY_SEED: o->request.seed = strtoull(arg, NULL, 0); return 0;
    case KEY_KERNEL: o->kernel = arg; return 0;
    case KEY_VARIANT: o->variant = arg; return 0;
    case KEY_DEVICE:
        o->device = (enum run_device)word(arg, devices, state);
        return 0;
    case KEY_DRIVER: o->driver = arg; return 0;
    case KEY_JIT: o->is_jit = true; return 0;
    case KEY_REFERENCE:
        o->reference = (enum run_reference)word(arg, references, state);
        return 0;
    case KEY_TOLERANCE: o->tolerance = number(arg, state); return 0;
    case KEY_UNORDERED: o->unordered = arg; return 0;
    case KEY_STEPS: o->steps = (uint64_t)number(arg, state); return 0;
    case KEY_REPS: o->timing.repetitions = (size_t)number(arg, state); return 0;
    case KEY_GRAPH: o->timing.graph = (size_t)number(arg, state); return 0;
    case KEY_SETS: o->sets = (size_t)number(arg, state); return 0;
    case KEY_NO_TIMING: o->no_timing = true; return 0;
    case KEY_JSON: o->is_json = true; return 0;
    case ARGP_KEY_ARG: take_file(o, arg, state); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a file"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

void run_parse(int argc, char **argv, struct run_options *out)
{
    static const struct argp_child children[] = {
        {&cli_compile_argp, 0, "How to compile:", 1},
        {&cli_targets_argp, 0, "For what (default: the GPU found):", 2},
        {0}};
    static const struct argp argp = {
        options,
        take,
        "FILE",
        "Build a kernel, run it on random data, compare every element with "
        "the definition, and time it.",
        children,
        0,
        0};
    *out = (struct run_options){.tolerance = -1, .steps = 1000000000};
    out->request.seed = 1;
    cli_parse(&argp, argc, argv, out);
}
