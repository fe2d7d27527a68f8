// Schedules, knobs and times as JSON.

#include "tools/ingot/results.h"

// Return a list of integers.
static json_t *integers_json(const int64_t *values, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer(values[i]));
    return list;
}

// Return the knobs of a variant.
static json_t *knobs_json(const struct sched_knobs *knobs)
{
    json_t *list = json_array();
    for (size_t i = 0; i < knobs->n; i++) {
        const struct sched_knob *k = &knobs->at[i];
        json_t *object = json_object();
        json_object_set_new(object, "name", json_text(k->name));
        json_object_set_new(object, "values",
                            integers_json(k->values.at, k->values.n));
        json_object_set_new(object, "chosen", json_integer(k->chosen));
        json_array_append_new(list, object);
    }
    return list;
}

json_t *results_schedules(const struct compilation *c)
{
    json_t *list = json_array();
    const struct sched_item *last = NULL;
    for (size_t i = 0; i < c->variants.n; i++) {
        const struct variant *v = &c->variants.at[i];
        if (!v->schedule || v->schedule == last)
            continue;
        last = v->schedule;
        json_t *object = json_object();
        json_object_set_new(object, "kernel", json_text(v->source->name));
        json_object_set_new(object, "number",
                            json_integer((json_int_t)v->number));
        json_object_set_new(object, "knobs", knobs_json(&v->outcome->knobs));
        json_array_append_new(list, object);
    }
    return list;
}

json_t *results_times(const struct phases *times)
{
    json_t *list = json_array();
    for (size_t i = 0; i < times->all.n; i++) {
        const struct phase *one = &times->all.at[i];
        json_t *object = json_object();
        json_object_set_new(object, "phase", json_text(one->name));
        json_object_set_new(object, "microseconds",
                            json_integer((json_int_t)(1e3 * one->ms + 0.5)));
        json_array_append_new(list, object);
    }
    return list;
}
