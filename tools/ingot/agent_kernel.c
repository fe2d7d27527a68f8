// A kernel on the GPU, for the agent: its text is lowered, to know its launches,
// and its code comes as a cubin.

#include "tools/ingot/agent.h"

#include "tools/ingot/memory.h"
#include "tools/libingot/artefact.h"

#include <string.h>

enum { TURNS_USUAL = 10, TURNS_MOST = 1000 };

#define US_OF_MS 1e3

// That the evaluator takes; the tuner sees to the time.
#define STEPS_MOST UINT64_C(1000000000000)

// ---- Opening --------------------------------------------------------------

// Begin a kernel that holds nothing yet.
static void start(struct agent *a, struct agent_kernel *k)
{
    memset(k, 0, sizeof *k);
    compile_start(&k->c);
    k->is_open = true;
    k->options.problem = a->problem;
    k->options.driver = a->driver_path;
    k->options.compile.options.passes.log = &k->options.compile.log;
    k->kernel = (struct run_kernel){
        .options = &k->options, .c = &k->c, .driver = a->driver};
}

// Release a kernel; the driver stays.
static void finish(struct agent_kernel *k)
{
    if (!k->is_open)
        return;
    if (k->device.driver)
        device_free(&k->device);
    problem_free_arguments(&k->run.problem, k->run.want);
    if (!k->run.room)
        problem_free_arguments(&k->run.problem, k->run.got);
    loaded_close(&k->kernel.loaded);
    compile_end(&k->c);
    buf_free(&k->options.compile.log);
    k->is_open = false;
}

// Lower the kernel.  Returns false after reporting.
static bool lower(struct agent *a, struct agent_kernel *k, const struct way *w)
{
    struct compile_options *o = &k->options.compile.options;
    const char *wrong = NULL;
    k->kernel.kernel = way_add(&k->c, &a->source, w, &wrong);
    way_options(&a->source, w, o);
    if (!k->kernel.kernel || !compile_lower(&k->c, o))
        return false;
    k->kernel.variants =
        compile_kernels(&k->c, a->source.target, &k->kernel.n_variants);
    return true;
}

// Load the code.  Returns false after reporting.
static bool load(struct agent *a, struct agent_kernel *k,
                 const struct wire_message *m)
{
    struct fatbin_image read = {.kind = IMAGE_CUBIN,
                                .sm = a->source.target->number,
                                .suffix = a->source.target->kind,
                                .bytes = m->bytes,
                                .size = m->n};
    struct compiled_image image = {.target = a->source.target,
                                   .kind = IMAGE_CUBIN,
                                   .bytes = m->bytes,
                                   .size = m->n};
    fatbin_kernels(&k->c.arena, &read, &image.usage);
    vec_push(&k->c.arena, &k->c.images, image);
    struct package package =
        artefact_package(&k->c, a->source.kernel, "tune", NULL);
    return loaded_open(&k->c.arena, &package, a->driver_path, &k->c.diags,
                       &k->kernel.loaded);
}

// Make the run.  Returns false after reporting.
static bool make_run(struct agent *a, struct agent_kernel *k)
{
    const char *wrong = NULL;
    bool ok = run_make(&k->run, &k->kernel, &a->problem.request, &wrong) &&
              k->run.is_ready;
    return ok && run_choose(&k->run);
}

// Run once, and read the results.  Returns false after reporting.
static bool run(struct agent *a, struct agent_kernel *k)
{
    run_device(&k->run, &k->device);
    k->device.listener = &a->phases.listener;
    k->device.inputs = a->want;
    if (a->first.is_open && &a->first != k) {
        k->device.like = &a->first.device;
        k->run.room = a->room;
    }
    return run_on_device(&k->run, &k->device, 0);
}

// ---- Room for results ---------------------------------------------------------

// Release the room for results, which is as large as those of the first kernel.
static void drop_room(struct agent *a)
{
    problem_free_arguments(&a->first.run.problem, a->room);
    a->room = NULL;
}

// Make room for the results of all kernels behind the first: new memory would take longer
// to be mapped than the results to come.  There is none if memory is short.
static void make_room(struct agent *a)
{
    const struct problem *p = &a->first.run.problem;
    struct diag_list quiet = {.arena = &a->arena};
    bool ok = !a->room;
    if (ok)
        a->room =
            arena_array(&a->arena, struct eval_argument, p->kernel->params.n);
    for (size_t i = 0; ok && i < p->arrays.n; i++) {
        const struct problem_array *array = &p->arrays.at[i];
        if (array->buffer->role == ROLE_input)
            continue;
        a->room[array->parameter].data = problem_alloc(array, &quiet);
        ok = a->room[array->parameter].data != NULL;
    }
    if (quiet.errors)
        drop_room(a);
}

// ---- What came of it ------------------------------------------------------

// Return whether the GPU takes no further work of this process.
static bool is_dead(const struct agent *a)
{
    return a->driver.cuStreamSynchronize(NULL) != 0;
}

// Return how a kernel that was not measured ended.
static struct agent_result failure(struct agent *a, struct agent_kernel *k,
                                   enum agent_end end)
{
    const char *why = diag_first_error(&a->arena, &k->run.diags);
    why = why ? why : diag_first_error(&a->arena, &k->c.diags);
    return (struct agent_result){
        .end = is_dead(a) ? AGENT_FAULT : end,
        .why = why ? why : "there is no schedule for these sizes"};
}

// Return whether a kernel wrote outside of its arrays.
static bool wrote_outside(const struct agent_kernel *k)
{
    vec_foreach(d, &k->run.diags.all)
        if (d->code == D_wrote_outside)
            return true;
    return false;
}

// Open a kernel and run it once.  Returns whether it has results; `out` says
// why not.
static bool open_kernel(struct agent *a, struct agent_kernel *k,
                        const struct way *w, const struct wire_message *m,
                        struct agent_result *out)
{
    start(a, k);
    bool ok = lower(a, k, w) && load(a, k, m) && make_run(a, k) && run(a, k);
    if (!ok)
        *out = failure(a, k, wrote_outside(k) ? AGENT_WRONG : AGENT_REFUSED);
    return ok;
}

// Compare the results with those of the model.  Returns whether they are right;
// `out` says how not.
static bool compare(struct agent *a, struct agent_kernel *k,
                    struct agent_result *out)
{
    int errors = k->run.diags.errors;
    if (!a->want)
        return true;
    k->run.want = a->want;
    run_compare(&k->run);
    k->run.want = NULL;
    if (k->run.diags.errors == errors)
        return true;
    *out = failure(a, k, AGENT_WRONG);
    return false;
}

// ---- Small sizes ----------------------------------------------------------

enum { SMALL_STEPS = 20000000, HALVINGS_MOST = 20, SMALL_SIZE = 64 };

// Return the value of a size after some halvings, and set `out` to its text.
static void halve(struct arena *a, const struct ir_var *var, int64_t value,
                  int times, struct problem_setting *out)
{
    while (times-- > 0 && value > SMALL_SIZE)
        value /= 2;
    *out = (struct problem_setting){var->name,
                                    arena_printf(a, "%lld", (long long)value)};
}

// Make the run of a kernel at sizes that are so small that the definition is soon
// evaluated, halves of its own.  Returns false if there are none.
static bool make_small(struct agent *a, struct agent_kernel *k, struct run *out)
{
    for (int times = 1; times <= HALVINGS_MOST; times++) {
        struct problem_request request = a->problem.request;
        struct problem_settings values = {0};
        const char *wrong = NULL;
        vec_append(&k->c.arena, &values, &request.values);
        for (size_t i = 0; i < k->kernel.kernel->params.n; i++) {
            const struct ir_var *var = k->kernel.kernel->params.at[i].var;
            struct problem_setting one;
            if (!var || !type_is_index(var->type))
                continue;
            halve(&k->c.arena, var, k->run.problem.values[i].scalar.i, times,
                  &one);
            vec_push(&k->c.arena, &values, one);
        }
        request.values = values;
        if (!run_make(out, &k->kernel, &request, &wrong) || !out->is_ready)
            return false;
        if (out->report.work.steps <= SMALL_STEPS)
            return true;
    }
    return false;
}

// Compare a kernel with the definition at small sizes.  Returns how: "right",
// "wrong", or "unknown" where there are no such sizes.
static const char *check_small(struct agent *a, struct agent_kernel *k)
{
    struct run small;
    struct device device = {0};
    if (!make_small(a, k, &small) || !run_choose(&small) ||
        !run_reference(&small))
        return "unknown";
    run_device(&small, &device);
    device.listener = &a->phases.listener;
    bool ran = run_on_device(&small, &device, 1);
    if (ran)
        run_compare(&small);
    const char *how = !ran || small.diags.errors ? "wrong" : "right";
    device_free(&device);
    problem_free_arguments(&small.problem, small.want);
    problem_free_arguments(&small.problem, small.got);
    return how;
}

// Return the result of a kernel that is wrong at small sizes.
static struct agent_result differs_when_small(void)
{
    return (struct agent_result){
        .end = AGENT_WRONG,
        .why = "it differs from the definition at small sizes"};
}

// ---- What is asked for ----------------------------------------------------

struct agent_result agent_reference(struct agent *a, const struct way *w,
                                    const struct wire_message *m)
{
    struct agent_result result = {.end = AGENT_MEASURED};
    struct agent_kernel *k = &a->model;
    finish(k);
    a->want = NULL;
    if (open_kernel(a, k, w, m, &result)) {
        a->want = k->run.got;
        device_free(&k->device);
        k->device.driver = NULL;
        result.checked = check_small(a, k);
        if (strcmp(result.checked, "wrong") == 0)
            result = differs_when_small();
    } else {
        finish(k);
    }
    return result;
}

// Time two kernels in turns.  Returns false after reporting to the first.
static bool time_both(struct agent_kernel *one, struct agent_kernel *other,
                      size_t turns, struct agent_result *out)
{
    struct timing_pair pair;
    struct timing_request request = {.repetitions = turns};
    if (!timing_turns(&one->device, &other->device, &request, &pair))
        return false;
    *out = (struct agent_result){.end = AGENT_MEASURED,
                                 .us = US_OF_MS * pair.one.median,
                                 .base = US_OF_MS * pair.other.median,
                                 .ratio = pair.ratio,
                                 .spread = pair.spread,
                                 .turns = turns};
    return true;
}

// Return how many turns are asked for.
static size_t turns_of(const struct wire_message *m)
{
    json_int_t n = json_integer_value(json_object_get(m->json, "turns"));
    return n < 1 ? TURNS_USUAL : n > TURNS_MOST ? TURNS_MOST : (size_t)n;
}

struct agent_result agent_first(struct agent *a, const struct way *w,
                                const struct wire_message *m)
{
    struct agent_result result;
    struct agent_kernel *k = &a->first;
    const char *checked = NULL;
    drop_room(a);
    finish(k);
    if (open_kernel(a, k, w, m, &result) && compare(a, k, &result)) {
        if (!a->want && a->problem.definition.by != DEFINITION_NONE) {
            checked = check_small(a, k);
            a->want = k->run.got;
        }
        if (checked && strcmp(checked, "wrong") == 0)
            result = differs_when_small();
        else if (time_both(k, k, turns_of(m), &result)) {
            result.checked = checked;
            return result;
        } else
            result = failure(a, k, AGENT_FAULT);
    }
    a->want = a->want == k->run.got ? NULL : a->want;
    finish(k);
    return result;
}

struct agent_result agent_measure(struct agent *a, const struct way *w,
                                  const struct wire_message *m)
{
    struct agent_result result;
    struct agent_kernel k;
    if (!a->first.is_open)
        return (struct agent_result){.end = AGENT_REFUSED,
                                     .why = "nothing to measure beside"};
    make_room(a);
    if (open_kernel(a, &k, w, m, &result) && compare(a, &k, &result) &&
        !time_both(&k, &a->first, turns_of(m), &result))
        result = failure(a, &k, AGENT_FAULT);
    finish(&k);
    return result;
}

// Compute the results by the definition, if that is not too much work.  Returns
// NULL, or why it cannot be.
static const char *compute(struct agent *a, const char **reference)
{
    struct agent_kernel *k = &a->model;
    struct way plain = {.kind = WAY_PLAIN};
    const char *wrong = NULL;
    start(a, k);
    k->kernel.kernel = way_add(&k->c, &a->source, &plain, &wrong);
    if (!k->kernel.kernel)
        return wrong ? "there is no such kernel"
                     : diag_first_error(&a->arena, &k->c.diags);
    if (!run_make(&k->run, &k->kernel, &a->problem.request, &wrong))
        return arena_copy(&a->arena, wrong, strlen(wrong));
    if (!k->run.is_ready)
        return diag_first_error(&a->arena, &k->run.diags);
    *reference = "none";
    bool is_little = (double)k->run.report.work.steps <= a->most_work;
    if (a->problem.definition.by == DEFINITION_NONE || !is_little)
        return NULL;
    bool ok = run_reference(&k->run);
    a->want = ok ? k->run.want : NULL;
    *reference = k->run.report.reference;
    return ok ? NULL : diag_first_error(&a->arena, &k->run.diags);
}

// Copy settings of sizes, scalars or ranges.
static void read_texts(struct agent *a, const json_t *json,
                       struct problem_settings *out)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)json, name, value)
    {
        const char *text = json_string_value(value);
        struct problem_setting one = {
            arena_copy(&a->arena, name, strlen(name)),
            text ? arena_copy(&a->arena, text, strlen(text)) : ""};
        vec_push(&a->arena, out, one);
    }
}

const char *agent_problem(struct agent *a, const json_t *request,
                          const char **reference)
{
    agent_forget(a);
    const json_t *tolerance = json_object_get(request, "tolerance");
    const char *unordered =
        json_string_value(json_object_get(request, "unordered"));
    if (!way_source_read(&a->arena, json_object_get(request, "source"),
                         &a->source))
        return "this is no problem";
    a->problem = (struct problem_options){
        .tolerance = tolerance ? json_number_value(tolerance) : -1,
        .definition = {.by = (enum definition_by)json_integer_value(
                           json_object_get(request, "reference")),
                       .steps = STEPS_MOST}};
    a->problem.unordered =
        unordered ? arena_copy(&a->arena, unordered, strlen(unordered)) : NULL;
    a->problem.request.seed =
        (uint64_t)json_integer_value(json_object_get(request, "seed"));
    read_texts(a, json_object_get(request, "values"),
               &a->problem.request.values);
    read_texts(a, json_object_get(request, "ranges"),
               &a->problem.request.ranges);
    a->most_work = json_number_value(json_object_get(request, "work"));
    a->has_problem = true;
    return compute(a, reference);
}

void agent_forget(struct agent *a)
{
    drop_room(a);
    finish(&a->first);
    finish(&a->model);
    a->want = NULL;
    a->has_problem = false;
    arena_reset(&a->arena);
}
