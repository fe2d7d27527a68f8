// ingot opt FILE: the program as text, after the schedule and any passes.
//
//   ingot opt f.ing                        as parsed
//   ingot opt f.ing --stop-after schedule  after its schedule, or the default
//   ingot opt f.ing --pass simplify,guards after these passes, no schedule
//   ingot opt f.ing --stop-after mapped    after the pipeline up to a pass
//   ingot opt f.ing --proofs               what holds for all sizes instead

#include "tools/ingot/cli.h"

#include "tools/ingot/proofs.h"

#include <stdio.h>
#include <string.h>

// What the command line says.
struct opt {
    struct cli_compile compile;
    struct compilation *c;
    const char *passes; // --pass
    bool has_proofs;    // --proofs
    struct VEC(const char *) files;
};

enum { KEY_PASS = 512, KEY_PROOFS };

static const struct argp_option options[] = {
    {"pass", KEY_PASS, "PASSES", 0, "run these passes, in this order", 0},
    {"proofs", KEY_PROOFS, NULL, 0,
     "print what is proved of each access for all sizes, not the program", 0},
    {0}};

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct opt *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->compile; return 0;
    case KEY_PASS: o->passes = arg; return 0;
    case KEY_PROOFS: o->has_proofs = true; return 0;
    case ARGP_KEY_ARG: vec_push(&o->c->arena, &o->files, arg); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a file"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

// Run the passes of a comma-separated list on a kernel.
static bool run_list(struct opt *o, struct ir_kernel *k, const char *list)
{
    struct compilation *c = o->c;
    struct pass p = {.kernel = k,
                     .arena = &c->arena,
                     .scratch = &c->scratch,
                     .names = &c->names,
                     .diags = &c->diags};
    for (const char *at = list; *at; at += *at == ',') {
        enum pass_name pass;
        size_t n = strcspn(at, ",");
        const char *name = arena_copy(&c->arena, at, n);
        if (!pass_find(name, &pass)) {
            struct suggest s = {.wanted = name};
            for (int i = 0; i < PASS_COUNT; i++)
                suggest_offer(&s, pass_text((enum pass_name)i));
            fprintf(stderr, "ingot opt: unknown pass `%s`%s\n", name,
                    cli_hint(&c->arena, &s));
            return false;
        }
        if (!passes_run_one(&p, pass, &o->compile.options.passes))
            return false;
        at += n;
    }
    return true;
}

// Kernels in the order of the file.
struct kernels VEC(struct ir_kernel *);

// Do what was asked; the kernels that result are in `out`.
static bool process(struct opt *o, struct kernels *out)
{
    struct compilation *c = o->c;
    const char *stop = o->compile.stop_after;
    if (o->has_proofs) {
        o->compile.options.has_proofs = true;
        stop = stop ? stop : "proofs";
        o->compile.options.passes.stop_after = stop;
    }
    if (stop && !cli_lower(&o->compile, &o->compile.options, c))
        return false;
    for (size_t i = 0; stop && i < c->variants.n; i++)
        vec_push(&c->arena, out, c->variants.at[i].kernel);
    for (size_t i = 0; !stop && i < c->program.kernels.n; i++) {
        vec_push(&c->arena, out, c->program.kernels.at[i]);
        if (!run_list(o, out->at[i], o->passes ? o->passes : ""))
            return false;
    }
    return true;
}

// Print what was proved of the variants.
static bool print_proofs(const struct compilation *c)
{
    struct buf out = {0};
    struct arena a = {0};
    for (size_t i = 0; i < c->variants.n; i++) {
        const struct variant *v = &c->variants.at[i];
        struct proof_share shares[CLAIM_COUNT] = {{0, 0}};
        buf_printf(&out, "%s%s%s:", v->kernel->name,
                   *v->kernel->variant ? " " : "", v->kernel->variant);
        proofs_count(v->proof, shares);
        proofs_print_shares(shares, " ", &out);
        proofs_print(&a, v->proof, &out);
    }
    bool ok = cli_print(&out);
    arena_reset(&a);
    buf_free(&out);
    return ok;
}

// Do what was asked and print the kernels that result.
static int run(struct opt *o)
{
    struct kernels out = {0};
    bool ok = cli_add_files(&o->compile, o->c, o->files.at, o->files.n) &&
              process(o, &out);
    cli_print_log(&o->compile);
    bool is_printed = !ok || (o->has_proofs ? print_proofs(o->c)
                                            : cli_print_kernels(out.at, out.n));
    int code = cli_report(&o->c->diags);
    return !is_printed ? EXIT_TOOL : ok || code ? code : EXIT_USAGE;
}

static const struct argp_child children[] = {{&cli_stop_argp, 0, NULL, 0}, {0}};

const struct argp opt_argp = {
    options,
    take,
    "FILE...",
    "Print the program as text, after its schedule and after passes.",
    children,
    0,
    0};

int command_opt(int argc, char **argv)
{
    struct compilation c;
    struct opt o = {.c = &c};
    compile_start(&c);
    cli_parse(&opt_argp, argc, argv, &o);
    int code = run(&o);
    compile_end(&c);
    cli_end(&o.compile);
    return code;
}
