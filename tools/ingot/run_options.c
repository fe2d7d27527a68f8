// The command line of `ingot run`.

#include "tools/ingot/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_VARIANT = 3072,
    KEY_DEVICE,
    KEY_DRIVER,
    KEY_JIT,
    KEY_REPS,
    KEY_GRAPH,
    KEY_SETS,
    KEY_MEMORY,
    KEY_NO_TIMING,
    KEY_JSON,
    KEY_NCU,
};

static const struct argp_option options[] = {
    {"variant", KEY_VARIANT, "NAME", 0, "run this variant or none", 0},
    {"device", KEY_DEVICE, "WHERE", 0,
     "gpu, cpu (evaluate the lowered kernel), or auto: the CPU if there is no "
     "GPU",
     0},
    {"jit", KEY_JIT, 0, 0, "build PTX alone, which the driver compiles", 0},
    {"reps", KEY_REPS, "N", 0, "measure N times", 0},
    {"graph", KEY_GRAPH, "N", 0, "time a graph of N runs that is replayed", 0},
    {"sets", KEY_SETS, "N", 0,
     "copies of the data that take turns (default: more than the cache holds)",
     0},
    {"memory", KEY_MEMORY, "BYTES", 0,
     "take no more of the host's memory, nor of the GPU's, than this, 8G for "
     "example (default: what is free)",
     0},
    {"no-timing", KEY_NO_TIMING, 0, 0, "run once, measure nothing", 0},
    {"ncu", KEY_NCU, 0, 0,
     "run nothing, print the command by which Nsight Compute profiles it", 0},
    {"driver", KEY_DRIVER, "PATH", 0, "the libcuda.so.1 to use", 0},
    {"json", KEY_JSON, 0, 0,
     "print the result as JSON; of several runs, a list", 0},
    {0}};

// Return a number of bytes, with a unit of 2^10 to 2^40 or without.
static int64_t bytes_of(const char *text, struct argp_state *state)
{
    static const char units[] = "KMGT";
    char *end;
    double x = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit)
        x = ldexp(x, 10 * (int)(unit - units + 1));
    if (end == text || !(x >= 1) || x > 1e18 || end[unit != NULL])
        argp_error(state, "--memory needs bytes, such as 8G, not `%s`", text);
    return (int64_t)x;
}

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    static const char *const devices[] = {"auto", "gpu", "cpu", NULL};
    struct run_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->problem;
        state->child_inputs[1] = &o->compile;
        state->child_inputs[2] = &o->targets;
        return 0;
    case KEY_VARIANT: o->variant = arg; return 0;
    case KEY_DEVICE:
        o->device = (enum run_device)problem_word(arg, devices, state);
        return 0;
    case KEY_DRIVER: o->driver = arg; return 0;
    case KEY_JIT: o->is_jit = true; return 0;
    case KEY_REPS:
        o->timing.repetitions = (size_t)problem_number(arg, state);
        return 0;
    case KEY_GRAPH:
        o->timing.graph = (size_t)problem_number(arg, state);
        return 0;
    case KEY_SETS: o->sets = (size_t)problem_number(arg, state); return 0;
    case KEY_MEMORY: o->memory = bytes_of(arg, state); return 0;
    case KEY_NO_TIMING: o->no_timing = true; return 0;
    case KEY_JSON: o->is_json = true; return 0;
    case KEY_NCU: o->is_ncu = true; return 0;
    case ARGP_KEY_ARG: cli_take_file(&o->file, arg, state); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a file"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&problem_argp, 0, "On what:", 1},
    {&cli_compile_argp, 0, "How to compile:", 2},
    {&cli_targets_argp, 0, "For what (default: the GPU found):", 3},
    {0}};

const struct argp run_argp = {
    options,
    take,
    "FILE",
    "Build a kernel, run it on random data, compare every element with "
    "the definition, and time it.",
    children,
    0,
    0};

void run_parse(int argc, char **argv, struct run_options *out)
{
    *out = (struct run_options){0};
    for (int i = 1; i < argc; i++)
        vec_push(&out->arena, &out->words, argv[i]);
    cli_parse(&run_argp, argc, argv, out);
}
