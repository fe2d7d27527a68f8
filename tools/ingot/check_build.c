// The check before the results of a build are written.

#include "tools/ingot/check.h"

enum { BUILD_CASES = 4, BUILD_SECONDS = 20 };

// What a case may cost: small sizes, so that builds stay short.
#define BUILD_WORK 1e4

bool check_build(struct compilation *c, const struct compile_options *o)
{
    struct check_request request = {.problem = {.tolerance = -1},
                                    .policies = (1u << SIMT_POLICIES) - 1,
                                    .cases = BUILD_CASES,
                                    .seconds = BUILD_SECONDS,
                                    .work = BUILD_WORK};
    struct check check = {.request = &request, .options = o, .c = c};
    struct problem_request any = {.seed = 1, .is_distinct = true};
    request.problem.request = any;
    vec_push(&c->arena, &request.problem.runs, any);
    request.problem.definition.steps = 1000000;
    bool ok = check_run(&check);
    ok = !check_tell(&check) && ok;
    cli_progress(NULL);
    check_free(&check);
    return ok;
}
