// Traces as text and as JSON.

#include "tools/ingot/check.h"

#include <math.h>
#include <string.h>

const char *check_element_text(struct arena *a, const struct simt_finding *f)
{
    if (!f->rank)
        return arena_printf(a, "element %lld of `%s`", (long long)f->element,
                            f->array);
    const char *indices = "";
    for (uint32_t i = 0; i < f->rank; i++)
        indices = arena_printf(a, "%s%s%lld", indices, i ? ", " : "",
                               (long long)f->indices[i]);
    return arena_printf(a, "`%s[%s]`", f->array, indices);
}

const char *check_thread_text(struct arena *a, const struct simt_thread *one)
{
    return arena_printf(
        a, "thread (%u, %u, %u) of block (%llu, %llu, %llu)", one->thread[0],
        one->thread[1], one->thread[2], (unsigned long long)one->block[0],
        (unsigned long long)one->block[1], (unsigned long long)one->block[2]);
}

// ---- Values ---------------------------------------------------------------

// Return a value of an array; its bits if the type is not known.
static const char *value_text(struct arena *a, const struct ir_buffer *b,
                              const unsigned char *bytes, uint32_t n)
{
    const char *text = "0x";
    if (b && type_is_float(b->elem)) {
        double x = eval_load_float(b->elem, bytes);
        return isnan(x) ? "nan" : arena_printf(a, "%.9g", x);
    }
    if (b && type_bytes(b->elem) <= sizeof(int64_t))
        return arena_printf(a, "%lld",
                            (long long)eval_load_int(b->elem, bytes));
    for (uint32_t i = n; i-- > 0;)
        text = arena_printf(a, "%s%02x", text, bytes[i]);
    return text;
}

// Return whether an event leaves a value, rather than finding one.
static bool leaves(const struct simt_event *e)
{
    return e->kind == SIMT_EVENT_write || e->kind == SIMT_EVENT_atomic ||
           e->kind == SIMT_EVENT_end_write;
}

// Return whether an event is an access.
static bool is_access(const struct simt_event *e)
{
    return e->kind < SIMT_EVENT_barrier;
}

// Return the value that an event finds or leaves.
static const char *event_value(struct arena *a, const struct simt_event *e)
{
    return value_text(a, e->at.buffer, leaves(e) ? e->after : e->before,
                      e->bytes);
}

// ---- Text -----------------------------------------------------------------

// Return what somebody does: "reads 4.5 by `S[127 - t]`".
static const char *what_text(const struct check *check,
                             const struct simt_event *e)
{
    struct arena *a = &check->c->arena;
    struct span span = check_span(check->c, &e->at.place);
    const char *text = simt_event_text(e->kind);
    const char *value = e->bytes && is_access(e) ? event_value(a, e) : NULL;
    bool changes =
        e->kind == SIMT_EVENT_atomic && memcmp(e->before, e->after, e->bytes);
    if (value && e->kind == SIMT_EVENT_atomic && !changes)
        text = arena_printf(a, "finds and leaves %s", value);
    else if (value && changes)
        text = arena_printf(a, "%s %s to %s", text,
                            value_text(a, e->at.buffer, e->before, e->bytes),
                            value);
    else if (value)
        text = arena_printf(a, "%s %s", text, value);
    else if (is_access(e) && !e->is_operand)
        text = arena_printf(a, "%s it", text);
    if (e->is_operand)
        text = arena_printf(a, "%s of %s", text, check_element_text(a, &e->at));
    if (span.source && is_access(e))
        text = arena_printf(a, "%s by `%.*s`", text, (int)(span.to - span.from),
                            span.source->text + span.from);
    if (e->at.count > 1)
        text = arena_printf(a, "%s, %llu times", text,
                            (unsigned long long)e->at.count);
    return text;
}

// Return who takes part in an event.
static const char *who_text(struct arena *a, const struct simt_event *e)
{
    const uint64_t *b = e->at.thread.block;
    if (e->kind != SIMT_EVENT_barrier)
        return check_thread_text(a, &e->at.thread);
    return arena_printf(a, "block (%llu, %llu, %llu)", (unsigned long long)b[0],
                        (unsigned long long)b[1], (unsigned long long)b[2]);
}

// Return the sizes of a trace, "n=4".
static const char *sizes_text(struct arena *a, const struct check_variant *v,
                              const struct check_trace *trace)
{
    const struct ir_kernel *k = v->variant->source;
    const char *text = "";
    size_t n = 0;
    for (size_t i = 0; i < k->params.n && n < CHECK_SIZES; i++) {
        const struct ir_var *var = k->params.at[i].var;
        if (!var || !type_is_index(var->type))
            continue;
        text = arena_printf(a, "%s%s%s=%lld", text, n ? "," : " with ",
                            var->name, (long long)trace->sizes[n]);
        n++;
    }
    return text;
}

// Return what a trace says in front of its steps, beside the element.
static const char *head_text(struct arena *a, const struct check_variant *v,
                             const struct check_trace *trace)
{
    const char *text = arena_printf(a, "%s, under %s", sizes_text(a, v, trace),
                                    simt_policy_name(trace->order.policy));
    if (trace->is_wrong)
        text = arena_printf(a, "%s, where %.9g is right", text,
                            isnan(trace->want) ? NAN : trace->want);
    if (!trace->n)
        return arena_printf(a, "%s: no thread accesses it", text);
    if (trace->left_out)
        text = arena_printf(a, "%s; %zu earlier lines are left out", text,
                            trace->left_out);
    return text;
}

void check_tell_trace(const struct check *check, const struct check_variant *v,
                      const struct check_trace *trace)
{
    struct arena *a = &check->c->arena;
    struct diag_list *diags = &check->c->diags;
    diag_trace(diags, "%s%s", check_element_text(a, &trace->at),
               head_text(a, v, trace));
    for (size_t i = 0; i < trace->n; i++) {
        const struct simt_event *e = &trace->events[i];
        diag_step(diags, check_span(check->c, &e->at.place), who_text(a, e),
                  what_text(check, e));
    }
}

// ---- JSON -----------------------------------------------------------------

// Return an event.
static json_t *event_json(const struct simt_event *e)
{
    struct arena a = {0};
    json_t *object = json_object();
    json_object_set_new(object, "event", json_text(simt_event_name(e->kind)));
    check_set_place(object, &e->at.place);
    check_set_schedule(object, &e->at.schedule);
    check_set_thread(object, &e->at.thread);
    if (is_access(e))
        check_set_element(object, &e->at);
    if (e->at.count > 1)
        json_object_set_new(object, "count",
                            json_integer((json_int_t)e->at.count));
    if (e->bytes && is_access(e))
        json_object_set_new(object, "value", json_text(event_value(&a, e)));
    if (e->bytes && leaves(e))
        json_object_set_new(
            object, "before",
            json_text(value_text(&a, e->at.buffer, e->before, e->bytes)));
    arena_reset(&a);
    return object;
}

void check_set_trace(json_t *object, const struct check_variant *v,
                     const struct check_trace *trace)
{
    const struct ir_kernel *k = v->variant->source;
    json_t *list = json_array(), *sizes = json_object();
    size_t n = 0;
    for (size_t i = 0; i < k->params.n && n < CHECK_SIZES; i++) {
        const struct ir_var *var = k->params.at[i].var;
        if (var && type_is_index(var->type))
            json_object_set_new(sizes, var->name,
                                json_integer(trace->sizes[n++]));
    }
    for (size_t i = 0; i < trace->n; i++)
        json_array_append_new(list, event_json(&trace->events[i]));
    json_object_set_new(object, "trace", list);
    json_object_set_new(object, "traced",
                        json_pack("{s:o, s:I, s:s, s:I}", "sizes", sizes,
                                  "element", (json_int_t)trace->at.element,
                                  "policy",
                                  simt_policy_name(trace->order.policy),
                                  "left_out", (json_int_t)trace->left_out));
}
