// Checks the variants of a compilation, one after another.

#include "tools/ingot/check.h"

#include <stdlib.h>
#include <string.h>

static const char usual_target[] = "sm_90";

enum { ROUNDS = 3, SHARES_LEAST = 4 };
static const double more_work = 4, try_work = 8, special_work = 1e5;

const char *check_name(const struct variant *v)
{
    return v->kernel->variant && *v->kernel->variant ? v->kernel->variant
                                                     : "general";
}

// Return whether the command line asks for a variant, and some sizes may.
static bool is_wanted(const struct check *check, const struct variant *v)
{
    const struct check_request *q = check->request;
    char *end;

    unsigned long number = q->schedule ? strtoul(q->schedule, &end, 10) : 0;
    for (size_t i = 0; i < v->kernel->guard.n; i++)
        if (v->kernel->guard.at[i]->op == OP_const &&
            !v->kernel->guard.at[i]->u.i)
            return false;
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

// Return whether sizes cost no more than so many times what is chosen.
static bool is_affordable(struct check *check, const struct ir_kernel *kernel,
                          const struct problem_request *request)
{
    struct diag_list ignored = {.arena = &check->c->arena};
    struct problem p;
    const char *wrong;
    if (problem_make(&check->c->arena, kernel, request, &ignored, &p, &wrong) !=
        PROBLEM_READY)
        return true;
    return work_count(definition_of(kernel), p.values).steps <=
           try_work * check->request->work;
}

// Add the sizes that the text of a kernel says to try, unless the command line
// sets any, and what needs far more work than other cases.
static void open_tries(struct check *check, struct check_variant *v)
{
    const struct problem_options *o = &check->request->problem;
    struct arena *a = &check->c->arena;
    struct problem_requests tries = {0};
    if (!o->request.values.n)
        problem_tries(a, v->variant->source, &o->request, &tries);
    for (size_t i = 0; i < tries.n && !check->wrong; i++)
        if (is_affordable(check, v->variant->source, &tries.at[i]))
            vec_push(a, &v->choosers,
                     check_sizes_open(check, v->variant, &tries.at[i]));
}

// Begin to choose sizes, for each request.  Returns false with `wrong` set.
static bool open_choosers(struct check *check, struct check_variant *v)
{
    const struct problem_options *o = &check->request->problem;
    for (size_t i = 0; i < o->runs.n && !check->wrong; i++)
        vec_push(&check->c->arena, &v->choosers,
                 check_sizes_open(check, v->variant, &o->runs.at[i]));
    if (!check->wrong)
        open_tries(check, v);
    return !check->wrong;
}

// Make cases for about so much work.  Returns false after reporting.
static bool make_cases(struct check *check, struct check_variant *v, size_t n,
                       double work)
{
    struct check_sizes sizes = {0};
    for (size_t i = 0; i < v->choosers.n; i++)
        check_sizes_next(v->choosers.at[i], n, work, &sizes);
    for (size_t i = 0; i < sizes.n && !check->wrong; i++) {
        struct check_case *one =
            check_case(check, v->variant->source, &sizes.at[i]);
        if (!one)
            return false;
        vec_push(&check->c->arena, &v->cases, one);
        if (one->is_endless)
            break;
    }
    return !check->wrong;
}

// Return whether a variant is to run at further sizes: nothing was found, and
// some of its stores never ran, in none of their copies.
static bool wants_more(struct check *check, const struct check_variant *v)
{
    struct check_coverage coverage = {0};
    check_add_coverage(&check->c->arena, v, &coverage);
    return coverage.unwritten && v->end.end == ISOLATED_DONE &&
           !v->shared->n_findings;
}

// Run a variant at sizes that are chosen in rounds, each for more work, until
// all of its stores have run.  Returns false after reporting.
static bool run_rounds(struct check *check, struct check_variant *v)
{
    const struct check_request *q = check->request;
    size_t n = q->cases;
    double work = q->work;
    for (int round = 0; round < ROUNDS; round++) {
        size_t before = v->cases.n;
        if (!make_cases(check, v, n, work))
            return false;
        if (v->cases.n > before)
            check_variant_run(check, v, before);
        if (v->cases.n == before || !v->shared || !wants_more(check, v))
            return true;
        n = n / 2 + 1;
        work *= more_work;
    }
    return true;
}

// Return the case of most work that is little enough to be run on every special
// kind of elements, the one before `other`; NULL if there is none.
static const struct check_case *special_case(const struct check_variant *v,
                                             const struct check_case *other)
{
    const struct check_case *best = NULL;
    for (size_t i = 0; i < v->cases.n; i++) {
        const struct check_case *one = v->cases.at[i];
        if (one->work.steps <= special_work && one != other &&
            (!other || one->work.steps <= other->work.steps) &&
            (!best || one->work.steps > best->work.steps))
            best = one;
    }
    return best;
}

// Make cases of these sizes, of each special kind of elements, but for those
// that are as many iterations as a type has numbers.  Returns false after
// reporting.
static bool make_special(struct check *check, struct check_variant *v,
                         const struct check_case *like)
{
    struct problem_request request = like->request;
    for (int kind = 0; kind < ELEMENTS_COUNT; kind++) {
        request.elements = (enum elements)kind;
        if (!elements_are_special(request.elements))
            continue;
        struct check_case *one =
            check_case(check, v->variant->source, &request);
        if (!one)
            return false;
        if (!one->is_endless)
            vec_push(&check->c->arena, &v->cases, one);
    }
    return true;
}

// Run a variant whose text says what threads do on special elements, too: ties,
// zeros and limits decide what it reads, writes and waits for.  Returns false
// after reporting.
static bool run_special(struct check *check, struct check_variant *v)
{
    const struct check_case *first = special_case(v, NULL);
    size_t before = v->cases.n;
    if (!check_says_threads(v->variant->source) ||
        check->request->has_elements ||
        check->request->problem.request.values.n || !first || !v->shared ||
        v->shared->n_findings || v->end.end != ISOLATED_DONE)
        return true;
    const struct check_case *second = special_case(v, first);
    if (!make_special(check, v, first) ||
        (second && !make_special(check, v, second)))
        return false;
    check_variant_run(check, v, before);
    return true;
}

// Say what the text of a kernel should, before its first variant.
static void hint(struct check *check, const struct variant *variant)
{
    size_t n = check->variants.n;
    if (!n || check->variants.at[n - 1].variant->source != variant->source)
        problem_hint(&check->c->arena, variant->source,
                     &check->request->problem.request, &check->c->diags);
}

// Check one variant.  Returns false after reporting.
static bool check_one(struct check *check, const struct variant *variant)
{
    struct diag_list *diags = &check->c->diags;
    struct check_variant v = {.variant = variant};
    int errors = diags->errors;
    hint(check, variant);
    v.target = target_of(check, variant);
    bool ok = open_choosers(check, &v) && run_rounds(check, &v) &&
              run_special(check, &v);
    v.is_refused = !ok;
    vec_push(&check->c->arena, &check->variants, v);
    return ok && diags->errors == errors;
}

// Return what of the steps of a file each variant has.
static uint64_t share_steps(const struct check *check)
{
    uint64_t n = 0;
    for (size_t i = 0; i < check->c->variants.n; i++)
        n += is_wanted(check, &check->c->variants.at[i]);
    return check->request->steps / (n > SHARES_LEAST ? n : SHARES_LEAST);
}

bool check_run(struct check *check)
{
    struct compilation *c = check->c;
    bool ok = true;
    check->steps = share_steps(check);
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
