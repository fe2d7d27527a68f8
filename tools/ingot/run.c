// ingot run FILE: build a kernel, run it, compare, time.
//
//   ingot run vadd.ing --size n=1000003
//   ingot run gemm.ing --size M=512,N=512,K=64 --jit
//
// On a GPU the runtime launches it, as it does for programs.  Without one the
// lowered kernel is evaluated on the CPU.

#include "tools/ingot/run.h"

#include "tools/libingot/artefact.h"

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

// Return the kernel to run, or NULL with `wrong` set.
static struct ir_kernel *choose_kernel(struct run *r)
{
    struct compilation *c = r->c;
    const char *wanted = r->options->kernel;
    struct suggest near = {.wanted = wanted ? wanted : ""};
    for (size_t i = 0; i < c->program.kernels.n; i++) {
        struct ir_kernel *k = c->program.kernels.at[i];
        if (wanted ? strcmp(k->name, wanted) == 0 : c->program.kernels.n == 1)
            return k;
        suggest_offer(&near, k->name);
    }
    r->wrong = wanted ? arena_printf(&c->arena, "there is no kernel `%s`%s",
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
        found |= program->kernels.at[i]->name == item->name.text;
    return found && item->name.text != kernel->name;
}

// Keep one kernel and its schedules.
static void keep_kernel(struct program *program, struct ir_kernel *kernel)
{
    size_t kept = 0;
    for (size_t i = 0; i < program->schedules.schedules.n; i++) {
        struct sched_item *item = program->schedules.schedules.at[i];
        if (!is_for_other(program, item, kernel))
            program->schedules.schedules.at[kept++] = item;
    }
    program->schedules.schedules.n = kept;
    program->kernels.at[0] = kernel;
    program->kernels.n = 1;
}

// Parse the file, keep one kernel, and give its parameters values.
static bool prepare(struct run *r)
{
    struct compilation *c = r->c;
    if (!cli_add_file(c, r->options->file) ||
        !cli_add_schedules(&r->options->compile, c))
        return false;
    struct ir_kernel *k = choose_kernel(r);
    if (!k)
        return false;
    keep_kernel(&c->program, k);
    enum problem_result ready = problem_make(&c->arena, k, &r->options->request,
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

// Lower the kernel and choose the variant.
static bool lower(struct run *r)
{
    struct compilation *c = r->c;
    size_t n;
    if (!compile_lower(c, &r->options->compile.options))
        return false;
    const struct ir_kernel *const *variants =
        compile_kernels(c, loaded_target(r), &n);
    r->report.dispatch = &r->dispatch;
    return dispatch_make(&c->arena, &r->problem, variants, n,
                         r->options->variant, &c->diags, &r->dispatch);
}

// Compute what the results should be.
static bool compute_reference(struct run *r)
{
    r->report.reference = "none";
    if (r->options->reference == REFERENCE_NONE)
        return true;
    cli_progress("computing what the definition says");
    r->want = problem_arguments(&r->c->arena, &r->problem, &r->c->diags);
    return r->want &&
           run_reference(r->options, &r->problem, &r->report.work, r->want,
                         &r->c->diags, &r->report.reference);
}

// ---- The CPU --------------------------------------------------------------

// Evaluate the lowered kernel.
static bool run_on_cpu(struct run *r)
{
    r->got = problem_arguments(&r->c->arena, &r->problem, &r->c->diags);
    return r->got &&
           run_evaluate(r->options, r->dispatch.variant, r->got, &r->c->diags);
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
    bool ok = device_start(d, &r->dispatch, is_timed ? r->options->sets : 1) &&
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

// Return the array parameter of that name, or NULL.
static const struct problem_array *find_array(const struct run *r,
                                              const char *name, size_t n)
{
    for (size_t i = 0; i < r->problem.arrays.n; i++) {
        const struct problem_array *array = &r->problem.arrays.at[i];
        if (strlen(array->buffer->name) == n &&
            memcmp(array->buffer->name, name, n) == 0)
            return array;
    }
    return NULL;
}

// Return how many elements of an array have no order: what `count` holds, or
// all of them.
static size_t unordered_elements(const struct problem_array *array,
                                 const struct problem_array *count,
                                 const struct eval_argument *arguments)
{
    size_t all = array->bytes / type_bytes(array->buffer->elem);
    if (!count || !count->bytes)
        return all;
    int64_t n =
        eval_load_int(count->buffer->elem, arguments[count->parameter].data);
    return n >= 0 && (uint64_t)n < all ? (size_t)n : all;
}

// Sort what --unordered names, in results and reference alike.
static bool sort_unordered(struct run *r)
{
    const char *text = r->options->unordered;
    if (!text)
        return true;
    size_t n = strcspn(text, " ");
    const char *rest = text[n] ? text + n + 1 : NULL;
    const struct problem_array *array = find_array(r, text, n);
    const struct problem_array *count =
        rest ? find_array(r, rest, strlen(rest)) : NULL;
    struct eval_argument *sides[] = {r->want, r->got};
    if (!array || array->buffer->role == ROLE_input || (rest && !count) ||
        (count && count->buffer->role == ROLE_input)) {
        r->wrong = "--unordered names results of the kernel: ARRAY [COUNT]";
        return false;
    }
    for (int i = 0; i < 2; i++)
        compare_sort(array->buffer, sides[i][array->parameter].data,
                     unordered_elements(array, count, sides[i]));
    return true;
}

// Compare one result.
static void compare_result(struct run *r, const struct problem_array *array)
{
    const struct ir_buffer *b = array->buffer;
    struct comparison c;
    double tolerance = r->options->tolerance;
    bool tells = type_is_float(b->elem) || type_bits(b->elem) >= 32;
    int poison = array->fill == FILL_POISON && tells ? problem_poison(b) : -1;
    if (tolerance < 0 || !type_is_float(b->elem))
        tolerance = compare_tolerance(&r->report.work, b,
                                      r->dispatch.variant->fast_math);
    compare_arrays(b, r->got[array->parameter].data,
                   r->want[array->parameter].data, array->bytes, tolerance,
                   poison, &c);
    vec_push(&r->c->arena, &r->report.comparisons, c);
    if (c.wrong)
        diag_error(&r->c->diags, b->span, D_result_differs, b->name,
                   (long long)c.wrong, (long long)c.elements);
}

// Compare all results.
static bool compare_results(struct run *r)
{
    if (!r->want)
        return true;
    cli_progress("comparing");
    if (!sort_unordered(r))
        return false;
    for (size_t i = 0; i < r->problem.arrays.n; i++)
        if (r->problem.arrays.at[i].buffer->role != ROLE_input)
            compare_result(r, &r->problem.arrays.at[i]);
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
    arena_reset(&options.arena);
    arena_reset(&options.targets.arena);
    cli_end(&options.compile);
    return code;
}
