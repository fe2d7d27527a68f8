// ingot plan FILE: how long each candidate of a kernel would take.
//
//   ingot plan gemm.ing --kernel gemm_f16_nt --size M=4096,N=4096,K=4096
//
// Candidates are the schedules of the file, or the cases of the rule that was
// found, for one architecture.  Those whose guard holds at the sizes come first,
// by predicted time (passes/model); the one that a launch takes is marked.  The
// others follow, with what does not hold.  Nothing runs.

#include "tools/ingot/candidates.h"

#include "tools/ingot/problem_options.h"
#include "tools/ingot/targets.h"

#include <stdio.h>
#include <stdlib.h>

enum { KEY_SIZE = 9100, KEY_SMS, KEY_DEVICE, KEY_KERNEL, KEY_JSON };
enum { SM_USUAL = 90 };

// What the command line says.
struct plan {
    struct cli_compile compile;
    struct cli_targets targets;
    struct problem_options problem; // the name of the kernel alone
    struct problem_request sizes;
    struct model_device device;
    bool has_device, is_json;
    int sms; // 0: those of the device
    struct compilation *c;
    const char *file;
    const char *wrong; // with the command line; or NULL
};

// Take the device of that name; ends the process if there is none.
static void take_device(struct plan *o, const char *name,
                        struct argp_state *state)
{
    const struct model_device *d = model_device_named(name);
    struct suggest near = {.wanted = name};
    for (size_t i = 0; model_device_at(i); i++)
        suggest_offer(&near, model_device_at(i)->name);
    if (!d)
        argp_error(state, "no device `%s` is known%s", name,
                   cli_hint(&o->targets.arena, &near));
    o->device = *d;
    o->has_device = true;
}

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct plan *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->compile;
        state->child_inputs[1] = &o->targets;
        return 0;
    case KEY_SIZE:
        problem_add_settings(&o->targets.arena, arg, &o->sizes.values, state);
        return 0;
    case KEY_SMS: o->sms = problem_sms(arg, state); return 0;
    case KEY_DEVICE: take_device(o, arg, state); return 0;
    case KEY_KERNEL: o->problem.kernel = arg; return 0;
    case KEY_JSON: o->is_json = true; return 0;
    case ARGP_KEY_ARG: cli_take_file(&o->file, arg, state); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a file"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

// Decide on the device and the architecture: one follows from the other.
static bool settle(struct plan *o)
{
    struct cli_targets *t = &o->targets;
    if (t->cubins.n > 1 || (t->has_arch && !t->cubins.n)) {
        o->wrong = "--arch needs one architecture";
        return false;
    }
    if (!o->has_device)
        o->device =
            *model_device_for(t->cubins.n ? t->cubins.at[0]->number : SM_USUAL);
    if (!t->cubins.n)
        vec_push(&t->arena, &t->cubins, targets_best(o->device.sm));
    if (o->sms)
        o->device.sms = o->sms;
    o->compile.options.targets = t->cubins.at;
    o->compile.options.n_targets = t->cubins.n;
    return true;
}

// Read the file, keep one kernel, and give it its sizes.  Returns false after
// reporting, or with `wrong` set.
static bool read_problem(struct plan *o, struct problem *problem)
{
    struct compilation *c = o->c;
    if (!cli_add_files(&o->compile, c, &o->file, 1))
        return false;
    struct ir_kernel *kernel = problem_kernel(&o->problem, c, &o->wrong);
    if (!kernel)
        return false;
    problem_keep_kernel(c, kernel);
    if (problem_make(&c->arena, kernel, &o->sizes, &c->diags, problem,
                     &o->wrong) != PROBLEM_READY)
        return false;
    problem->sms = o->device.sms;
    return true;
}

// Predict, and print.  Returns false after reporting, or with `wrong` set.
static bool predict(struct plan *o, bool *is_printed)
{
    struct problem problem;
    struct buf text = {0};
    if (!settle(o) || !read_problem(o, &problem) ||
        !compile_lower(o->c, &o->compile.options))
        return false;
    struct candidates rows = candidates_make(o->c, &problem, &o->device);
    if (o->is_json) {
        *is_printed = json_print(
            candidates_json(&o->c->arena, &problem, &o->device, &rows));
        return true;
    }
    candidates_print(&o->c->arena, &problem, &o->device, &rows, &text);
    *is_printed = cli_print(&text);
    buf_free(&text);
    return true;
}

// Do what was asked.
static int run(struct plan *o)
{
    bool is_printed = true, ok = predict(o, &is_printed);
    cli_print_log(&o->compile);
    int code = cli_report(&o->c->diags);
    if (o->wrong)
        fprintf(stderr, "ingot plan: %s\n", o->wrong);
    return !is_printed ? EXIT_TOOL : ok || code ? code : EXIT_USAGE;
}

static const struct argp_option options[] = {
    {"size", KEY_SIZE, "NAME=N,...", 0, "the sizes of the launch", 0},
    {"kernel", KEY_KERNEL, "NAME", 0, "which kernel of the file", 0},
    {"device", KEY_DEVICE, "NAME", 0,
     "H200, H100, A100, L4, \"RTX 4090\" ... (default: one of the architecture)",
     0},
    {"sms", KEY_SMS, "N", 0, "of a device with so many multiprocessors", 0},
    {"json", KEY_JSON, NULL, 0, "print JSON, with all limits of each launch",
     0},
    {0}};

static const struct argp_child children[] = {
    {&cli_compile_argp, 0, NULL, 0},
    {&cli_machine_argp, 0, "For what:", 2},
    {0}};

const struct argp plan_argp = {
    options,
    take,
    "FILE",
    "Predict how long each schedule of a kernel would take at some sizes, and what "
    "would bind it.  The one that a launch takes has a star.",
    children,
    0,
    0};

int command_plan(int argc, char **argv)
{
    struct compilation c;
    struct plan o = {.c = &c, .sizes.seed = 1};
    compile_start(&c);
    cli_parse(&plan_argp, argc, argv, &o);
    int code = run(&o);
    compile_end(&c);
    cli_end(&o.compile);
    arena_reset(&o.targets.arena);
    return code;
}
