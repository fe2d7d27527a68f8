// The command line of `ingot tune`.

#include "tools/ingot/tune.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_BUDGET = 11264,
    KEY_TRIALS,
    KEY_EFFORT,
    KEY_JOBS,
    KEY_CROSS,
    KEY_AGENTS,
    KEY_GPUS,
    KEY_LIMIT,
    KEY_EMIT,
    KEY_FORGET,
    KEY_DRIVER,
    KEY_JSON,
};

#define BUDGET_USUAL 60.0
#define BUDGET_MOST  1e7
#define LIMIT_USUAL  20.0

static const struct argp_option options[] = {
    {"budget", KEY_BUDGET, "TIME", 0,
     "how long to search: 30s, 5m, 1h (default 60s)", 0},
    {"trials", KEY_TRIALS, "N", 0, "run no more schedules than N", 0},
    {"effort", KEY_EFFORT, "WHAT", 0,
     "full (default), quick: stop when 8 trials brought less than 1 %, none: "
     "measure nothing, take the best that the log has, or exhaustive: measure "
     "the whole space, however long that takes unless --budget is given",
     0},
    {"jobs", KEY_JOBS, "N", 0,
     "compile so many at a time (default: one for each processor)", 0},
    {"cross", KEY_CROSS, "COMMAND", 0,
     "measure by this agent, \"ssh HOST ingot agent\" for example", 0},
    {"agents", KEY_AGENTS, "COMMANDS", 0,
     "measure by several agents, with ; between them", 0},
    {"gpus", KEY_GPUS, "N", 0,
     "measure on so many GPUs of this machine, or all (default 1)", 0},
    {"limit", KEY_LIMIT, "TIME", 0,
     "give up a schedule on which the GPU works longer (default 20s)", 0},
    {"emit", KEY_EMIT, "schedule", 0,
     "print the fastest as a schedule for its sizes", 0},
    {"forget", KEY_FORGET, NULL, 0, "measure again what the log has", 0},
    {"driver", KEY_DRIVER, "PATH", 0, "the libcuda.so.1 to use", 0},
    {"json", KEY_JSON, NULL, 0, "print the result as JSON", 0},
    {0}};

// Return the seconds that a text says; anything else ends the process.
static double seconds_of(const char *text, struct argp_state *state)
{
    char *end;
    double x = strtod(text, &end);
    double unit = strcmp(end, "m") == 0 ? 60 : strcmp(end, "h") == 0 ? 3600 : 1;
    bool is_unit = !*end || strcmp(end, "s") == 0 || unit > 1;
    if (end == text || !is_unit || !(x > 0) || x * unit > BUDGET_MOST)
        argp_error(state, "expected a time such as 60s, not `%s`", text);
    return x * unit;
}

// Take the commands of agents, between semicolons.
static void take_agents(struct tune_options *o, const char *list)
{
    for (const char *at = list;; at++) {
        size_t n = strcspn(at, ";");
        if (n)
            vec_push(&o->targets.arena, &o->commands,
                     arena_copy(&o->targets.arena, at, n));
        at += n;
        if (!*at)
            return;
    }
}

// Take what is emitted.
static void take_emit(struct tune_options *o, const char *arg,
                      struct argp_state *state)
{
    if (strcmp(arg, "schedule") != 0)
        argp_error(state, "--emit takes `schedule`, not `%s`", arg);
    o->emits_schedule = true;
}

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    static const char *const efforts[] = {"full", "quick", "none", "exhaustive",
                                          NULL};
    struct tune_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->problem;
        state->child_inputs[1] = &o->compile;
        state->child_inputs[2] = &o->targets;
        return 0;
    case KEY_BUDGET: o->budget = seconds_of(arg, state); return 0;
    case KEY_TRIALS: o->trials = problem_count(arg, state); return 0;
    case KEY_EFFORT:
        o->effort = (enum tune_effort)problem_word(arg, efforts, state);
        return 0;
    case KEY_JOBS: o->jobs = problem_count(arg, state); return 0;
    case KEY_CROSS: vec_push(&o->targets.arena, &o->commands, arg); return 0;
    case KEY_AGENTS: take_agents(o, arg); return 0;
    case KEY_GPUS:
        o->gpus =
            strcmp(arg, "all") == 0 ? -1 : (long)problem_count(arg, state);
        return 0;
    case KEY_LIMIT: o->limit = seconds_of(arg, state); return 0;
    case KEY_EMIT: take_emit(o, arg, state); return 0;
    case KEY_FORGET: o->is_forgetful = true; return 0;
    case KEY_DRIVER: o->driver = arg; return 0;
    case KEY_JSON: o->is_json = true; return 0;
    case ARGP_KEY_ARG: cli_take_file(&o->file, arg, state); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a file"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&problem_argp, 0, "On what:", 1},
    {&cli_compile_argp, 0, "How to compile:", 2},
    {&cli_machine_argp, 0, "For what (default: the GPU found):", 3},
    {0}};

const struct argp tune_argp = {
    options,
    take,
    "FILE",
    "Measure the schedules of a kernel at the sizes given, and record the "
    "fastest in NAME.tuned beside the file, where builds find it.",
    children,
    0,
    0};

void tune_parse(int argc, char **argv, struct tune_options *out)
{
    *out = (struct tune_options){.limit = LIMIT_USUAL};
    cli_parse(&tune_argp, argc, argv, out);
    if (!(out->budget > 0))
        out->budget =
            out->effort == TUNE_EXHAUSTIVE ? BUDGET_MOST : BUDGET_USUAL;
}
