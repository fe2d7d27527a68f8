// What the results of a run are compared with.

#include "tools/ingot/run.h"

#include "tools/ingot/host.h"

// Work beyond this is compiled rather than interpreted.
#define HOST_STEPS 3e6

bool run_evaluate(const struct run_options *o, const struct ir_kernel *kernel,
                  struct eval_argument *arguments, struct diag_list *diags)
{
    struct eval_result r = ir_eval(diags->arena, kernel, arguments, o->steps);
    switch (r.status) {
    case EVAL_DONE: return true;
    case EVAL_REFUSED:
    case EVAL_FAULT: diag_error(diags, r.span, D_run_fault, r.text); break;
    case EVAL_LIMIT:
        diag_error(diags, (struct span){0}, D_run_too_long,
                   (long long)o->steps);
    }
    return false;
}

bool run_reference(const struct run_options *o, const struct problem *p,
                   const struct work *work, struct eval_argument *arguments,
                   struct diag_list *diags, const char **name)
{
    bool is_large = work->steps > HOST_STEPS;
    bool on_host = o->reference == REFERENCE_HOST ||
                   (o->reference == REFERENCE_AUTO && is_large &&
                    host_supports(diags->arena, p->kernel));
    *name = on_host ? "host" : "eval";
    if (on_host && !host_supports(diags->arena, p->kernel)) {
        diag_error(diags, (struct span){0}, D_host_build_failed,
                   "there is no C compiler `cc`, or the kernel has barriers");
        return false;
    }
    return on_host ? host_run(diags->arena, p, arguments, diags)
                   : run_evaluate(o, p->kernel, arguments, diags);
}
