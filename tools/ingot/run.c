// ingot run FILE: build a kernel, run it, compare, time.
//
//   ingot run vadd.ing --size n=1000003
//   ingot run gemm.ing --size M=512,N=512,K=64 --size K=128 --jit
//
// On a GPU the runtime launches it, as it does for programs.  Without one the
// lowered kernel is evaluated on the CPU.

#include "tools/ingot/run.h"

#include <stdio.h>

// One call of the command.
struct call {
    struct run_kernel kernel;
    struct run *runs; // one for each set of sizes
    size_t n;
    const char *wrong; // what of the command line cannot be, or NULL
};

// ---- Preparation ----------------------------------------------------------

// Make a run of each set of sizes that the text says to try, if there are any.
static void add_tries(struct call *call)
{
    struct problem_options *o = &call->kernel.options->problem;
    struct problem_requests runs = {0};
    problem_tries(&o->arena, call->kernel.kernel, &o->runs.at[0], &runs);
    if (runs.n)
        o->runs = runs;
}

// Parse the file, and keep one kernel.  Returns false after reporting, or with
// `wrong` set.
static bool parse(struct call *call)
{
    struct run_kernel *k = &call->kernel;
    struct run_options *o = k->options;
    if (!cli_add_files(&o->compile, k->c, &o->file, 1))
        return false;
    compile_choose_ptx(k->c, &o->compile.options);
    struct ir_kernel *kernel = problem_kernel(&o->problem, k->c, &call->wrong);
    if (kernel)
        problem_keep_kernel(k->c, kernel);
    k->kernel = kernel;
    if (kernel && !o->problem.sizes.n)
        add_tries(call);
    call->n = o->problem.runs.n;
    call->runs = arena_array(&k->c->arena, struct run, call->n);
    return kernel != NULL;
}

// Make the problems of all runs.  Returns false with `wrong` set.
static bool make_runs(struct call *call)
{
    const struct problem_options *o = &call->kernel.options->problem;
    for (size_t i = 0; i < call->n; i++)
        if (!run_make(&call->runs[i], &call->kernel, &o->runs.at[i],
                      &call->wrong))
            return false;
    return true;
}

// Get the kernel ready, unless no run takes it.  Returns false after reporting.
static bool open_kernel(struct call *call)
{
    for (size_t i = 0; i < call->n; i++)
        if (call->runs[i].is_ready)
            return run_kernel_open(&call->kernel);
    return true;
}

// ---- What came of it ------------------------------------------------------

// Return the worse of two exit codes.
static int worse(int a, int b)
{
    return a > b ? a : b;
}

// Tell of a run as text.  Returns the exit code.
static int print_run(const struct run *r)
{
    struct buf text = {0};
    run_report_print(&r->report, &text);
    bool written = cli_print(&text);
    buf_free(&text);
    return worse(cli_report(&r->diags), written ? EXIT_DONE : EXIT_TOOL);
}

// Return a run as JSON, with what was said of the kernel.
static json_t *run_json(const struct run *r, const struct diag_list *kernel)
{
    json_t *result = r->on ? run_report_json(&r->report) : json_object();
    json_t *all = json_diagnostics(kernel), *own = json_diagnostics(&r->diags);
    json_array_extend(all, own);
    json_decref(own);
    json_object_set_new(result, "diagnostics", all);
    return result;
}

// Print as JSON the run, or a list if there are several.  Returns the exit code.
static int print_json(const struct call *call)
{
    const struct diag_list *kernel = &call->kernel.c->diags;
    bool is_list = call->n > 1;
    json_t *all = is_list ? json_array() : run_json(call->runs, kernel);
    for (size_t i = 0; i < call->n && is_list; i++)
        json_array_append_new(all, run_json(&call->runs[i], kernel));
    return json_print(all) ? EXIT_DONE : EXIT_TOOL;
}

// ---- The command ----------------------------------------------------------

// Print how to profile each run.  Returns the exit code.
static int print_ncu(struct call *call)
{
    int code = EXIT_DONE;
    struct buf text = {0};
    for (size_t i = 0; i < call->n; i++) {
        struct run *r = &call->runs[i];
        if (r->is_ready)
            run_ncu(call->runs, i, &text);
        code = worse(code, cli_report(&r->diags));
    }
    if (!cli_print(&text))
        code = worse(code, EXIT_TOOL);
    buf_free(&text);
    return code;
}

// Run at all sizes, and tell of each run when it ends.  Returns the exit code.
static int run_all(struct call *call)
{
    struct run_options *o = call->kernel.options;
    bool ok = parse(call) && make_runs(call) && open_kernel(call);
    cli_progress(NULL);
    cli_print_log(&o->compile);
    int code = cli_report(&call->kernel.c->diags);
    if (ok && o->is_ncu)
        return worse(code, print_ncu(call));
    for (size_t i = 0; i < call->n && ok; i++) {
        struct run *r = &call->runs[i];
        if (r->is_ready)
            run_once(r);
        code = worse(code, o->is_json ? cli_report(&r->diags) : print_run(r));
    }
    if (o->is_json)
        code = worse(code, print_json(call));
    if (call->wrong) {
        fprintf(stderr, "ingot run: %s\n", call->wrong);
        code = EXIT_USAGE;
    }
    return code;
}

int command_run(int argc, char **argv)
{
    struct run_options options;
    struct compilation c;
    run_parse(argc, argv, &options);
    compile_start(&c);
    struct call call = {.kernel = {.options = &options, .c = &c}};
    int code = run_all(&call);
    run_kernel_close(&call.kernel);
    compile_end(&c);
    arena_reset(&options.problem.arena);
    arena_reset(&options.arena);
    arena_reset(&options.targets.arena);
    cli_end(&options.compile);
    return code;
}
