// Sizes become data, and the results that the definition computes from it.

#include "tools/ingot/check.h"

#include "tools/ingot/equivalence.h"
#include "tools/ingot/unwritten.h"

#include "ir/walk.h"

#include <math.h>
#include <string.h>

// Steps of a run that say that it hangs: so many, fewer where it is known what
// threads do, and so many for each statement of the definition, or of the
// kernel's own text.
#define HANG_STEPS           5e7
#define THREADS_STEPS        1e6
#define HANG_STEPS_STATEMENT 1024
#define OWN_STEPS_STATEMENT  16
#define CHOSEN_STATEMENTS    4e6 // at most, if the sizes are not the user's

// Return whether a case has these values of its parameters.
static bool is_same(const struct check_case *one, const struct problem *p)
{
    const struct ir_kernel *k = p->kernel;
    if (one->problem.kernel != k || one->problem.elements != p->elements)
        return false;
    for (size_t i = 0; i < k->params.n; i++)
        if (k->params.at[i].var &&
            memcmp(&one->problem.values[i].scalar, &p->values[i].scalar,
                   sizeof p->values[i].scalar) != 0)
            return false;
    return true;
}

uint64_t check_most_steps(const struct check *check,
                          const struct check_case *one)
{
    bool is_chosen = !check->request->problem.request.values.n;
    if (one->threads_steps > 0)
        return (uint64_t)(THREADS_STEPS +
                          HANG_STEPS_STATEMENT * one->threads_steps);
    double statements = one->work.steps;
    if (is_chosen && statements > CHOSEN_STATEMENTS)
        statements = CHOSEN_STATEMENTS;
    double steps = HANG_STEPS + fmax(HANG_STEPS_STATEMENT * statements,
                                     OWN_STEPS_STATEMENT * one->own_steps);
    return steps < 1e18 ? (uint64_t)steps : UINT64_C(1000000000000000000);
}

bool check_says_threads(const struct ir_kernel *kernel)
{
    ir_foreach_stmt(s, &kernel->body)
        if (s->kind == STMT_launch ||
            (s->kind == STMT_for && axis_kind(s->u.loop.axis) >= AXIS_BLOCK))
            return true;
    return false;
}

bool check_has_threads(const struct ir_kernel *kernel)
{
    return definition_of(kernel) == kernel && check_says_threads(kernel);
}

// Return the statements that the threads of a kernel ran, 0 if it is not the
// definition that says what threads do, or if nobody counted.
static double threads_steps(const struct check_case *one,
                            const struct eval_watch *watch)
{
    return check_has_threads(one->problem.kernel) ? (double)watch->steps : 0;
}

// Throw the results of a definition away.
static void forget(struct check_case *one)
{
    problem_free_arguments(&one->problem, one->want);
    one->want = NULL;
}

// Compute what the definition says.  A fault of its own is kept: the executor
// may have a better name for it, as it has where threads wait for ever.  Returns
// false after reporting.
static bool define(struct check *check, struct check_case *one)
{
    struct definition_request how = check->request->problem.definition;
    struct arena *a = &check->c->arena;
    struct diag_list faults = {.arena = a};
    const char *by;
    if (how.by == DEFINITION_NONE)
        return true;
    if (check_most_steps(check, one) < how.steps)
        how.steps = check_most_steps(check, one);
    how.watch = arena_new(a, struct eval_watch);
    one->want = problem_arguments(a, &one->problem, &check->c->diags);
    if (!one->want)
        return false;
    if (definition_run(&how, &one->problem, &one->work, one->want, &faults,
                       &by)) {
        one->threads_steps = threads_steps(one, how.watch);
        one->unwritten =
            unwritten_find(&how, &one->problem, one->want, how.watch);
        if (one->unwritten)
            forget(one);
        return true;
    }
    forget(one);
    if (faults.all.at[0].code == D_run_waits)
        return true;
    one->fault = faults.all.at[0].text;
    one->is_endless = faults.all.at[0].code == D_run_too_long;
    one->fault_span = faults.all.at[0].span;
    return true;
}

// Refuse --unordered where it means nothing.
static bool check_unordered(struct check *check, const struct check_case *one)
{
    struct equivalence e = {.problem = &one->problem,
                            .unordered = check->request->problem.unordered};
    if (equivalence_valid(&e))
        return true;
    check->wrong = EQUIVALENCE_USAGE;
    return false;
}

struct check_case *check_case(struct check *check,
                              const struct ir_kernel *kernel,
                              const struct problem_request *sizes)
{
    struct arena *a = &check->c->arena;
    struct check_case *one = arena_new(a, struct check_case);
    one->request = *sizes;
    enum problem_result made = problem_make(a, kernel, sizes, &check->c->diags,
                                            &one->problem, &check->wrong);
    one->problem.is_sparse = true;
    if (made != PROBLEM_READY || !check_unordered(check, one))
        return NULL;
    for (size_t i = 0; i < check->cases.n; i++)
        if (is_same(check->cases.at[i], &one->problem))
            return check->cases.at[i];
    one->work = work_count(definition_of(kernel), one->problem.values);
    if (definition_of(kernel) != kernel && check_says_threads(kernel))
        one->own_steps = work_count(kernel, one->problem.values).steps;
    if (!define(check, one))
        return NULL;
    vec_push(a, &check->cases, one);
    return one;
}

const char *check_sizes_text(struct arena *a, const struct check_case *one)
{
    const struct ir_kernel *k = one->problem.kernel;
    const char *text = "";
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_var *var = k->params.at[i].var;
        if (var && type_is_index(var->type))
            text = arena_printf(a, "%s%s%s=%lld", text, *text ? "," : "",
                                var->name,
                                (long long)one->problem.values[i].scalar.i);
    }
    return text;
}
