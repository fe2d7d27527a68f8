// Questions about the schedules of a compilation.

#include "ir/schedule.h"

#include "ir/base/suggest.h"

#include <string.h>

const struct sched_contract_info *
sched_contract_info(enum sched_contract_kind kind)
{
    enum { PLAIN, NUMBER };
    static const struct sched_contract_info rows[] = {
#define CONTRACT(name, number, seen, diagnostic, meaning)                      \
    {#name, (number) == NUMBER, CONTRACT_##seen, D_##diagnostic, meaning},
#include "ir/contracts.def"
#undef CONTRACT
    };
    return &rows[kind];
}

const struct sched_item *sched_find_item(const struct sched_items *items,
                                         const char *name)
{
    vec_foreach_value(item, items)
        if (item->name.text == name)
            return item;
    return NULL;
}

size_t sched_least_arguments(const struct sched_item *item)
{
    size_t least = item->params.n;
    while (least && item->params.at[least - 1].initial)
        least--;
    return least;
}

void sched_read(const struct sched_item *item)
{
    if (item->unread)
        item->unread->read(item->unread);
}

const struct sched_item *sched_find_def(const struct sched_program *program,
                                        const char *name)
{
    const struct sched_item *found = map_get(&program->named, name);
    if (!found && program->fallback)
        return sched_find_def(program->fallback, name);
    if (found)
        sched_read(found);
    return found;
}

bool sched_names(const char *name, const struct ir_kernel *kernel)
{
    return strcmp(name, kernel->name) == 0 ||
           (kernel->family && strcmp(name, kernel->family) == 0);
}

bool sched_is_for(const struct sched_item *schedule,
                  const struct ir_kernel *kernel)
{
    bool found = sched_names(schedule->name.text, kernel);
    vec_foreach(other, &schedule->others)
        found |= sched_names(other->text, kernel);
    return found;
}

// Report a name of a schedule unless it is that of one of the kernels.
static void check_name(const struct sched_name *name,
                       const struct ir_kernel *const *kernels, size_t n,
                       struct diag_list *diags)
{
    struct suggest s = {.wanted = name->text};
    for (size_t i = 0; i < n; i++) {
        if (sched_names(name->text, kernels[i]))
            return;
        suggest_offer(&s, kernels[i]->name);
        if (kernels[i]->family)
            suggest_offer(&s, kernels[i]->family);
    }
    diag_error(diags, name->span, D_schedule_unknown_kernel, name->text);
    suggest_help(diags, &s);
}

void sched_check_kernels(const struct sched_program *program,
                         const struct ir_kernel *const *kernels, size_t n,
                         struct diag_list *diags)
{
    vec_foreach_value(item, &program->schedules) {
        check_name(&item->name, kernels, n, diags);
        vec_foreach(other, &item->others)
            check_name(other, kernels, n, diags);
    }
}

// Return whether a knob has the name that is searched for; offer all names.
static bool is_knob(const struct sched_knobs *knobs, struct suggest *s)
{
    bool found = false;
    for (size_t i = 0; i < knobs->n; i++) {
        found |= strcmp(knobs->at[i].name, s->wanted) == 0;
        suggest_offer(s, knobs->at[i].name);
    }
    return found;
}

// Return whether a parameter, or a knob that the schedule begins with, has the
// name that is searched for; offer all names.
static bool is_declared(const struct sched_item *item, struct suggest *s)
{
    bool found = false;
    for (size_t i = 0; i < item->params.n; i++) {
        const char *name = item->params.at[i].name.text;
        found |= strcmp(name, s->wanted) == 0;
        suggest_offer(s, name);
    }
    for (size_t i = 0; i < item->body.n; i++) {
        const struct sched_stmt *stmt = item->body.at[i];
        if (stmt->kind == SCHED_set)
            continue;
        if (stmt->kind != SCHED_tune)
            break;
        found |= strcmp(stmt->names.at[0].text, s->wanted) == 0;
        suggest_offer(s, stmt->names.at[0].text);
    }
    return found;
}

bool sched_has_setting(const struct sched_item *schedule,
                       const struct sched_knobs *knobs, const char *name)
{
    struct suggest s = {.wanted = name};
    return is_declared(schedule, &s) || is_knob(knobs, &s);
}

void sched_check_settings(const struct sched_items *schedules,
                          const struct sched_knobs *knobs,
                          const struct sched_setting *settings, size_t n,
                          struct diag_list *diags)
{
    for (size_t i = 0; i < n; i++) {
        struct suggest s = {.wanted = settings[i].name};
        bool found = is_knob(knobs, &s);
        for (size_t k = 0; k < schedules->n; k++)
            found |= is_declared(schedules->at[k], &s);
        if (found)
            continue;
        diag_error(diags, (struct span){0}, D_schedule_unknown_setting,
                   settings[i].name);
        suggest_help(diags, &s);
    }
}
