// What the cases of a rule share: the sizes that the names in front of them stand
// for, and guards.  They are found once, of the kernel as it is written; each case
// works on a copy of the kernel, which has parameters of its own.

#include "ir/build.h"
#include "ir/copy.h"
#include "passes/schedule/interpret/interpret.h"
#include "passes/schedule/schedule.h"

// Return whether the kernel is the one that others share with.
static bool is_original(const struct interp *in)
{
    return in->pass->known->kernel == in->pass->kernel;
}

// Note for each parameter of the kernel which one it is here.
static void find_parameters(struct interp *in)
{
    const struct ir_kernel *from = in->pass->known->kernel;
    in->here.arena = in->pass->scratch;
    for (size_t i = 0; i < from->params.n; i++)
        if (from->params.at[i].var)
            map_set(
                &in->here, from->params.at[i].var,
                ir_read(in->pass->arena, in->pass->kernel->params.at[i].var));
}

struct ir_expr *interp_here(struct interp *in, struct ir_expr *x)
{
    if (!in->pass->known || is_original(in) || x->op == OP_const)
        return x;
    if (!in->here.n)
        find_parameters(in);
    return ir_substitute(in->pass->arena, x, &in->here, NULL);
}

struct ir_expr *interp_known(struct interp *in, const void *of)
{
    return in->pass->known ? map_get(&in->pass->known->sizes, of) : NULL;
}

void interp_know(struct interp *in, const void *of, struct ir_expr *x)
{
    if (in->pass->known && x && is_original(in))
        map_set(&in->pass->known->sizes, of, x);
}
