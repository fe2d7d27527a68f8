// What is predicted of each candidate, as a table and as JSON.

#include "tools/ingot/candidates.h"
#include "tools/ingot/schedule_why.h"

// Return the name of a variant with its directive and its knobs.
static const char *name_of(struct arena *a, const struct variant *v)
{
    struct buf text = {0};
    const char *name = v->kernel->variant;
    buf_text(&text, *name ? name : "general");
    if (v->schedule)
        schedule_directive_print(v->schedule, &text);
    else
        buf_text(&text, " default");
    vec_foreach(one, &v->settings)
        buf_printf(&text, " %s=%lld", one->name, (long long)one->value);
    const char *r = arena_copy(a, text.data, text.n);
    buf_free(&text);
    return r;
}

// Append the sizes.
static void print_sizes(const struct problem *p, struct buf *out)
{
    for (size_t i = 0; i < p->kernel->params.n; i++) {
        const struct ir_var *var = p->kernel->params.at[i].var;
        if (var && type_is_index(var->type))
            buf_printf(out, ", %s=%lld", var->name,
                       (long long)p->values[i].scalar.i);
    }
}

// Append a row of what can run.
static void print_row(struct arena *a, const struct candidate *row,
                      struct buf *out)
{
    const struct model_launch *l = model_slowest(&row->time);
    const char *name = name_of(a, row->variant);
    if (!l) {
        buf_printf(out, "  ?  %s\n", name);
        return;
    }
    buf_printf(out, "%s %10.2f  %-8s %5.0f %%  %6lld  %8.2f  %s\n",
               row->is_taken ? "*" : " ", row->time.us,
               model_limit_name(l->binding), 100 * l->occupancy,
               (long long)l->blocks_per_sm, l->waves, name);
}

void candidates_print(struct arena *a, const struct problem *p,
                      const struct model_device *device,
                      const struct candidates *rows, struct buf *out)
{
    buf_printf(out, "%s", p->kernel->name);
    print_sizes(p, out);
    buf_printf(out, ", predicted for %s, %d SMs\n", device->name, device->sms);
    buf_printf(out, "  %10s  %-8s %7s  %6s  %8s  %s\n", "us", "limit",
               "threads", "blocks", "waves", "candidate");
    vec_foreach(row, rows)
        if (!row->refusal)
            print_row(a, row, out);
    vec_foreach(row, rows) {
        if (!row->refusal)
            continue;
        buf_printf(out, "  refused: %s: ", name_of(a, row->variant));
        schedule_refusal_print(a, p, row->variant, row->refusal, out);
        buf_text(out, "\n");
    }
}

// ---- JSON -----------------------------------------------------------------

// Return a launch.
static json_t *launch_json(const struct model_launch *l)
{
    json_t *limits = json_object(), *object = json_object();
    for (int i = 0; i < MODEL_LIMITS; i++)
        json_set_real(limits, model_limit_name((enum model_limit)i),
                      l->limits[i]);
    json_object_set_new(object, "entry", json_text(l->launch->name));
    json_set_real(object, "us", l->us);
    json_object_set_new(object, "limit",
                        json_text(model_limit_name(l->binding)));
    json_object_set_new(object, "limits", limits);
    json_set_real(object, "launch_us", l->launch_us);
    json_set_real(object, "tail_us", l->tail_us);
    json_object_set_new(object, "blocks", json_integer(l->blocks));
    json_object_set_new(object, "threads", json_integer(l->threads));
    json_object_set_new(object, "blocks_per_sm",
                        json_integer(l->blocks_per_sm));
    json_set_real(object, "occupancy", l->occupancy);
    json_set_real(object, "waves", l->waves);
    json_object_set_new(object, "registers", json_integer(l->registers));
    json_object_set_new(object, "shared_bytes", json_integer(l->shared_bytes));
    json_set_real(object, "dram_bytes", l->dram_bytes);
    json_set_real(object, "l2_bytes", l->l2_bytes);
    return object;
}

// Return why a candidate is refused, null if it is not.
static json_t *refusal_json(struct arena *a, const struct problem *p,
                            const struct candidate *row)
{
    struct buf text = {0};
    if (!row->refusal)
        return json_null();
    schedule_refusal_print(a, p, row->variant, row->refusal, &text);
    json_t *r = json_text(arena_copy(a, text.data, text.n));
    buf_free(&text);
    return r;
}

// Return a candidate.
static json_t *row_json(struct arena *a, const struct problem *p,
                        const struct candidate *row)
{
    json_t *object = json_object(), *launches = json_array();
    const struct model_launch *slowest = model_slowest(&row->time);
    vec_foreach(l, &row->time.launches)
        json_array_append_new(launches, launch_json(l));
    json_object_set_new(object, "variant",
                        json_text(row->variant->kernel->variant));
    json_object_set_new(object, "candidate",
                        json_text(name_of(a, row->variant)));
    json_object_set_new(object, "taken", json_boolean(row->is_taken));
    json_object_set_new(object, "refused", refusal_json(a, p, row));
    if (row->is_timed)
        json_set_real(object, "us", row->time.us);
    if (slowest)
        json_object_set_new(object, "limit",
                            json_text(model_limit_name(slowest->binding)));
    json_object_set_new(object, "launches", launches);
    return object;
}

json_t *candidates_json(struct arena *a, const struct problem *p,
                        const struct model_device *device,
                        const struct candidates *rows)
{
    json_t *object = json_object(), *list = json_array(),
           *sizes = json_object();
    for (size_t i = 0; i < p->kernel->params.n; i++) {
        const struct ir_var *var = p->kernel->params.at[i].var;
        if (var && type_is_index(var->type))
            json_object_set_new(sizes, var->name,
                                json_integer(p->values[i].scalar.i));
    }
    vec_foreach(row, rows)
        json_array_append_new(list, row_json(a, p, row));
    json_object_set_new(object, "kernel", json_text(p->kernel->name));
    json_object_set_new(object, "sizes", sizes);
    json_object_set_new(object, "device", json_text(device->name));
    json_object_set_new(object, "sms", json_integer(device->sms));
    json_object_set_new(object, "candidates", list);
    return object;
}
