// Reads the options about architectures.

#include "tools/ingot/targets.h"

#include <stdlib.h>
#include <string.h>

static const char default_cubin[] = "sm_90", default_ptx[] = "sm_75";

enum { KEY_ARCH = 1024, KEY_PTX, KEY_CUDA, KEY_TIMEOUT, KEY_LINE_INFO };

static const struct argp_option options[] = {
    {"arch", KEY_ARCH, "LIST", 0,
     "machine code for these GPUs: sm_80,sm_90a,... or all or none "
     "(default sm_90)",
     0},
    {"cuda", KEY_CUDA, "DIR", 0, "take the CUDA tools from this folder only",
     0},
    {"ptxas-timeout", KEY_TIMEOUT, "SECONDS", 0,
     "end a ptxas that uses more processor time, or does nothing for so long "
     "(default 600)",
     0},
    {"lineinfo", KEY_LINE_INFO, 0, 0,
     "let profilers and disassemblers show lines of the source", 0},
    {0}};

static const struct argp_option ptx_options[] = {
    {"ptx", KEY_PTX, "TARGET", 0,
     "PTX that the driver compiles on other GPUs from this one on, or none "
     "(default sm_75, or the lowest that has what explicit kernels use)",
     0},
    {0}};

// Return a target by its name; ends the process if there is none.
static const struct nvptx_target *target(const char *name)
{
    struct arena arena = {0};
    struct diag_list diags = {.arena = &arena};
    const struct nvptx_target *found = nvptx_target_find(name, &diags);
    if (!found) {
        cli_report(&diags);
        exit(EXIT_USAGE);
    }
    arena_reset(&arena);
    return found;
}

// Add a target of cubins unless it is there.
static void add_cubin(struct cli_targets *t, const struct nvptx_target *added)
{
    for (size_t i = 0; i < t->cubins.n; i++)
        if (t->cubins.at[i] == added)
            return;
    vec_push(&t->arena, &t->cubins, added);
}

// Add every target that LLVM knows and is neither of one GPU nor of one family.
static void add_all(struct cli_targets *t)
{
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n);
    for (size_t i = 0; i < n; i++)
        if (!all[i].kind && nvptx_target_is_known(&all[i]))
            add_cubin(t, &all[i]);
}

// Add the targets of a list.
static void add_list(struct cli_targets *t, const char *list)
{
    t->has_arch = true;
    if (strcmp(list, "none") == 0)
        return;
    for (const char *at = list;; at++) {
        size_t n = strcspn(at, ",");
        const char *name = arena_copy(&t->arena, at, n);
        if (strcmp(name, "all") == 0)
            add_all(t);
        else
            add_cubin(t, target(name));
        at += n;
        if (!*at)
            return;
    }
}

// Return the target of --ptx, which may be written compute_75 too.
static const struct nvptx_target *ptx_target(struct cli_targets *t,
                                             const char *name)
{
    static const char virtual[] = "compute_";
    size_t n = sizeof virtual - 1;
    if (strcmp(name, "none") == 0)
        return NULL;
    return target(strncmp(name, virtual, n) == 0
                      ? arena_printf(&t->arena, "sm_%s", name + n)
                      : name);
}

void cli_targets_take_ptx(struct cli_targets *t, const char *name)
{
    t->ptx = ptx_target(t, name);
    t->has_ptx = true;
}

int64_t cli_timeout(const char *text, struct argp_state *state)
{
    char *end;
    double seconds = strtod(text, &end);
    if (*end || !(seconds >= 1e-3 && seconds <= 1e6))
        argp_error(state, "--ptxas-timeout needs a number of seconds, not `%s`",
                   text);
    return (int64_t)(seconds * 1e3);
}

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct cli_targets *t = state->input;
    switch (key) {
    case ARGP_KEY_INIT: t->ptx = target(default_ptx); return 0;
    case KEY_ARCH: add_list(t, arg); return 0;
    case KEY_CUDA: t->cuda = arg; return 0;
    case KEY_TIMEOUT: t->ptxas_limit_ms = cli_timeout(arg, state); return 0;
    case KEY_LINE_INFO: t->line_info = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

// Take --ptx.
static error_t take_ptx(int key, char *arg, struct argp_state *state)
{
    struct cli_targets *t = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = t; return 0;
    case KEY_PTX: cli_targets_take_ptx(t, arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cli_machine_argp = {.options = options, .parser = take};

static const struct argp_child machine_child[] = {
    {&cli_machine_argp, 0, NULL, 0}, {0}};
const struct argp cli_targets_argp = {
    .options = ptx_options, .parser = take_ptx, .children = machine_child};

const struct nvptx_target *targets_best(unsigned sm)
{
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n), *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct nvptx_target *t = &all[i];
        bool fits = t->kind == 'a' ? t->number == sm
                                   : t->number / 10 == sm / 10 &&
                                         t->number <= sm && !t->kind;
        if (fits && (!best || t->number >= best->number))
            best = t;
    }
    return best;
}

void cli_targets_default(struct cli_targets *t)
{
    if (!t->has_arch)
        add_cubin(t, target(default_cubin));
}

void cli_targets_apply(const struct cli_targets *t,
                       const struct toolchain *tools, struct compile_options *o)
{
    o->targets = t->cubins.at;
    o->n_targets = t->cubins.n;
    o->ptx = t->ptx;
    o->ptx_is_open = !t->has_ptx;
    o->line_info = t->line_info;
    o->ptxas_limit_ms = t->ptxas_limit_ms;
    toolchain_libdevice(tools, &o->libdevice, &o->libdevice_size);
}

bool cli_images(struct compilation *c, const struct toolchain *tools,
                const struct compile_options *o, struct ptxas *tool)
{
    *tool = (struct ptxas){.limit_ms = o->ptxas_limit_ms};
    if (o->n_targets)
        tool->path = toolchain_find(tools, &c->arena, "ptxas", &c->diags);
    return (tool->path || !o->n_targets) && compile_images(c, o, tool);
}
