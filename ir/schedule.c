// Questions about the schedules of a compilation.

#include "ir/schedule.h"

#include "ir/base/suggest.h"

#include <string.h>

const struct sched_item *sched_find_def(const struct sched_program *program,
                                        const char *name)
{
    for (size_t i = 0; i < program->defs.n; i++) {
        if (program->defs.at[i]->name.text == name)
            return program->defs.at[i];
    }
    return NULL;
}

// Add "did you mean" to the newest diagnostic if a search found something.
static void help_with(struct diag_list *diags, const struct suggest *s)
{
    char text[256];
    suggest_text(s, text, sizeof text);
    if (suggest_any(s))
        diag_help(diags, "did you mean %s?", text);
}

// Report a schedule unless it names one of the kernels.
static void check_kernel(const struct sched_item *item,
                         const struct ir_kernel *const *kernels, size_t n,
                         struct diag_list *diags)
{
    struct suggest s = {.wanted = item->name.text};
    for (size_t i = 0; i < n; i++) {
        if (strcmp(kernels[i]->name, item->name.text) == 0)
            return;
        suggest_offer(&s, kernels[i]->name);
    }
    diag_error(diags, item->name.span, D_schedule_unknown_kernel,
               item->name.text);
    help_with(diags, &s);
}

void sched_check_kernels(const struct sched_program *program,
                         const struct ir_kernel *const *kernels, size_t n,
                         struct diag_list *diags)
{
    for (size_t i = 0; i < program->schedules.n; i++)
        check_kernel(program->schedules.at[i], kernels, n, diags);
}

// Return whether a schedule has the parameter; offer its names to a search.
static bool has_param(const struct sched_item *item, struct suggest *s)
{
    bool found = false;
    for (size_t i = 0; i < item->params.n; i++) {
        const char *name = item->params.at[i].name.text;
        found |= strcmp(name, s->wanted) == 0;
        suggest_offer(s, name);
    }
    return found;
}

void sched_check_settings(const struct sched_program *program,
                          const struct sched_setting *settings, size_t n,
                          struct diag_list *diags)
{
    for (size_t i = 0; i < n; i++) {
        struct suggest s = {.wanted = settings[i].name};
        bool found = false;
        for (size_t k = 0; k < program->schedules.n; k++)
            found |= has_param(program->schedules.at[k], &s);
        if (found)
            continue;
        diag_error(diags, (struct span){0}, D_schedule_unknown_setting,
                   settings[i].name);
        help_with(diags, &s);
    }
}
