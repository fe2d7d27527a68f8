// ingot report FILE: one page that shows a kernel.
//
//   ingot report gemm.ing --kernel gemm_f16_nt --size M=4096,N=4096,K=4096 -o gemm.html
//
// The page shows the variant that a launch takes at the sizes (tools/report): its loop
// nest, which thread holds what, what accesses cost, what binds it, its machine code,
// and what was measured.  Nothing runs.

#include "tools/report/report.h"

#include "nvptx/package/output.h"
#include "tools/ingot/predict.h"

// What the command line says.
struct command {
    struct predict predict;
    struct toolchain tools;
    const char *output; // NULL: NAME.report.html
    struct VEC(const char *) words;
};

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct command *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->predict; return 0;
    case 'o': o->output = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

// Return the variant that a launch takes, or NULL after reporting.
static const struct candidate *find_taken(struct compilation *c,
                                          const struct problem *problem,
                                          const struct candidates *rows)
{
    vec_foreach(row, rows)
        if (row->is_taken)
            return row;
    diag_error(&c->diags, problem->kernel->span, D_no_variant,
               problem->kernel->name);
    return NULL;
}

// Keep one variant; returns it at its new place.
static const struct variant *keep(struct compilation *c,
                                  const struct variant *v)
{
    struct variant *one = arena_new(&c->arena, struct variant);
    *one = *v;
    c->variants.at = one;
    c->variants.n = c->variants.cap = 1;
    return one;
}

// Return the path of the page.
static const char *path_of(struct command *o)
{
    struct arena *a = &o->predict.c->arena;
    return o->output ? o->output
                     : arena_printf(a, "%s.report.html",
                                    cli_stem(a, o->predict.file));
}

// Write the page; false after reporting.
static bool write_page(struct command *o, const json_t *data)
{
    struct compilation *c = o->predict.c;
    struct buf text = {0};
    report_page(data, &text);
    struct output file = {path_of(o), text.data, text.n};
    bool ok = output_write(&c->arena, NULL, &file, 1, &c->diags);
    buf_free(&text);
    return ok;
}

// Show the variant that a launch takes.  Returns false after reporting.
static bool show(struct command *o, const struct problem *problem,
                 const struct candidates *rows)
{
    struct predict *p = &o->predict;
    const struct candidate *found = find_taken(p->c, problem, rows);
    if (!found)
        return false;
    struct candidate taken = *found;
    taken.variant = keep(p->c, found->variant);
    struct report r = {.c = p->c,
                       .problem = problem,
                       .device = &p->device,
                       .rows = rows,
                       .taken = &taken,
                       .tools = &o->tools,
                       .options = &p->compile.options,
                       .path = p->file,
                       .words = o->words.at,
                       .n_words = o->words.n};
    json_t *data = report_json(&r);
    bool ok = data && write_page(o, data);
    json_decref(data);
    return ok;
}

// Read, lower, predict, show.  Returns false after reporting, or with `wrong` set.
static bool make(struct command *o)
{
    struct predict *p = &o->predict;
    struct compile_options *options = &p->compile.options;
    struct problem problem;
    if (!predict_settle(p))
        return false;
    toolchain_start(&o->tools, p->targets.cuda);
    p->targets.line_info = true;
    p->targets.ptx = NULL;
    cli_targets_apply(&p->targets, &o->tools, options);
    options->has_records = options->has_scheduled = true;
    if (!predict_read(p, p->c, &problem) || !compile_lower(p->c, options))
        return false;
    struct candidates rows = candidates_make(p->c, &problem, &p->device);
    return show(o, &problem, &rows);
}

static const struct argp_option argp_options[] = {
    {"output", 'o', "FILE", 0, "the page (default NAME.report.html)", 0}, {0}};

static const struct argp_child children[] = {{&predict_argp, 0, NULL, 0}, {0}};

const struct argp report_argp = {
    argp_options,
    take,
    "FILE",
    "Write a page that shows a kernel at some sizes: its loop nest, which thread "
    "holds what, what accesses cost, what binds it, its machine code beside the "
    "lines that it comes from, and what was measured.",
    children,
    0,
    0};

int command_report(int argc, char **argv)
{
    struct compilation c;
    struct command o = {.predict.c = &c};
    compile_start(&c);
    for (int i = 1; i < argc; i++)
        vec_push(&c.arena, &o.words, argv[i]);
    cli_parse(&report_argp, argc, argv, &o);
    int code = predict_report(&o.predict, "report", make(&o));
    compile_end(&c);
    predict_end(&o.predict);
    return code;
}
