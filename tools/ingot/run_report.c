// Prints what came of a run.

#include "tools/ingot/run_report.h"

#define SHORT_MS 0.1

// Return the bytes that a run at least moves: what it reads and what it
// writes, each once.
static double moved_bytes(const struct run_report *r)
{
    double bytes = 0;
    for (size_t i = 0; i < r->problem->arrays.n; i++) {
        const struct problem_array *array = &r->problem->arrays.at[i];
        bool is_both = array->buffer->role == ROLE_inout;
        bytes += (double)array->bytes * (is_both ? 2 : 1);
    }
    return bytes;
}

// Return how many units a second are done, if a run does `amount` of them.
static double rate(const struct run_report *r, double amount)
{
    return amount / (r->timing.median * 1e-3);
}

// Return the image that was loaded.
static const struct fatbin_image *image_of(const struct run_report *r)
{
    return &r->loaded->plan.images[r->loaded->load.image];
}

// Return how the image was chosen.
static const char *rung_text(enum ingot_rung rung)
{
    switch (rung) {
    case INGOT_RUNG_NONE: return "nothing";
    case INGOT_RUNG_EXACT: return "exact";
    case INGOT_RUNG_FAMILY: return "same family";
    case INGOT_RUNG_PTX: return "compiled by the driver";
    }
    return "";
}

// Return the name of the variant.
static const char *variant_text(const struct run_report *r)
{
    const char *name = r->dispatch->variant->variant;
    return name && *name ? name : "general";
}

// ---- Text -----------------------------------------------------------------

// Append where it ran.
static void print_place(const struct run_report *r, struct buf *out)
{
    char name[IMAGE_NAME_SIZE];
    if (!r->is_complete) {
        buf_printf(out, "%s did not complete\n", r->problem->kernel->name);
        return;
    }
    if (!r->driver) {
        buf_printf(out, "%s on the CPU, evaluated: %s\n",
                   r->problem->kernel->name, r->no_gpu);
        return;
    }
    const struct ingot_load *load = &r->loaded->load;
    image_name(image_of(r)->kind, image_of(r)->sm, image_of(r)->suffix, name);
    buf_printf(out, "%s on %s: %s (%s), loaded in %.2f ms",
               r->problem->kernel->name, r->driver->name, name,
               rung_text(load->rung), load->load_ms);
    buf_printf(out,
               load->jit_ms > 0 ? ", %.2f ms of them the compiler\n" : "\n",
               load->jit_ms);
}

// Append the values of the scalars.
static void print_scalars(const struct run_report *r, struct buf *out)
{
    const struct ir_kernel *k = r->problem->kernel;
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_var *var = k->params.at[i].var;
        const struct eval_argument *value = &r->problem->values[i];
        if (!var)
            continue;
        if (type_is_float(var->type))
            buf_printf(out, "%s = %g, ", var->name, value->scalar.f);
        else
            buf_printf(out, "%s = %lld, ", var->name,
                       (long long)value->scalar.i);
    }
    buf_printf(out, "seed %llu\n", (unsigned long long)r->problem->seed);
}

// Append the launches.
static void print_launches(const struct run_report *r, struct buf *out)
{
    for (size_t i = 0; i < r->dispatch->launches.n; i++) {
        const struct dispatch_launch *l = &r->dispatch->launches.at[i];
        buf_printf(out, "  variant %s: %s, grid %llu x %llu x %llu, block %u",
                   variant_text(r), l->launch->name,
                   (unsigned long long)l->grid[0],
                   (unsigned long long)l->grid[1],
                   (unsigned long long)l->grid[2], l->launch->block[0]);
        buf_printf(out, " x %u x %u\n", l->launch->block[1],
                   l->launch->block[2]);
    }
}

// Append the result for one array.
static void print_comparison(const struct run_report *r,
                             const struct comparison *c, struct buf *out)
{
    const char *name = c->buffer->name;
    if (!c->wrong)
        buf_printf(out, "  %s: all %zu elements equal the reference (%s)", name,
                   c->elements, r->reference);
    else
        buf_printf(out,
                   "  %s: %zu of %zu elements DIFFER from the reference "
                   "(%s)",
                   name, c->wrong, c->elements, r->reference);
    if (c->most_absolute > 0)
        buf_printf(out, ", at most %.3g apart, %.3g relative (limit %.3g)",
                   c->most_absolute, c->most_relative, c->tolerance);
    buf_text(out, "\n");
    for (size_t i = 0; i < c->wrong && i < COMPARE_EXAMPLES; i++)
        buf_printf(out, "    element %zu: %.9g instead of %.9g\n",
                   c->first[i].at, c->first[i].got, c->first[i].want);
    if (c->poisoned)
        buf_printf(out, "    %zu elements hold what they held before\n",
                   c->poisoned);
}

// Append the times, in microseconds if they are short.
static void print_timing(const struct run_report *r, struct buf *out)
{
    const struct timing *t = &r->timing;
    bool is_short = t->median < SHORT_MS;
    double unit = is_short ? 1e3 : 1;
    buf_printf(out, "  %.3f %s (%.3f to %.3f), median of %zu x %zu runs%s, ",
               t->median * unit, is_short ? "us" : "ms", t->least * unit,
               t->most * unit, t->repetitions, t->batch,
               t->is_graph ? " replayed from a graph" : "");
    buf_printf(out, "%zu copies of the data\n", r->sets);
    buf_printf(out, "  %.1f GB/s", rate(r, moved_bytes(r)) / 1e9);
    if (r->work.operations > 0)
        buf_printf(out, ", %.1f GFLOP/s%s", rate(r, r->work.operations) / 1e9,
                   r->work.is_estimate ? " (estimate)" : "");
    buf_text(out, "\n");
}

void run_report_print(const struct run_report *r, struct buf *out)
{
    print_place(r, out);
    buf_text(out, "  ");
    print_scalars(r, out);
    if (!r->is_complete)
        return;
    print_launches(r, out);
    if (r->printed && *r->printed)
        buf_printf(out, "  printed:\n%s", r->printed);
    for (size_t i = 0; i < r->comparisons.n; i++)
        print_comparison(r, &r->comparisons.at[i], out);
    if (r->has_timing)
        print_timing(r, out);
}

// ---- JSON -----------------------------------------------------------------

// Return the values of the scalars.
static json_t *scalars_json(const struct run_report *r)
{
    const struct ir_kernel *k = r->problem->kernel;
    json_t *object = json_object();
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_var *var = k->params.at[i].var;
        if (var && type_is_float(var->type))
            json_set_real(object, var->name, r->problem->values[i].scalar.f);
        else if (var)
            json_object_set_new(object, var->name,
                                json_integer(r->problem->values[i].scalar.i));
    }
    return object;
}

// Return where it ran.
static json_t *place_json(const struct run_report *r)
{
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_text(r->driver ? "gpu" : "cpu"));
    if (!r->driver) {
        json_object_set_new(object, "why", json_text(r->no_gpu));
        if (r->printed && *r->printed)
            json_object_set_new(object, "printed", json_text(r->printed));
        return object;
    }
    const struct ingot_load *load = &r->loaded->load;
    char name[IMAGE_NAME_SIZE];
    image_name(image_of(r)->kind, image_of(r)->sm, image_of(r)->suffix, name);
    json_object_set_new(object, "name", json_text(r->driver->name));
    json_object_set_new(object, "driver", json_integer(r->driver->version));
    json_object_set_new(object, "image", json_text(name));
    json_object_set_new(object, "rung", json_text(rung_text(load->rung)));
    json_set_real(object, "load_ms", load->load_ms);
    json_set_real(object, "jit_ms", load->jit_ms);
    return object;
}

// Return three numbers.
static json_t *triple_json(uint64_t x, uint64_t y, uint64_t z)
{
    return json_pack("[I, I, I]", (json_int_t)x, (json_int_t)y, (json_int_t)z);
}

// Return the launches.
static json_t *launches_json(const struct run_report *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->dispatch->launches.n; i++) {
        const struct dispatch_launch *l = &r->dispatch->launches.at[i];
        const uint32_t *block = l->launch->block;
        json_t *object = json_object();
        json_object_set_new(object, "entry", json_text(l->launch->name));
        json_object_set_new(object, "grid",
                            triple_json(l->grid[0], l->grid[1], l->grid[2]));
        json_object_set_new(object, "block",
                            triple_json(block[0], block[1], block[2]));
        json_array_append_new(list, object);
    }
    return list;
}

// Return the result for one array.
static json_t *comparison_json(const struct comparison *c)
{
    json_t *object = json_object();
    json_object_set_new(object, "array", json_text(c->buffer->name));
    json_object_set_new(object, "elements",
                        json_integer((json_int_t)c->elements));
    json_object_set_new(object, "wrong", json_integer((json_int_t)c->wrong));
    json_set_real(object, "most_absolute", c->most_absolute);
    json_set_real(object, "most_relative", c->most_relative);
    json_set_real(object, "tolerance", c->tolerance);
    if (c->most_absolute > 0) {
        json_object_set_new(object, "worst_element",
                            json_integer((json_int_t)c->worst.at));
        json_set_real(object, "worst_got", c->worst.got);
        json_set_real(object, "worst_want", c->worst.want);
    }
    return object;
}

// Return the times.
static json_t *timing_json(const struct run_report *r)
{
    const struct timing *t = &r->timing;
    json_t *object = json_object();
    json_set_real(object, "median_ms", t->median);
    json_set_real(object, "least_ms", t->least);
    json_set_real(object, "most_ms", t->most);
    json_object_set_new(object, "repetitions",
                        json_integer((json_int_t)t->repetitions));
    json_object_set_new(object, "batch", json_integer((json_int_t)t->batch));
    json_object_set_new(object, "graph", json_boolean(t->is_graph));
    json_object_set_new(object, "copies", json_integer((json_int_t)r->sets));
    json_set_real(object, "gb_per_s", rate(r, moved_bytes(r)) / 1e9);
    json_set_real(object, "gflop_per_s", rate(r, r->work.operations) / 1e9);
    return object;
}

// Add what a run to the end tells.
static void set_outcome(const struct run_report *r, json_t *object)
{
    json_t *results = json_array();
    for (size_t i = 0; i < r->comparisons.n; i++)
        json_array_append_new(results, comparison_json(&r->comparisons.at[i]));
    json_object_set_new(object, "variant", json_text(variant_text(r)));
    json_object_set_new(object, "launches", launches_json(r));
    json_object_set_new(object, "reference", json_text(r->reference));
    json_object_set_new(object, "results", results);
    json_set_real(object, "bytes", moved_bytes(r));
    json_set_real(object, "operations", r->work.operations);
    if (r->has_timing)
        json_object_set_new(object, "timing", timing_json(r));
}

json_t *run_report_json(const struct run_report *r)
{
    json_t *object = json_object();
    json_object_set_new(object, "kernel", json_text(r->problem->kernel->name));
    if (r->is_complete)
        json_object_set_new(object, "device", place_json(r));
    json_object_set_new(object, "scalars", scalars_json(r));
    json_object_set_new(object, "seed",
                        json_integer((json_int_t)r->problem->seed));
    if (r->is_complete)
        set_outcome(r, object);
    return object;
}
