// Iteration domains as integer sets: the questions.

#include "passes/analysis/domain_build.h"

// Make an example of a set that is not empty.
static void make_example(const struct domain *d, isl_set *set,
                         struct domain_example *out)
{
    const int64_t *values = domain_first_point(d, set);
    for (size_t i = 0; values && i < d->symbols.n; i++) {
        const struct domain_symbol *s = &d->symbols.at[i];
        struct domain_value value = {s->var, values[i]};
        if (s->id && s->var)
            vec_push(d->arena, out, value);
    }
}

// Return the part of the set where the index is outside of the extent.
static isl_set *outside(struct domain *d, const struct domain_access *access)
{
    isl_pw_aff *index = domain_value(d, access->index);
    isl_pw_aff *extent = domain_value(d, access->extent);
    isl_set *inside = isl_pw_aff_nonneg_set(isl_pw_aff_copy(index));
    inside = isl_set_intersect(inside, isl_pw_aff_lt_set(index, extent));
    return isl_set_subtract(isl_set_copy(d->set), inside);
}

bool domain_covers(isl_ctx *ctx, struct arena *a,
                   const struct ir_kernel *kernel, struct ir_expr *own,
                   struct ir_expr *const *others, size_t n)
{
    struct domain d;
    struct domain_step step = {NULL, own, true};
    domain_start(&d, ctx, a, kernel, NULL);
    if (own)
        domain_enter(&d, &step);
    for (size_t i = 0; i < n; i++) {
        isl_set *taken = domain_condition(&d, others[i]);
        if (taken)
            d.set = isl_set_subtract(d.set, taken);
    }
    bool covers = isl_set_is_empty(d.set) == isl_bool_true;
    domain_finish(&d);
    return covers;
}

// Return whether every size with which the set is reached is one with which a
// part of it is reached, too, and there are any.
static bool is_always(const struct domain *d, isl_set *part)
{
    isl_set *reached = domain_project(d, isl_set_copy(d->set), 0);
    isl_set *hit = domain_project(d, isl_set_copy(part), 0);
    bool always = isl_set_is_empty(hit) == isl_bool_false &&
                  isl_set_is_equal(reached, hit) == isl_bool_true;
    isl_set_free(hit);
    isl_set_free(reached);
    return always;
}

bool domain_leaves(isl_ctx *ctx, struct arena *a,
                   const struct domain_access *access,
                   struct domain_example *example)
{
    struct domain d;
    domain_start(&d, ctx, a, access->kernel, NULL);
    for (size_t i = 0; i < access->path->n; i++)
        domain_enter(&d, &access->path->at[i]);
    isl_set *wrong = d.is_exact ? outside(&d, access) : NULL;
    bool leaves = wrong && isl_set_is_empty(wrong) == isl_bool_false &&
                  is_always(&d, wrong);
    if (leaves)
        make_example(&d, isl_set_copy(wrong), example);
    isl_set_free(wrong);
    domain_finish(&d);
    return leaves;
}
