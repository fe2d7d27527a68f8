// Knobs: integers that a schedule leaves open, each with the values that it
// may have.  `tune` declares one; the sampling functions make some on the way.
//
//   tune BM in [64, 128, 256]
//   threads = sample_categorical([128, 256, 512])
//   i0, i1, i2 = sample_perfect_tile(C.i, 3, 16)
//
// The value of a knob is its setting, or else a decision that is always the
// same. `set` gives one that is made on the way its value:
//
//   set threads = 256

#include "passes/schedule/interpret/interpret.h"

#include "ir/base/suggest.h"

#include <string.h>

enum { INNERMOST_MOST = 16, FACTORS_MOST = 8 };

// The longest loop whose divisors are looked for, by trial.
static const int64_t EXTENT_MOST = (int64_t)1 << 40;

// Return "1, 2 or 4".
static const char *values_text(struct interp *in, const struct sched_knob *k)
{
    const char *text = "";
    for (size_t i = 0; i < k->values.n; i++)
        text = arena_printf(in->pass->scratch, "%s%s%lld", text,
                            i == 0                 ? ""
                            : i + 1 == k->values.n ? " or "
                                                   : ", ",
                            (long long)k->values.at[i]);
    return text;
}

// Return whether a knob or a parameter has a name already.
static bool is_taken(const struct interp *in, const char *name)
{
    for (size_t i = 0; i < in->knobs.n; i++)
        if (strcmp(in->knobs.at[i].name, name) == 0)
            return true;
    const struct sched_frame *top = in->frame;
    while (top->caller)
        top = top->caller;
    for (size_t i = 0; i < top->item->params.n; i++)
        if (strcmp(top->item->params.at[i].name.text, name) == 0)
            return true;
    return false;
}

// Return whether a knob may have a value.
static bool is_value(const struct sched_knob *k, int64_t value)
{
    for (size_t i = 0; i < k->values.n; i++)
        if (k->values.at[i] == value)
            return true;
    return false;
}

// Return whether a setting is written in the schedule.
static bool is_own(const struct interp *in, const struct sched_setting *s)
{
    vec_foreach(one, &in->own)
        if (one == s)
            return true;
    return false;
}

// Choose as the newest setting of the knob says, if there is one; a record that
// the schedule has outgrown is passed over with a warning.
static bool apply_setting(struct interp *in, struct sched_knob *k)
{
    struct diag_list *d = in->pass->diags;
    const struct sched_setting *s = interp_setting(in, k->name);
    if (!s)
        return true;
    if (is_value(k, s->value)) {
        k->chosen = s->value;
        return true;
    }
    bool is_record = s->span.source && !is_own(in, s);
    if (in->quiet && is_record)
        return true;
    (is_record ? diag_warning : diag_error)(d, s->span, D_schedule_not_a_choice,
                                            k->name, (long long)s->value);
    diag_note(d, k->span, "its values are %s", values_text(in, k));
    return is_record;
}

// Add a knob, and choose its value.
static bool add_knob(struct interp *in, struct sched_knob *k, int64_t *out)
{
    const char *name = k->name;
    for (int i = 2; is_taken(in, k->name); i++)
        k->name = arena_printf(in->pass->arena, "%s_%d", name, i);
    if (!apply_setting(in, k))
        return false;
    vec_push(in->pass->arena, &in->knobs, *k);
    *out = k->chosen;
    return true;
}

// Fill the values of a knob from a list, whose first is the default.
static bool take_values(struct interp *in, const struct sched_value *list,
                        struct sched_knob *k)
{
    if (!list->list.n)
        return diag_error(in->pass->diags, list->span, D_schedule_no_choice,
                          k->name);
    vec_foreach(v, &list->list) {
        if (v->kind != VALUE_int)
            return diag_error(in->pass->diags, v->span, D_schedule_not_integer,
                              "the value of a knob", interp_kind(v->kind));
        if (!is_value(k, v->number))
            vec_push(in->pass->arena, &k->values, v->number);
    }
    k->chosen = k->values.at[0];
    return true;
}

// Run one `tune`.
static bool run_tune(struct interp *in, const struct sched_stmt *s)
{
    struct sched_knob k = {.name = s->names.at[0].text,
                           .span = s->names.at[0].span};
    struct sched_value v;
    if (is_taken(in, k.name))
        return diag_error(in->pass->diags, k.span, D_schedule_defined_twice,
                          "knob", k.name);
    if (!interp_expr(in, s->value, &v))
        return false;
    if (v.kind != VALUE_list)
        return diag_error(in->pass->diags, s->value->span, D_schedule_not_list,
                          "`tune`", interp_kind(v.kind));
    v.span = s->value->span;
    struct sched_value chosen = {.kind = VALUE_int, .span = k.span};
    if (!take_values(in, &v, &k) || !add_knob(in, &k, &chosen.number))
        return false;
    interp_set(in, k.name, &chosen);
    return true;
}

// Run one `set`.
static bool run_set(struct interp *in, const struct sched_stmt *s)
{
    struct sched_setting one = {.name = s->names.at[0].text,
                                .span = s->names.at[0].span};
    vec_foreach(other, &in->own)
        if (strcmp(other->name, one.name) == 0)
            return diag_error(in->pass->diags, one.span,
                              D_schedule_defined_twice, "setting", one.name);
    if (!interp_int(in, s->value, "the value of a knob", &one.value))
        return false;
    vec_push(in->pass->arena, &in->own, one);
    return true;
}

bool interp_knobs(struct interp *in, const struct sched_block *body, size_t *n)
{
    for (*n = 0; *n < body->n; ++*n) {
        const struct sched_stmt *s = body->at[*n];
        if (s->kind != SCHED_tune && s->kind != SCHED_set)
            return true;
        if (!(s->kind == SCHED_tune ? run_tune : run_set)(in, s))
            return false;
    }
    return true;
}

bool interp_knobs_end(struct interp *in)
{
    bool ok = true;
    vec_foreach(one, &in->own) {
        struct suggest near = {.wanted = one->name};
        bool found = false;
        vec_foreach(k, &in->knobs) {
            found |= strcmp(k->name, one->name) == 0;
            suggest_offer(&near, k->name);
        }
        if (found)
            continue;
        ok = diag_error(in->pass->diags, one->span, D_schedule_set_nothing,
                        one->name);
        suggest_help(in->pass->diags, &near);
    }
    return ok;
}

// ---- Sampling -------------------------------------------------------------

// Return the name for the knob of a call's result number `at` of `n`: that of
// what it is assigned to.
static const char *knob_name(struct interp *in, size_t at, size_t n)
{
    const struct sched_stmt *s = in->assigning;
    bool is_whole = s && s->value == in->looking;
    if (is_whole && s->names.n == n && strcmp(s->names.at[at].text, "_") != 0)
        return s->names.at[at].text;
    const char *name =
        is_whole && s->names.n == 1 ? s->names.at[0].text : "sample";
    return n == 1 ? name : arena_printf(in->pass->arena, "%s_%zu", name, at);
}

bool interp_sample_categorical(struct interp *in,
                               const struct sched_values *args,
                               struct sched_value *out)
{
    struct sched_knob k = {.name = knob_name(in, 0, 1), .span = out->span};
    out->kind = VALUE_int;
    return take_values(in, &args->at[0], &k) && add_knob(in, &k, &out->number);
}

// Choose a divisor of a number: the greatest that is at most `fair`, unless a
// setting says otherwise.
static bool choose_divisor(struct interp *in, struct sched_knob *k,
                           int64_t number, int64_t most, int64_t fair,
                           int64_t *out)
{
    k->chosen = 1;
    for (int64_t i = 1; i <= number / i; i++)
        if (number % i == 0 && i <= most)
            vec_push(in->pass->arena, &k->values, i);
    for (size_t i = k->values.n; i-- > 0;) {
        int64_t other = number / k->values.at[i];
        if (other <= most && other != k->values.at[i])
            vec_push(in->pass->arena, &k->values, other);
    }
    for (size_t i = 0; i < k->values.n; i++)
        if (k->values.at[i] <= fair)
            k->chosen = k->values.at[i];
    return add_knob(in, k, out);
}

// Check what a perfect tile is made of.
static bool check_tile(struct interp *in, const struct sched_values *args,
                       int64_t *extent, int64_t *n, int64_t *most)
{
    *n = args->at[1].number;
    *most = args->n > 2 ? args->at[2].number : INNERMOST_MOST;
    if (!interp_extent(in, &args->at[0], extent))
        return false;
    if (*extent > EXTENT_MOST) {
        diag_error(in->pass->diags, args->at[0].span, D_schedule_tile_extent,
                   sched_name_of(args->at[0].stmt), (long long)*extent,
                   (long long)EXTENT_MOST);
        return diag_help(in->pass->diags, "split off a part by a number first");
    }
    if (*n >= 1 && *n <= FACTORS_MOST && *most >= 1 && *extent >= 1)
        return true;
    return diag_error(in->pass->diags, args->at[*most < 1 ? 2 : 1].span,
                      D_schedule_tile, (long long)FACTORS_MOST);
}

bool interp_sample_perfect_tile(struct interp *in,
                                const struct sched_values *args,
                                struct sched_value *out)
{
    int64_t left, n, most;
    struct sched_value v = {.kind = VALUE_int, .span = out->span};
    if (!check_tile(in, args, &left, &n, &most))
        return false;
    out->kind = VALUE_list;
    for (int64_t i = 0; i < n; i++)
        vec_push(in->pass->scratch, &out->list, v);
    for (int64_t i = n; i-- > 1;) {
        struct sched_knob k = {.span = out->span};
        int64_t *factor = &out->list.at[i].number;
        k.name = knob_name(in, (size_t)i, (size_t)n);
        if (!choose_divisor(in, &k, left, i + 1 == n ? most : left, most,
                            factor))
            return false;
        left /= *factor;
    }
    out->list.at[0].number = left;
    return true;
}
