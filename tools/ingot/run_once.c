// One run: data for the sizes, the results of the definition, those of the
// kernel, and the comparison.

#include "tools/ingot/run.h"

#include "ir/base/num.h"
#include "tools/ingot/equivalence.h"
#include "tools/ingot/memory.h"

// ---- The problem ----------------------------------------------------------

// Return how results are compared.
static struct equivalence equivalence_of(const struct run *r)
{
    const struct problem_options *o = &r->on->options->problem;
    const struct ir_kernel *variant = r->dispatch.variant;
    return (struct equivalence){.problem = &r->problem,
                                .work = &r->report.work,
                                .definition = &o->definition,
                                .unordered = o->unordered,
                                .tolerance = o->tolerance,
                                .fast_math = variant && variant->fast_math};
}

bool run_make(struct run *r, struct run_kernel *on,
              const struct problem_request *request, const char **wrong)
{
    struct arena *a = &on->c->arena;
    *r = (struct run){.on = on, .diags = {.arena = a}};
    enum problem_result made =
        problem_make(a, on->kernel, request, &r->diags, &r->problem, wrong);
    r->is_ready = made == PROBLEM_READY;
    r->report.problem = &r->problem;
    struct equivalence e = equivalence_of(r);
    if (r->is_ready && !equivalence_valid(&e))
        *wrong = EQUIVALENCE_USAGE;
    if (r->is_ready)
        r->report.work =
            work_count(definition_of(on->kernel), r->problem.values);
    return !*wrong;
}

bool run_choose(struct run *r)
{
    const struct run_kernel *k = r->on;
    r->problem.sms = k->driver.sms;
    r->report.dispatch = &r->dispatch;
    return dispatch_make(&k->c->arena, &r->problem, k->variants, k->n_variants,
                         k->options->variant, &r->diags, &r->dispatch);
}

// Return whether the run launches any block and is to be timed.
static bool is_timed(const struct run *r)
{
    for (size_t i = 0; i < r->dispatch.launches.n; i++) {
        const uint64_t *grid = r->dispatch.launches.at[i].grid;
        if (grid[0] && grid[1] && grid[2])
            return !r->on->options->no_timing;
    }
    return false;
}

// ---- Memory ---------------------------------------------------------------

// Return the bytes of all arrays, once.
static int64_t array_bytes(const struct run *r)
{
    int64_t sum = 0;
    for (size_t i = 0; i < r->problem.arrays.n; i++)
        sum = memory_add(sum, (int64_t)r->problem.arrays.at[i].bytes);
    return sum;
}

// Return those of the workspace.
static int64_t workspace_bytes(const struct run *r)
{
    int64_t sum = 0;
    for (size_t i = 0; i < r->dispatch.workspace.n; i++)
        sum = memory_add(sum, (int64_t)r->dispatch.workspace.at[i]);
    return sum;
}

// Return the bytes that go to a GPU and come back: inputs one by one, then the
// results together.
static int64_t copied_bytes(const struct run *r)
{
    int64_t results = 0, largest = 0;
    for (size_t i = 0; i < r->problem.arrays.n; i++) {
        const struct problem_array *array = &r->problem.arrays.at[i];
        int64_t bytes = (int64_t)array->bytes;
        largest = bytes > largest ? bytes : largest;
        if (array->buffer->role != ROLE_input)
            results = memory_add(results, bytes);
    }
    return results > largest ? results : largest;
}

// Return the main memory that the run takes: arrays for the definition, and
// for the kernel.
static int64_t host_bytes(const struct run *r)
{
    bool is_compared = r->on->options->problem.definition.by != DEFINITION_NONE;
    int64_t kernel = r->on->fault
                         ? memory_add(array_bytes(r), workspace_bytes(r))
                         : copied_bytes(r);
    return memory_add(is_compared ? array_bytes(r) : 0, kernel);
}

// Return the memory of the GPU that the run takes, which has `sets` copies.
static int64_t device_bytes(const struct run *r, size_t sets)
{
    int64_t set = memory_add(array_bytes(r), workspace_bytes(r)), all;
    return num_mul(set, (int64_t)sets, &all) ? all : INT64_MAX;
}

// Return the lesser of what is free and what --memory allows.
static int64_t allowed(const struct run *r, int64_t free_bytes)
{
    int64_t most = r->on->options->memory;
    return most && most < free_bytes ? most : free_bytes;
}

// Refuse what does not fit, before any of it is written; `sets` is 0 for as
// many as fit.  Returns false after reporting.
static bool check_memory(struct run *r, size_t sets)
{
    int64_t free_bytes = allowed(r, memory_host());
    if (!memory_check("the run", "host", host_bytes(r), free_bytes, &r->diags))
        return false;
    if (r->on->fault)
        return true;
    free_bytes = allowed(r, driver_memory(&r->on->driver));
    return memory_check("the run", "GPU", device_bytes(r, sets ? sets : 1),
                        free_bytes, &r->diags);
}

// ---- Results --------------------------------------------------------------

bool run_reference(struct run *r)
{
    const struct definition_request *request =
        &r->on->options->problem.definition;
    r->report.reference = "none";
    if (request->by == DEFINITION_NONE)
        return true;
    cli_progress("computing what the definition says");
    r->want = problem_arguments(&r->on->c->arena, &r->problem, &r->diags);
    return r->want && definition_run(request, &r->problem, &r->report.work,
                                     r->want, &r->diags, &r->report.reference);
}

// Evaluate the lowered kernel.  Returns false after reporting.
static bool run_on_cpu(struct run *r)
{
    cli_progress("evaluating on the CPU");
    r->report.no_gpu = r->on->fault;
    r->got = problem_arguments(&r->on->c->arena, &r->problem, &r->diags);
    struct buf printed = {0};
    struct definition_request request = r->on->options->problem.definition;
    request.printed = &printed;
    bool ok = r->got && definition_evaluate(&request, r->dispatch.variant,
                                            r->got, &r->diags);
    r->report.printed =
        arena_printf(&r->on->c->arena, "%s", printed.n ? printed.data : "");
    buf_free(&printed);
    return ok;
}

// Copy the results of the first set.  Returns false after reporting.
static bool read_results(struct run *r, struct device *d)
{
    struct arena *a = &r->on->c->arena;
    r->got = arena_array(a, struct eval_argument, r->on->kernel->params.n);
    for (size_t i = 0; i < r->problem.arrays.n; i++) {
        const struct problem_array *array = &r->problem.arrays.at[i];
        if (array->buffer->role == ROLE_input)
            continue;
        void *data = r->room ? r->room[array->parameter].data
                             : problem_alloc(array, &r->diags);
        r->got[array->parameter].data = data;
        if (!data || !device_read(d, &d->sets.at[0], i, data))
            return false;
    }
    return true;
}

// List the launches of a device.
static void list_launches(const struct run *r, struct device *d)
{
    const struct loaded *loaded = &r->on->loaded;
    for (size_t i = 0; i < r->dispatch.launches.n; i++) {
        const struct dispatch_launch *l = &r->dispatch.launches.at[i];
        uint32_t entry = loaded_entry(loaded, l->launch);
        int64_t shared = loaded->plan.entries.at[entry].dynamic;
        struct device_launch launch = {entry, (uint32_t)shared, l};
        vec_push(d->arena, &d->launches, launch);
    }
}

bool run_on_device(struct run *r, struct device *d, size_t sets)
{
    list_launches(r, d);
    if (!device_start(d, sets))
        return false;
    device_tell(d, true);
    bool ok = device_launch(d, &d->sets.at[0]) && device_wait(d);
    device_tell(d, false);
    return ok && device_check_guards(d, &d->sets.at[0]) && read_results(r, d);
}

// Run once, check, read the results, and measure.  Returns false after
// reporting.
static bool run_and_time(struct run *r, struct device *d, size_t sets)
{
    bool timed = is_timed(r);
    bool ok = run_on_device(r, d, sets);
    r->report.sets = d->sets.n;
    r->report.has_timing =
        ok && timed &&
        timing_measure(d, &r->on->options->timing, &r->report.timing);
    return ok && r->report.has_timing == timed;
}

void run_device(struct run *r, struct device *out)
{
    *out = (struct device){.driver = &r->on->driver,
                           .module = r->on->loaded.module,
                           .problem = &r->problem,
                           .dispatch = &r->dispatch,
                           .diags = &r->diags,
                           .arena = &r->on->c->arena};
    out->free_bytes = allowed(r, driver_memory(&r->on->driver));
}

// Run on the GPU.  Returns false after reporting.
static bool run_on_gpu(struct run *r, size_t sets)
{
    struct device d;
    cli_progress("running on the GPU");
    run_device(r, &d);
    d.inputs = r->want;
    r->report.driver = &r->on->driver;
    r->report.loaded = &r->on->loaded;
    bool ok = run_and_time(r, &d, sets);
    device_free(&d);
    return ok;
}

void run_compare(struct run *r)
{
    struct equivalence e = equivalence_of(r);
    if (!r->want)
        return;
    cli_progress("comparing");
    equivalence_sort(&e, r->want);
    equivalence_sort(&e, r->got);
    for (size_t i = 0; i < r->problem.arrays.n; i++) {
        const struct problem_array *array = &r->problem.arrays.at[i];
        if (array->buffer->role == ROLE_input)
            continue;
        struct comparison c = equivalence_compare(&e, array, r->got, r->want);
        vec_push(&r->on->c->arena, &r->report.comparisons, c);
        if (c.wrong)
            diag_error(&r->diags, array->buffer->span, D_result_differs,
                       array->buffer->name, (long long)c.wrong,
                       (long long)c.elements);
    }
}

void run_once(struct run *r)
{
    if (!run_choose(r))
        return;
    size_t sets = is_timed(r) ? r->on->options->sets : 1;
    bool ok = check_memory(r, sets) && run_reference(r) &&
              (r->on->fault ? run_on_cpu(r) : run_on_gpu(r, sets));
    r->report.is_complete = ok;
    if (ok)
        run_compare(r);
    cli_progress(NULL);
    problem_free_arguments(&r->problem, r->want);
    problem_free_arguments(&r->problem, r->got);
}
