// ingot schedule FILE: the schedules that a build uses, as text.
//
// Of a kernel that has schedules, these, as they are written; of one that a rule
// was found for, the line that names it; of one with the default, its
// directives.  The text in the file makes the same program.
//
// With --size, the one schedule that a launch of these sizes takes: of a rule, its
// case as a schedule of its own (schedule_case.c); with --why, what of the guards
// of those in front of it does not hold, and which rules were left out, as one of
// their cases cannot be applied (schedule_why.c).

#include "tools/ingot/dispatch.h"
#include "tools/ingot/problem_options.h"
#include "tools/ingot/schedule_text.h"
#include "tools/ingot/schedule_why.h"
#include "tools/ingot/targets.h"
#include "tools/libingot/schedule_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SIZE = 9000, KEY_SMS, KEY_WHY, SMS_USUAL = 132 };

// What the command line says.
struct schedule {
    struct cli_compile compile;
    struct cli_targets targets;
    struct problem_request sizes;
    int64_t sms; // of the device that the sizes are for
    struct compilation *c;
    struct VEC(const char *) files;
    const char *wrong; // with the sizes; or NULL
    bool says_why;     // of each variant in front that it does not take them
};

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct schedule *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->compile;
        state->child_inputs[1] = &o->targets;
        return 0;
    case KEY_SIZE:
        problem_add_settings(&o->targets.arena, arg, &o->sizes.values, state);
        return 0;
    case KEY_SMS: o->sms = problem_sms(arg, state); return 0;
    case KEY_WHY: o->says_why = true; return 0;
    case ARGP_KEY_ARG: vec_push(&o->c->arena, &o->files, arg); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a file"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

// Return whether two schedules are of one line of the file: cases of a rule, values
// of a list, or one schedule of several instances.
static bool is_same_line(const struct sched_item *a, const struct sched_item *b)
{
    struct span x = a->by ? a->by->span : a->whole;
    struct span y = b->by ? b->by->span : b->whole;
    return x.source == y.source && x.from == y.from &&
           a->is_planned == b->is_planned;
}

// Return whether an earlier variant is of the same line as variant `i`; each
// instance of a kernel has a rule found for it.
static bool is_repeated(const struct compilation *c, size_t i)
{
    const struct variant *v = &c->variants.at[i];
    for (size_t k = 0; v->schedule && k < i; k++)
        if (c->variants.at[k].schedule &&
            (!v->schedule->is_planned ||
             v->source == c->variants.at[k].source) &&
            is_same_line(c->variants.at[k].schedule, v->schedule))
            return true;
    return false;
}

// Return the first variant of a kernel that takes the sizes, or NULL. With --why a
// line says of each in front of it why it does not.
static const struct variant *
taken(struct schedule *o, const struct problem *problem, struct buf *out)
{
    vec_foreach(v, &o->c->variants) {
        struct arena *a = &o->c->scratch;
        if (v->source != problem->kernel)
            continue;
        struct ir_expr *refusal = dispatch_refusal(a, problem, v->kernel);
        if (!refusal)
            return v;
        if (o->says_why)
            schedule_why_print(a, problem, v, refusal, out);
    }
    return NULL;
}

// Print the schedule that each kernel takes at the sizes; false after reporting,
// or with `wrong` set.
static bool print_taken(struct schedule *o, struct buf *out)
{
    vec_foreach_value(kernel, &o->c->program.kernels) {
        struct problem problem;
        if (problem_make(&o->c->arena, kernel, &o->sizes, &o->c->diags,
                         &problem, &o->wrong) != PROBLEM_READY)
            return false;
        problem.sms = o->sms;
        if (o->says_why)
            schedule_left_out_print(o->c, kernel, "// left out: ", out);
        const struct variant *v = taken(o, &problem, out);
        if (!v)
            return diag_error(&o->c->diags, kernel->span, D_no_variant,
                              kernel->name);
        schedule_text_print(o->c, v, out);
    }
    return true;
}

// Print the schedules of all variants.
static void print(const struct compilation *c, struct buf *out)
{
    for (size_t i = 0; i < c->variants.n; i++) {
        const struct variant *v = &c->variants.at[i];
        if (is_repeated(c, i))
            continue;
        if (v->schedule && v->schedule->is_planned)
            schedule_case_print_rule(v->source, v->schedule, out);
        else
            schedule_text_print_own(v, out);
    }
}

// Do what was asked.
static int run(struct schedule *o)
{
    struct buf out = {0};
    o->compile.options.has_records = true;
    o->compile.options.targets = o->targets.cubins.at;
    o->compile.options.n_targets = o->targets.cubins.n;
    bool ok = cli_add_files(&o->compile, o->c, o->files.at, o->files.n) &&
              compile_schedule(o->c, &o->compile.options);
    if (ok && o->sizes.values.n)
        ok = print_taken(o, &out);
    else if (ok)
        print(o->c, &out);
    bool is_printed = cli_print(&out);
    int code = cli_report(&o->c->diags);
    if (o->wrong)
        fprintf(stderr, "ingot schedule: %s\n", o->wrong);
    buf_free(&out);
    return !is_printed ? EXIT_TOOL : ok || code ? code : EXIT_USAGE;
}

static const struct argp_option options[] = {
    {"size", KEY_SIZE, "NAME=N,...", 0,
     "print the schedule that a launch with these sizes takes", 0},
    {"sms", KEY_SMS, "N", 0,
     "of a device with so many multiprocessors (default 132)", 0},
    {"why", KEY_WHY, NULL, 0,
     "say of the schedules in front of it what of their guards does not hold",
     0},
    {0}};

static const struct argp_child children[] = {
    {&cli_compile_argp, 0, NULL, 0},
    {&cli_machine_argp, 0, "For what:", 2},
    {0}};

const struct argp schedule_argp = {
    options,
    take,
    "FILE...",
    "Print the schedules that a build uses, as text that the file can have.",
    children,
    0,
    0};

int command_schedule(int argc, char **argv)
{
    struct compilation c;
    struct schedule o = {.c = &c, .sms = SMS_USUAL, .sizes.seed = 1};
    compile_start(&c);
    cli_parse(&schedule_argp, argc, argv, &o);
    int code = run(&o);
    compile_end(&c);
    cli_end(&o.compile);
    arena_reset(&o.targets.arena);
    return code;
}
