// What the results of a run are compared with.

#include "tools/ingot/definition.h"

#include "tools/ingot/host.h"

// Work beyond this is compiled rather than interpreted, unless there may be so
// much that it would not end: only the evaluator has a limit.
#define HOST_STEPS      3e6
#define HOST_STEPS_MOST 1e9

const struct ir_kernel *definition_of(const struct ir_kernel *kernel)
{
    return kernel->definition ? kernel->definition : kernel;
}

bool definition_evaluate(const struct definition_request *request,
                         const struct ir_kernel *kernel,
                         struct eval_argument *arguments,
                         struct diag_list *diags)
{
    struct eval_result r =
        ir_eval_printed(diags->arena, kernel, arguments, request->steps,
                        request->watch, request->printed);
    switch (r.status) {
    case EVAL_DONE: return true;
    case EVAL_REFUSED:
    case EVAL_WAITS: diag_error(diags, r.span, D_run_waits); break;
    case EVAL_FAULT: diag_error(diags, r.span, D_run_fault, r.text); break;
    case EVAL_LIMIT:
        diag_error(diags, (struct span){0}, D_run_too_long, r.text);
    }
    return false;
}

bool definition_run(const struct definition_request *request,
                    const struct problem *p, const struct work *work,
                    struct eval_argument *arguments, struct diag_list *diags,
                    const char **name)
{
    bool may_hang = work->most > work->steps && work->most > HOST_STEPS_MOST;
    struct problem defined = *p;
    defined.kernel = definition_of(p->kernel);
    bool on_host =
        request->by == DEFINITION_HOST ||
        (request->by == DEFINITION_AUTO && work->steps > HOST_STEPS &&
         !may_hang && host_supports(diags->arena, defined.kernel));
    *name = on_host ? "host" : "eval";
    if (on_host && !host_supports(diags->arena, defined.kernel)) {
        diag_error(diags, (struct span){0}, D_host_build_failed,
                   "there is no C compiler `cc`, or the kernel has barriers");
        return false;
    }
    return on_host
               ? host_run(diags->arena, &defined, arguments, diags)
               : definition_evaluate(request, defined.kernel, arguments, diags);
}
