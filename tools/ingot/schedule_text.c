// Prints the schedules of variants.

#include "tools/ingot/schedule_text.h"

#include "tools/libingot/schedule_case.h"

#include "ir/text.h"
#include "passes/schedule/record.h"

// Append the guards that a default schedule has added to those of the kernel.
static void print_guards(const struct variant *v, struct buf *out)
{
    for (size_t i = v->source->guard.n; i < v->kernel->guard.n; i++) {
        buf_text(out, i > v->source->guard.n ? " && " : " when ");
        ir_print_expr(out, v->kernel->guard.at[i]);
    }
}

// Append the schedule of a variant that has the default.
static void print_default(const struct variant *v, struct buf *out)
{
    buf_printf(out, "schedule %s", v->source->name);
    print_guards(v, out);
    buf_text(out, " {\n");
    sched_record_print(v->record, out);
    buf_text(out, "}\n\n");
}

// Append a schedule as it is written: from its keyword to its closing brace.
static void print_own(const struct variant *v, struct buf *out)
{
    struct span span =
        v->schedule->rule ? v->schedule->by->span : v->schedule->whole;
    if (v->schedule->rule)
        buf_printf(out, "schedule %s by ", v->source->name);
    buf_bytes(out, span.source->text + span.from, span.to - span.from);
    buf_text(out, "\n\n");
}

// Append the case of a rule that a variant has.
static void print_case(struct compilation *c, const struct variant *v,
                       struct buf *out)
{
    struct sched_settings own = {0};
    struct schedule_case what = {
        .kernel = v->source, .item = v->schedule, .settings = &own};
    vec_foreach(one, &v->settings)
        if (sched_has_setting(v->schedule, &v->outcome->knobs, one->name))
            vec_push(&c->scratch, &own, *one);
    schedule_case_print(&c->scratch, &what, out);
}

void schedule_text_print_own(const struct variant *v, struct buf *out)
{
    if (v->schedule)
        print_own(v, out);
    else
        print_default(v, out);
}

void schedule_text_print(struct compilation *c, const struct variant *v,
                         struct buf *out)
{
    if (v->schedule && v->schedule->rule)
        print_case(c, v, out);
    else
        schedule_text_print_own(v, out);
}
