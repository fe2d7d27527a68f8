// What the results of a run are compared with.

#include "tools/ingot/definition.h"

#include "tools/ingot/host.h"

// Work beyond this is compiled rather than interpreted.
#define HOST_STEPS 3e6

bool definition_evaluate(const struct ir_kernel *kernel,
                         struct eval_argument *arguments, uint64_t steps,
                         struct diag_list *diags)
{
    struct eval_result r = ir_eval(diags->arena, kernel, arguments, steps);
    switch (r.status) {
    case EVAL_DONE: return true;
    case EVAL_REFUSED:
    case EVAL_FAULT: diag_error(diags, r.span, D_run_fault, r.text); break;
    case EVAL_LIMIT:
        diag_error(diags, (struct span){0}, D_run_too_long, (long long)steps);
    }
    return false;
}

bool definition_run(const struct definition_request *request,
                    const struct problem *p, const struct work *work,
                    struct eval_argument *arguments, struct diag_list *diags,
                    const char **name)
{
    bool is_large = work->steps > HOST_STEPS;
    bool on_host = request->by == DEFINITION_HOST ||
                   (request->by == DEFINITION_AUTO && is_large &&
                    host_supports(diags->arena, p->kernel));
    *name = on_host ? "host" : "eval";
    if (on_host && !host_supports(diags->arena, p->kernel)) {
        diag_error(diags, (struct span){0}, D_host_build_failed,
                   "there is no C compiler `cc`, or the kernel has barriers");
        return false;
    }
    return on_host ? host_run(diags->arena, p, arguments, diags)
                   : definition_evaluate(p->kernel, arguments, request->steps,
                                         diags);
}
