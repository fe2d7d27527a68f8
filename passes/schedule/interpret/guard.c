// Guards: conditions over the sizes of a kernel, which the launch evaluates.

#include "ir/build.h"
#include "ir/type.h"
#include "passes/schedule/interpret/interpret.h"

#include <string.h>

// Report what is wrong with a guard.
static struct ir_expr *
refuse_guard(struct interp *in, const struct sched_expr *x, const char *wrong)
{
    diag_error(in->pass->diags, x->span, D_schedule_guard, wrong);
    return NULL;
}

// Return the scalar parameter of the kernel with that name, or NULL.
static struct ir_var *find_param(const struct ir_kernel *k, const char *name)
{
    for (size_t i = 0; i < k->params.n; i++) {
        struct ir_var *var = k->params.at[i].var;
        if (var && strcmp(var->name, name) == 0)
            return var;
    }
    return NULL;
}

// Turn a name of a guard into a size or a number.
static struct ir_expr *guard_name(struct interp *in, const struct sched_expr *x)
{
    struct ir_var *var = find_param(in->pass->kernel, x->name);
    const struct sched_value *v = interp_get(in, x->name);
    if (v && v->kind == VALUE_int)
        return ir_int(in->pass->arena, v->number);
    if (v && v->kind == VALUE_expr)
        return v->expr;
    if (var && !in->frame->caller)
        return ir_at(in->pass->arena, ir_read(in->pass->arena, var), x->span);
    return refuse_guard(in, x,
                        arena_printf(in->pass->scratch,
                                     "`%s` is not a size of kernel `%s`",
                                     x->name, in->pass->kernel->name));
}

// Turn an operation of a guard into one of the kernel.
static struct ir_expr *guard_op(struct interp *in, const struct sched_expr *x,
                                enum ir_op op)
{
    struct arena *a = in->pass->arena;
    struct ir_expr *args[3];
    struct type types[3], result;
    const char *wrong;
    for (size_t i = 0; i < x->args.n; i++) {
        if (!(args[i] = interp_guard(in, x->args.at[i])))
            return NULL;
        types[i] = args[i]->type;
    }
    if (op == OP_select)
        return refuse_guard(in, x, "it chooses between values");
    if (!ir_result_type(in->pass->scratch, op, (uint32_t)x->args.n, types,
                        &result, &wrong))
        return refuse_guard(in, x, wrong);
    return ir_at(a,
                 x->args.n == 1 ? ir_unary(a, op, args[0])
                                : ir_binary(a, op, args[0], args[1]),
                 x->span);
}

// Return what a def consists of if that is the value it returns, or NULL.
static const struct sched_expr *only_return(const struct sched_item *def)
{
    if (def->body.n != 1 || def->body.at[0]->kind != SCHED_return)
        return NULL;
    return def->body.at[0]->value;
}

// Turn an argument of a def in a guard into a value.
static bool guard_value(struct interp *in, const struct sched_expr *x,
                        struct sched_value *out)
{
    *out = (struct sched_value){.kind = VALUE_expr, .span = x->span};
    out->expr = interp_guard(in, x);
    return out->expr != NULL;
}

// Turn the call of a def in a guard into what the def returns.
static struct ir_expr *guard_def(struct interp *in, const struct sched_expr *x,
                                 const struct sched_item *def)
{
    struct sched_frame frame = {
        .item = def, .caller = in->frame, .call = x->span};
    const struct sched_expr *value = only_return(def);
    if (!value)
        return refuse_guard(in, x,
                            arena_printf(in->pass->scratch,
                                         "`%s` does more than return a value",
                                         def->name.text));
    if (!interp_bind(in, x, &frame, guard_value))
        return NULL;
    struct sched_frame *caller = in->frame;
    in->frame = &frame;
    struct ir_expr *found = interp_guard(in, value);
    in->frame = caller;
    return found ? ir_at(in->pass->arena, found, x->span) : NULL;
}

struct ir_expr *interp_guard(struct interp *in, const struct sched_expr *x)
{
    const struct sched_item *def;
    enum ir_op op;
    if (x->kind == SCHED_int)
        return ir_int(in->pass->arena, x->value);
    if (x->kind == SCHED_name)
        return guard_name(in, x);
    if (x->kind == SCHED_op)
        return guard_op(in, x, x->op);
    if (x->kind == SCHED_call && x->args.n == 2 &&
        interp_operation(x->name, &op))
        return guard_op(in, x, op);
    if (x->kind == SCHED_call && (def = sched_find_def(in->program, x->name)))
        return guard_def(in, x, def);
    return refuse_guard(in, x,
                        "only sizes, integers, operators, `min`, `max` and "
                        "`ceildiv` of two, and defs that return such, belong "
                        "here");
}
