// ingot run FILE: build a kernel, run it, compare, time.
//
//   ingot run vadd.ing --size n=1000003
//   ingot run gemm.ing --size M=512,N=512,K=64 --jit
//
// On a GPU the runtime launches it, as it does for programs.  Without one the
// lowered kernel is evaluated on the CPU.

#include "tools/ingot/run.h"
#include "ir/walk.h"

#include "tools/ingot/equivalence.h"
#include "tools/libingot/artefact.h"
#include "tools/libingot/contracts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One run.
struct run {
    struct run_options *options;
    struct compilation *c;
    struct problem problem;
    struct dispatch dispatch;
    struct report report;
    const char *fault; // why there is no GPU to run on, or NULL
    struct driver driver;
    struct toolchain tools;
    struct loaded loaded;
    struct eval_argument *want; // what the definition computes, or NULL
    struct eval_argument *got;  // what the kernel computed
    const char *wrong;          // what of the command line cannot be, or NULL
};

// ---- Preparation ----------------------------------------------------------

// Parse the file, keep one kernel, and give its parameters values.
static bool prepare(struct run *r)
{
    struct compilation *c = r->c;
    if (!cli_add_file(c, r->options->file) ||
        !cli_add_schedules(&r->options->compile, c))
        return false;
    struct problem_options *o = &r->options->problem;
    struct ir_kernel *k = problem_kernel(o, c, &r->wrong);
    if (!k)
        return false;
    problem_keep_kernel(c, k);
    enum problem_result ready = problem_make(&c->arena, k, &o->request,
                                             &c->diags, &r->problem, &r->wrong);
    r->report.problem = &r->problem;
    if (ready == PROBLEM_READY)
        r->report.work = work_count(k, r->problem.values);
    return ready == PROBLEM_READY;
}

// ---- Where to run ---------------------------------------------------------

// Return whether the GPU runs cubins of an architecture.
static bool fits_device(const struct run *r, const struct nvptx_target *t)
{
    unsigned sm = r->driver.sm;
    return t->number / 10 == sm / 10 && t->number <= sm &&
           (t->kind != 'a' || t->number == sm);
}

// Add the architecture of the GPU, or its next lower relative that the tools
// know.  Without one PTX has to do.
static void target_device(struct run *r)
{
    struct cli_targets *t = &r->options->targets;
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n), *best = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!all[i].kind && fits_device(r, &all[i]) &&
            (!best || all[i].number > best->number))
            best = &all[i];
    }
    if (best)
        vec_push(&t->arena, &t->cubins, best);
}

// Look for the GPU and compile for it; without one, for no architecture in
// particular.
static void find_device(struct run *r)
{
    struct run_options *o = r->options;
    r->fault = o->device == RUN_CPU ? "as --device says"
                                    : driver_open(&r->driver, o->driver);
    if (r->fault)
        return;
    if (!o->targets.has_arch && !o->is_jit)
        target_device(r);
    if (o->is_jit)
        o->targets.cubins.n = 0;
    toolchain_start(&r->tools, o->targets.cuda);
    cli_targets_apply(&o->targets, &r->tools, &o->compile.options);
}

// Return the architecture whose image the GPU loads; NULL where the lowered
// kernel is evaluated.
static const struct nvptx_target *loaded_target(const struct run *r)
{
    const struct compile_options *o = &r->options->compile.options;
    const struct nvptx_target *best = NULL;
    for (size_t i = 0; i < o->n_targets; i++) {
        const struct nvptx_target *t = o->targets[i];
        if (fits_device(r, t) && (!best || t->number >= best->number))
            best = t;
    }
    return best ? best : o->ptx;
}

// Set *(bool *)context at an array that roles order.
static void see_ordered(struct ir_stmt *s, void *context)
{
    *(bool *)context |= s->kind == STMT_alloc && s->u.buffer->is_ordered;
}

// Return the variants that can run: of those evaluated, the ones without
// roles, which wait for each other.  An empty list is left as it is.
static const struct ir_kernel *const *
runnable(struct run *r, const struct ir_kernel *const *variants, size_t *n)
{
    const struct ir_kernel **kept =
        arena_array(&r->c->arena, const struct ir_kernel *, *n);
    size_t count = 0;
    for (size_t i = 0; i < *n; i++) {
        bool has_roles = false;
        ir_each_stmt((struct ir_block *)&variants[i]->body, see_ordered,
                     &has_roles);
        if (!has_roles || !r->fault || r->options->variant)
            kept[count++] = variants[i];
    }
    if (!count)
        return variants;
    *n = count;
    return kept;
}

// Lower the kernel and choose the variant.
static bool lower(struct run *r)
{
    struct compilation *c = r->c;
    size_t n;
    if (!compile_lower(c, &r->options->compile.options) ||
        !contracts_check_lowered(c))
        return false;
    const struct ir_kernel *const *variants =
        compile_kernels(c, loaded_target(r), &n);
    variants = runnable(r, variants, &n);
    r->problem.multiprocessors = r->driver.multiprocessors;
    r->report.dispatch = &r->dispatch;
    return dispatch_make(&c->arena, &r->problem, variants, n,
                         r->options->variant, &c->diags, &r->dispatch);
}

// Compute what the results should be.
static bool compute_reference(struct run *r)
{
    r->report.reference = "none";
    const struct definition_request *request = &r->options->problem.definition;
    if (request->by == DEFINITION_NONE)
        return true;
    cli_progress("computing what the definition says");
    r->want = problem_arguments(&r->c->arena, &r->problem, &r->c->diags);
    return r->want &&
           definition_run(request, &r->problem, &r->report.work, r->want,
                          &r->c->diags, &r->report.reference);
}

// ---- The CPU --------------------------------------------------------------

// Evaluate the lowered kernel.
static bool run_on_cpu(struct run *r)
{
    r->got = problem_arguments(&r->c->arena, &r->problem, &r->c->diags);
    return r->got && definition_evaluate(r->dispatch.variant, r->got,
                                         r->options->problem.definition.steps,
                                         &r->c->diags);
}

// ---- The GPU --------------------------------------------------------------

// Compile for the GPU and load.
static bool load(struct run *r)
{
    struct compilation *c = r->c;
    struct run_options *o = r->options;
    struct ptxas tool;
    if (!cli_images(c, &r->tools, &o->compile.options, &tool))
        return false;
    struct package package =
        artefact_package(c, r->problem.kernel->name, o->file, &tool);
    r->report.loaded = &r->loaded;
    return loaded_open(&c->arena, &package, o->driver, &c->diags, &r->loaded);
}

// Copy the results of the first set.
static bool read_results(struct run *r, struct device *d)
{
    struct arena *a = &r->c->arena;
    r->got = arena_array(a, struct eval_argument, r->problem.kernel->params.n);
    for (size_t i = 0; i < r->problem.arrays.n; i++) {
        const struct problem_array *array = &r->problem.arrays.at[i];
        if (array->buffer->role == ROLE_input)
            continue;
        void *data = problem_alloc(array, &r->c->diags);
        r->got[array->parameter].data = data;
        if (!data || !device_read(d, &d->sets.at[0], i, data))
            return false;
    }
    return true;
}

// Return whether a run launches any block.
static bool has_blocks(const struct dispatch *d)
{
    for (size_t i = 0; i < d->launches.n; i++) {
        const uint64_t *grid = d->launches.at[i].grid;
        if (grid[0] && grid[1] && grid[2])
            return true;
    }
    return false;
}

// Run once, check, read the results, and measure.
static bool run_on_device(struct run *r, struct device *d)
{
    for (size_t i = 0; i < r->dispatch.launches.n; i++) {
        const struct dispatch_launch *l = &r->dispatch.launches.at[i];
        uint32_t entry = loaded_entry(&r->loaded, l->launch);
        int64_t shared = r->loaded.plan.entries.at[entry].dynamic;
        struct device_launch launch = {entry, (uint32_t)shared, l};
        vec_push(d->arena, &d->launches, launch);
    }
    bool is_timed = !r->options->no_timing && has_blocks(&r->dispatch);
    bool ok = device_start(d, is_timed ? r->options->sets : 1) &&
              device_launch(d, &d->sets.at[0]) && device_wait(d) &&
              device_check_guards(d, &d->sets.at[0]) && read_results(r, d);
    r->report.sets = d->sets.n;
    r->report.has_timing =
        ok && is_timed &&
        timing_measure(d, &r->options->timing, &r->report.timing);
    return ok && r->report.has_timing == is_timed;
}

// Build for the GPU that was found, and run there.
static bool run_on_gpu(struct run *r)
{
    struct device d = {.driver = &r->driver,
                       .problem = &r->problem,
                       .dispatch = &r->dispatch,
                       .diags = &r->c->diags,
                       .arena = &r->c->arena};
    r->report.driver = &r->driver;
    bool ok = load(r);
    d.module = r->loaded.module;
    ok = ok && run_on_device(r, &d);
    device_free(&d);
    loaded_close(&r->loaded);
    return ok;
}

// Run wherever that was asked for.
static bool run_somewhere(struct run *r)
{
    cli_progress(r->fault ? "evaluating on the CPU" : "running on the GPU");
    if (!r->fault)
        return run_on_gpu(r);
    if (r->options->device == RUN_GPU) {
        diag_error(&r->c->diags, (struct span){0}, D_no_gpu, r->fault);
        return false;
    }
    r->report.no_gpu = r->fault;
    return run_on_cpu(r);
}

// ---- Comparing ------------------------------------------------------------

// Compare all results.
static bool compare_results(struct run *r)
{
    struct equivalence e = {.problem = &r->problem,
                            .work = &r->report.work,
                            .definition = &r->options->problem.definition,
                            .unordered = r->options->problem.unordered,
                            .tolerance = r->options->problem.tolerance,
                            .fast_math = r->dispatch.variant->fast_math};
    if (!r->want)
        return true;
    cli_progress("comparing");
    if (!equivalence_valid(&e)) {
        r->wrong = EQUIVALENCE_USAGE;
        return false;
    }
    equivalence_sort(&e, r->want);
    equivalence_sort(&e, r->got);
    for (size_t i = 0; i < r->problem.arrays.n; i++) {
        const struct problem_array *array = &r->problem.arrays.at[i];
        if (array->buffer->role == ROLE_input)
            continue;
        struct comparison c = equivalence_compare(&e, array, r->got, r->want);
        vec_push(&r->c->arena, &r->report.comparisons, c);
        if (c.wrong)
            diag_error(&r->c->diags, array->buffer->span, D_result_differs,
                       array->buffer->name, (long long)c.wrong,
                       (long long)c.elements);
    }
    return true;
}

// ---- The command ----------------------------------------------------------

// Tell what came of it.  Returns the exit code.
static int tell(struct run *r, bool ok)
{
    struct buf text = {0};
    bool written = true;
    if (r->options->is_json) {
        json_t *result = ok ? report_json(&r->report) : json_object();
        json_object_set_new(result, "diagnostics",
                            json_diagnostics(&r->c->diags));
        written = json_print(result);
    } else if (ok) {
        report_print(&r->report, &text);
        written = cli_print(&text);
    }
    buf_free(&text);
    int code = cli_report(&r->c->diags);
    if (r->wrong) {
        fprintf(stderr, "ingot run: %s\n", r->wrong);
        code = EXIT_USAGE;
    }
    return code || written ? code : EXIT_TOOL;
}

int command_run(int argc, char **argv)
{
    struct run_options options;
    struct compilation c;
    struct run r = {.options = &options, .c = &c};
    run_parse(argc, argv, &options);
    compile_start(&c);
    bool ok = prepare(&r);
    if (ok)
        find_device(&r);
    ok = ok && lower(&r) && compute_reference(&r) && run_somewhere(&r) &&
         compare_results(&r);
    if (!r.fault && r.driver.context)
        driver_close(&r.driver);
    cli_progress(NULL);
    cli_print_log(&options.compile);
    int code = tell(&r, ok);
    problem_free_arguments(&r.problem, r.want);
    problem_free_arguments(&r.problem, r.got);
    compile_end(&c);
    arena_reset(&options.problem.arena);
    arena_reset(&options.targets.arena);
    cli_end(&options.compile);
    return code;
}
