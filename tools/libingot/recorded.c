// Records of tuning become schedules: the text that a record stands for is printed
// and parsed, so that it makes what the same text in the file makes.

#include "tools/libingot/recorded.h"

#include "ir/text.h"
#include "nvptx/package/fatbin.h"
#include "passes/schedule/schedule.h"
#include "tools/libingot/plan.h"
#include "tools/libingot/schedule_case.h"

#include <string.h>

uint64_t recorded_hash(const struct ir_kernel *kernel)
{
    struct buf text = {0};
    ir_print_kernel(&text, kernel);
    uint64_t hash = fatbin_hash(text.data, text.n);
    buf_free(&text);
    return hash;
}

const char *recorded_print(struct arena *a, const struct record *r,
                           const struct ir_kernel *kernel,
                           const struct sched_items *items, struct buf *out)
{
    struct diag_list quiet = {.arena = a, .is_brief = true};
    const struct sched_item *item =
        r->number <= items->n ? items->at[r->number - 1] : NULL;
    struct schedule_case what = {.kernel = kernel,
                                 .item = item,
                                 .settings = &r->settings,
                                 .sizes = &r->sizes,
                                 .target = nvptx_target_find(r->arch, &quiet)};
    if (!item)
        return "it has no schedule of that number";
    const char *rule = item->rule ? item->rule->name.text : "";
    if (strcmp(rule, r->from == RECORD_RULE ? r->rule : "") != 0)
        return "that schedule is from elsewhere now";
    if (!what.target)
        return "there is no such architecture";
    schedule_case_print(a, &what, out);
    return NULL;
}

struct sched_item *recorded_parse(struct compilation *c, const char *name,
                                  const char *text, struct diag_list *diags)
{
    struct program *program = arena_new(&c->arena, struct program);
    struct source *source = arena_new(&c->arena, struct source);
    size_t n = strlen(text);
    *source = (struct source){name, arena_copy(&c->arena, text, n), n};
    if (!frontend_parse(&c->arena, &c->names, source, true, diags, program))
        return NULL;
    return program->schedules.schedules.n ? program->schedules.schedules.at[0]
                                          : NULL;
}

// Make the schedule of a text.  Returns NULL, or why it cannot be one.
static const char *make(struct compilation *c, const struct compile_options *o,
                        const struct ir_kernel *kernel, const struct record *r,
                        const char *text, struct recorded *out)
{
    struct diag_list quiet = {.arena = &c->arena, .is_brief = true};
    struct pass p = {.kernel = (struct ir_kernel *)kernel,
                     .arena = &c->arena,
                     .scratch = &c->scratch,
                     .names = &c->names,
                     .diags = &quiet};
    out->item = recorded_parse(
        c, arena_printf(&c->arena, "%s of a record", r->kernel), text, &quiet);
    if (!out->item || !schedule_guard(&p, &c->program.schedules, out->item,
                                      NULL, 0, &out->guard))
        return "its schedule cannot be read";
    struct planned *made = plan_apply(c, o, kernel, out->item,
                                      &(struct sched_settings){0}, NULL, NULL);
    if (!made || !made->kernel)
        return "its schedule cannot be applied";
    map_set(&c->planned, out->item, made);
    return NULL;
}

// Make the schedule of a record.  Returns NULL, or why it does not fit.
static const char *find(struct compilation *c, const struct compile_options *o,
                        const struct ir_kernel *kernel,
                        const struct sched_items *items, const struct record *r,
                        struct recorded *out)
{
    struct buf text = {0};
    if (r->kernel_hash != recorded_hash(kernel))
        return "the kernel computes something else now";
    const char *wrong = recorded_print(&c->arena, r, kernel, items, &text);
    if (!wrong && schedule_case_hash(text.data) != r->text_hash)
        wrong = "that schedule has changed";
    if (!wrong)
        wrong = make(c, o, kernel, r, text.data, out);
    buf_free(&text);
    return wrong;
}

// Append the schedules of the records of a kernel in a state.
static void find_all(struct compilation *c, const struct compile_options *o,
                     const struct ir_kernel *kernel,
                     const struct sched_items *items, const char *state,
                     struct recorded_list *out)
{
    vec_foreach(r, &c->records) {
        struct recorded one = {0};
        if (r->kernel != kernel->name || r->from == RECORD_BUILD ||
            strcmp(r->state, state) != 0)
            continue;
        const char *wrong = find(c, o, kernel, items, r, &one);
        if (wrong)
            diag_warning(&c->diags, r->span, D_stale_measure, kernel->name,
                         wrong);
        else
            vec_push(&c->arena, out, one);
    }
}

// Return whether a record is of a case of a rule behind the first `n` schedules.
static bool names_more(const struct compilation *c,
                       const struct ir_kernel *kernel, size_t n)
{
    vec_foreach(r, &c->records)
        if (r->kernel == kernel->name && r->from == RECORD_RULE &&
            r->number > n)
            return true;
    return false;
}

void recorded_find(struct compilation *c, const struct compile_options *o,
                   const struct ir_kernel *kernel,
                   const struct sched_items *items, struct recorded_list *out)
{
    struct sched_items all = {0};
    vec_append(&c->arena, &all, items);
    if (names_more(c, kernel, items->n))
        plan_more(c, o, kernel, &all);
    find_all(c, o, kernel, &all, "measured", out);
    find_all(c, o, kernel, &all, "predicted", out);
}
