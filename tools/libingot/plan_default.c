// The default schedule in other shapes, as schedules of a rule `default`: what the tuner
// tries of a kernel that no rule matches.
//
//   kernel add(...) { C[i] = A[i] + B[i] }
//     =>
//   schedule add { _, i1, i2 = split(C.i, _, 128, 4) ... }       128 threads, not 256
//
// Each is the text of the directives that the default runs, parsed.

#include "tools/libingot/plan.h"

#include "ir/copy.h"
#include "passes/schedule/record.h"
#include "passes/schedule/schedule.h"
#include "tools/libingot/recorded.h"

#include <string.h>

// All shapes are a number of threads and a way to share elements: as many neighbours,
// or as many a block's width apart; 0: as the rule chooses.
static const int64_t threads[] = {0, 128, 256, 512, 64, 1024};
static const struct way {
    int64_t lanes, each;
} ways[] = {{0, 0}, {1, 1}, {1, 2}, {1, 4}, {1, 8}};

enum {
    THREADS_N = sizeof threads / sizeof *threads,
    WAYS_N = sizeof ways / sizeof *ways,
};

// What is being made.
struct defaults {
    struct compilation *c;
    const struct compile_options *o;
    const struct ir_kernel *kernel;
    struct sched_item *rule;
    struct VEC(const char *) texts;
    struct sched_items *out;
};

// Return the text of the default schedule in a shape; NULL if it runs nothing.
static const char *text_of(struct defaults *d,
                           const struct sched_settings *shape, bool long_rows)
{
    struct compilation *c = d->c;
    struct diag_list quiet = {.arena = &c->scratch, .is_brief = true};
    struct sched_record record = {0};
    struct buf text = {0};
    struct pass p = {.kernel = ir_copy_kernel(&c->arena, d->kernel),
                     .arena = &c->arena,
                     .scratch = &c->scratch,
                     .names = &c->names,
                     .diags = &quiet,
                     .record = &record,
                     .asked = &c->asked};
    p.kernel->fast_math |= d->o->fast_math;
    if (!schedule_default(&p, &c->program.schedules, shape, long_rows) ||
        !record.directives.n)
        return NULL;
    buf_printf(&text, "schedule %s {\n", d->kernel->name);
    sched_record_print(&record, &text);
    buf_text(&text, "}\n");
    const char *kept = arena_copy(&c->arena, text.data, text.n);
    buf_free(&text);
    return kept;
}

// Return whether a text is there already.
static bool is_known(const struct defaults *d, const char *text)
{
    vec_foreach_value(other, &d->texts)
        if (strcmp(other, text) == 0)
            return true;
    return false;
}

// Return the call of the rule that stands for all, which has no parameters.
static struct sched_expr *call_of(struct defaults *d)
{
    struct sched_expr *by = arena_new(&d->c->arena, struct sched_expr);
    by->kind = SCHED_call;
    by->name = d->rule->name.text;
    by->span = d->kernel->span;
    return by;
}

// Add the default schedule in a shape, unless it is as another one.
static void add(struct defaults *d, const struct sched_settings *shape,
                bool long_rows)
{
    struct diag_list quiet = {.arena = &d->c->arena, .is_brief = true};
    const char *text = text_of(d, shape, long_rows);
    if (!text || is_known(d, text))
        return;
    struct sched_item *item =
        recorded_parse(d->c, "the default schedule", text, &quiet);
    if (!item)
        return;
    vec_push(&d->c->arena, &d->texts, text);
    item->rule = d->rule;
    item->by = call_of(d);
    vec_push(&d->c->arena, d->out, item);
}

void plan_defaults(struct compilation *c, const struct compile_options *o,
                   const struct ir_kernel *kernel, struct sched_items *out)
{
    struct defaults d = {.c = c, .o = o, .kernel = kernel, .out = out};
    d.rule = arena_new(&c->arena, struct sched_item);
    d.rule->name =
        (struct sched_name){str_name(&c->names, "default"), kernel->span};
    for (size_t t = 0; t < THREADS_N; t++)
        for (size_t w = 0; w < WAYS_N; w++) {
            struct sched_setting own[] = {
                {.name = "threads"}, {.name = "lanes"}, {.name = "each"}};
            struct sched_settings shape = {own, 3, 3};
            own[0].value = threads[t];
            own[1].value = ways[w].lanes;
            own[2].value = ways[w].each;
            add(&d, &shape, true);
            add(&d, &shape, false);
        }
}
