// Reads the options about data.

#include "tools/ingot/problem_options.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_SIZE = 5120,
    KEY_SCALAR,
    KEY_RANGE,
    KEY_SEED,
    KEY_KERNEL,
    KEY_REFERENCE,
    KEY_TOLERANCE,
    KEY_UNORDERED,
    KEY_STEPS,
};

static const struct argp_option options[] = {
    {"size", KEY_SIZE, "NAME=N,...", 0,
     "set sizes; one that is set again begins another run, in which the others "
     "stay as they are",
     0},
    {"scalar", KEY_SCALAR, "NAME=X,...", 0, "set scalars (default: random)", 0},
    {"range", KEY_RANGE, "ARRAY=LOW:HIGH", 0,
     "draw the elements of an input from this range", 0},
    {"seed", KEY_SEED, "N", 0, "of all that is random (default 1)", 0},
    {"kernel", KEY_KERNEL, "NAME", 0, "which kernel of the file", 0},
    {"reference", KEY_REFERENCE, "WHAT", 0,
     "compare with the definition: eval (interpreted), host (compiled with "
     "cc), none, or auto: host for larger sizes",
     0},
    {"tolerance", KEY_TOLERANCE, "X", 0,
     "most that floating results may differ, relative to the larger of the "
     "element and the root mean square of all (of more inputs if they are few)",
     0},
    {"unordered", KEY_UNORDERED, "ARRAY [COUNT]", 0,
     "compare ARRAY, or as many elements as COUNT[0] says, in any order", 0},
    {"steps", KEY_STEPS, "N", 0,
     "most statements to evaluate on the CPU (default 1e9)", 0},
    {0}};

// Return one `name=text`; anything else ends the process.
static struct problem_setting setting_of(struct arena *a, const char *text,
                                         size_t n, struct argp_state *state)
{
    const char *copy = arena_copy(a, text, n);
    const char *equals = strchr(copy, '=');
    if (!equals || equals == copy || !equals[1])
        argp_error(state, "expected NAME=VALUE, not `%s`", copy);
    return (struct problem_setting){
        arena_copy(a, copy, (size_t)(equals - copy)), equals + 1};
}

void problem_add_settings(struct arena *a, const char *text,
                          struct problem_settings *to, struct argp_state *state)
{
    for (;;) {
        size_t n = strcspn(text, ",");
        vec_push(a, to, setting_of(a, text, n, state));
        if (!text[n])
            return;
        text += n + 1;
    }
}

// Return whether a name is set from `first` up to `end`.
static bool is_set(const struct problem_settings *all, size_t first, size_t end,
                   const char *name)
{
    for (size_t i = first; i < end; i++)
        if (strcmp(all->at[i].name, name) == 0)
            return true;
    return false;
}

// Divide the sizes into runs: a name that the run has begins the next one.
static void find_ends(struct problem_options *o)
{
    size_t first = 0;
    for (size_t i = 0; i < o->sizes.n; i++) {
        if (!is_set(&o->sizes, first, i, o->sizes.at[i].name))
            continue;
        vec_push(&o->arena, &o->ends, i);
        first = i;
    }
    vec_push(&o->arena, &o->ends, o->sizes.n);
}

// Make the request of each run: the scalars, and the sizes up to its last, of
// which the newest of a name counts.
static void make_requests(struct problem_options *o)
{
    find_ends(o);
    for (size_t i = 0; i < o->ends.n; i++) {
        struct problem_request run = o->request;
        vec_append(&o->arena, &run.values, &o->scalars);
        for (size_t j = 0; j < o->ends.at[i]; j++)
            vec_push(&o->arena, &run.values, o->sizes.at[j]);
        vec_push(&o->arena, &o->runs, run);
    }
    o->request = o->runs.at[o->runs.n - 1];
}

double problem_number(const char *text, struct argp_state *state)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !(x >= 0) || x > 1e18)
        argp_error(state, "expected a number, not `%s`", text);
    return x;
}

size_t problem_count(const char *text, struct argp_state *state)
{
    double x = problem_number(text, state);
    if (!(x >= 1) || x > 1e9)
        argp_error(state, "expected a number from 1 on, not `%s`", text);
    return (size_t)x;
}

int problem_sms(const char *text, struct argp_state *state)
{
    enum { SMS_MOST = 65536 };
    char *end;
    long n = strtol(text, &end, 10);
    if (*end || end == text || n < 1 || n > SMS_MOST)
        argp_error(state, "--sms needs a number of SMs, not `%s`", text);
    return (int)n;
}

int problem_word(const char *text, const char *const *words,
                 struct argp_state *state)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    argp_error(state, "`%s` is not one of the choices; see --help", text);
    return 0;
}

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    static const char *const references[] = {"auto", "eval", "host", "none",
                                             NULL};
    struct problem_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        o->request.seed = 1;
        o->definition.steps = 1000000000;
        o->tolerance = -1;
        return 0;
    case ARGP_KEY_SUCCESS: make_requests(o); return 0;
    case KEY_SIZE:
        problem_add_settings(&o->arena, arg, &o->sizes, state);
        return 0;
    case KEY_SCALAR:
        problem_add_settings(&o->arena, arg, &o->scalars, state);
        return 0;
    case KEY_RANGE:
        problem_add_settings(&o->arena, arg, &o->request.ranges, state);
        return 0;
    case KEY_SEED: o->request.seed = strtoull(arg, NULL, 0); return 0;
    case KEY_KERNEL: o->kernel = arg; return 0;
    case KEY_REFERENCE:
        o->definition.by =
            (enum definition_by)problem_word(arg, references, state);
        return 0;
    case KEY_TOLERANCE: o->tolerance = problem_number(arg, state); return 0;
    case KEY_UNORDERED: o->unordered = arg; return 0;
    case KEY_STEPS:
        o->definition.steps = (uint64_t)problem_number(arg, state);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp problem_argp = {.options = options, .parser = take};

struct ir_kernel *problem_kernel(const struct problem_options *o,
                                 struct compilation *c, const char **wrong)
{
    const char *wanted = o->kernel;
    struct suggest near = {.wanted = wanted ? wanted : ""};
    for (size_t i = 0; i < c->program.kernels.n; i++) {
        struct ir_kernel *k = c->program.kernels.at[i];
        if (wanted ? strcmp(k->name, wanted) == 0 : c->program.kernels.n == 1)
            return k;
        suggest_offer(&near, k->name);
    }
    *wrong = wanted ? arena_printf(&c->arena, "there is no kernel `%s`%s",
                                   wanted, cli_hint(&c->arena, &near))
                    : "the file has several kernels; name one with --kernel";
    return NULL;
}

// Return whether a schedule is for a kernel of the program but not for this one.
static bool is_for_other(const struct program *program,
                         const struct sched_item *item,
                         const struct ir_kernel *kernel)
{
    bool found = false;
    for (size_t i = 0; i < program->kernels.n; i++)
        found |= sched_is_for(item, program->kernels.at[i]);
    return found && !sched_is_for(item, kernel);
}

// Let a schedule name that kernel alone, if it names several.
static void name_one(struct sched_item *item, const struct ir_kernel *kernel)
{
    vec_foreach(other, &item->others)
        if (sched_names(other->text, kernel))
            item->name = *other;
    item->others.n = 0;
}

void problem_keep_kernel(struct compilation *c, struct ir_kernel *kernel)
{
    struct program *program = &c->program;
    size_t kept = 0;
    for (size_t i = 0; i < program->schedules.schedules.n; i++) {
        struct sched_item *item = program->schedules.schedules.at[i];
        if (is_for_other(program, item, kernel))
            continue;
        name_one(item, kernel);
        program->schedules.schedules.at[kept++] = item;
    }
    program->schedules.schedules.n = kept;
    program->is_part |= program->kernels.n > 1;
    program->kernels.at[0] = kernel;
    program->kernels.n = 1;
}
