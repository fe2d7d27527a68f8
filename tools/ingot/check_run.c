// Checks the variants of a compilation, one after another.

#include "tools/ingot/check.h"

#include <stdlib.h>
#include <string.h>

static const char usual_target[] = "sm_90";

const char *check_name(const struct variant *v)
{
    return v->kernel->variant && *v->kernel->variant ? v->kernel->variant
                                                     : "general";
}

// Return whether the command line asks for a variant.
static bool is_wanted(const struct check *check, const struct variant *v)
{
    const struct check_request *q = check->request;
    char *end;
    unsigned long number = q->schedule ? strtoul(q->schedule, &end, 10) : 0;
    if (q->problem.kernel && strcmp(q->problem.kernel, v->source->name) != 0)
        return false;
    return !q->schedule || strcmp(q->schedule, check_name(v)) == 0 ||
           (*q->schedule && !*end && v->number == number);
}

// Return the architecture whose code of a variant runs: one that was asked
// for, the usual one, or the first that has it.
static const struct nvptx_target *target_of(const struct check *check,
                                            const struct variant *v)
{
    const struct compile_options *o = check->options;
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n), *first = NULL;
    for (size_t i = 0; i < o->n_targets; i++)
        if (target_set_has(v->targets, o->targets[i]))
            return o->targets[i];
    for (size_t i = n; i-- > 0;)
        if (target_set_has(v->targets, &all[i]) &&
            (!first || strcmp(first->name, usual_target) != 0))
            first = &all[i];
    return first;
}

// Make the cases of a variant, of each request.  Returns false after reporting.
static bool make_cases(struct check *check, struct check_variant *v)
{
    const struct problem_options *o = &check->request->problem;
    struct check_sizes sizes = {0};
    for (size_t i = 0; i < o->runs.n && !check->wrong; i++)
        check_choose_sizes(check, v->variant, &o->runs.at[i], &sizes);
    for (size_t i = 0; i < sizes.n && !check->wrong; i++) {
        struct check_case *one =
            check_case(check, v->variant->source, &sizes.at[i]);
        if (!one)
            return false;
        vec_push(&check->c->arena, &v->cases, one);
    }
    return !check->wrong;
}

// Check one variant.  Returns false after reporting.
static bool check_one(struct check *check, const struct variant *variant)
{
    struct diag_list *diags = &check->c->diags;
    struct check_variant v = {.variant = variant};
    int errors = diags->errors;
    v.target = target_of(check, variant);
    bool ok = make_cases(check, &v);
    if (ok && v.cases.n)
        check_variant_run(check, &v);
    vec_push(&check->c->arena, &check->variants, v);
    return ok && diags->errors == errors;
}

bool check_run(struct check *check)
{
    struct compilation *c = check->c;
    bool ok = true;
    for (size_t i = 0; i < c->variants.n && ok; i++)
        if (is_wanted(check, &c->variants.at[i]))
            ok = check_one(check, &c->variants.at[i]);
    if (ok && !check->variants.n && check->request->schedule) {
        check->wrong = arena_printf(&c->arena, "there is no schedule `%s`",
                                    check->request->schedule);
        return false;
    }
    return ok;
}

void check_free(struct check *check)
{
    for (size_t i = 0; i < check->cases.n; i++)
        problem_free_arguments(&check->cases.at[i]->problem,
                               check->cases.at[i]->want);
    for (size_t i = 0; i < check->variants.n; i++)
        isolated_free(check->variants.at[i].shared,
                      sizeof *check->variants.at[i].shared);
}
