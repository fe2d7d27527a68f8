// Reads what `ingot plan` and `ingot report` look at.

#include "tools/ingot/predict.h"

#include <stdio.h>

enum { KEY_SIZE = 9100, KEY_SMS, KEY_DEVICE, KEY_KERNEL };
enum { SM_USUAL = 90 };

// Take the device of that name; ends the process if there is none.
static void take_device(struct predict *o, const char *name,
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
    struct predict *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        o->sizes.seed = 1;
        state->child_inputs[0] = &o->compile;
        state->child_inputs[1] = &o->targets;
        return 0;
    case KEY_SIZE:
        problem_add_settings(&o->targets.arena, arg, &o->sizes.values, state);
        return 0;
    case KEY_SMS: o->sms = problem_sms(arg, state); return 0;
    case KEY_DEVICE: take_device(o, arg, state); return 0;
    case KEY_KERNEL: o->problem.kernel = arg; return 0;
    case ARGP_KEY_ARG: cli_take_file(&o->file, arg, state); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a file"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"size", KEY_SIZE, "NAME=N,...", 0, "the sizes of the launch", 0},
    {"kernel", KEY_KERNEL, "NAME", 0, "which kernel of the file", 0},
    {"device", KEY_DEVICE, "NAME", 0,
     "H200, H100, A100, L4, \"RTX 4090\" ... (default: one of the architecture)",
     0},
    {"sms", KEY_SMS, "N", 0, "of a device with so many multiprocessors", 0},
    {0}};

static const struct argp_child children[] = {
    {&cli_compile_argp, 0, NULL, 0},
    {&cli_machine_argp, 0, "For what:", 2},
    {0}};

const struct argp predict_argp = {options, take, 0, 0, children, 0, 0};

bool predict_settle(struct predict *o)
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

bool predict_read(struct predict *o, struct compilation *c,
                  struct problem *problem)
{
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

int predict_report(struct predict *o, const char *name, bool ok)
{
    cli_print_log(&o->compile);
    int code = cli_report(&o->c->diags);
    if (o->wrong)
        fprintf(stderr, "ingot %s: %s\n", name, o->wrong);
    return ok || code ? code : EXIT_USAGE;
}

void predict_end(struct predict *o)
{
    cli_end(&o->compile);
    arena_reset(&o->targets.arena);
}
