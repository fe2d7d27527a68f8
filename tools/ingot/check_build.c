// The check before the results of a build are written.

#include "tools/ingot/check.h"

#include <math.h>

enum { BUILD_CASES = 6 };

// What the cases of a variant may cost, so that builds stay short.
#define BUILD_WORK 2e5

// Steps of a file, shared by its variants, after which each further case of a
// variant runs under one policy.
enum { BUILD_STEPS = 8000000 };

bool check_build(struct compilation *c, const struct compile_options *o)
{
    struct check_request request = {.problem = {.tolerance = -1},
                                    .policies = (1u << SIMT_POLICIES) - 1,
                                    .cases = BUILD_CASES,
                                    .is_strict = true,
                                    .seconds = INFINITY,
                                    .work = BUILD_WORK,
                                    .steps = BUILD_STEPS};
    struct check check = {.request = &request, .options = o, .c = c};
    struct problem_request any = {.seed = 1, .elements = ELEMENTS_distinct};
    request.problem.request = any;
    vec_push(&c->arena, &request.problem.runs, any);
    request.problem.definition.steps = 1000000000;
    bool ok = check_run(&check);
    ok = !check_tell(&check) && ok;
    cli_progress(NULL);
    check_free(&check);
    return ok;
}
