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

// Return the array that a name of a guard stands for, or NULL.
static const struct ir_buffer *guard_array(struct interp *in,
                                           const struct sched_expr *x)
{
    const struct sched_value *v =
        x->kind == SCHED_name ? interp_get(in, x->name) : NULL;
    if (v && v->kind == VALUE_stage)
        return sched_stored(v->stmt);
    if (v || x->kind != SCHED_name)
        return v && v->kind == VALUE_array ? v->buffer : NULL;
    vec_foreach(param, &in->pass->kernel->params)
        if (param->buffer && strcmp(param->buffer->name, x->name) == 0)
            return param->buffer;
    return NULL;
}

struct ir_expr *interp_pitch(const struct ir_buffer *b, uint32_t d)
{
    return b->strides         ? b->strides[d]
           : d + 2 == b->rank ? b->shape[d + 1]
                              : NULL;
}

// Turn `aligned(array, bytes)` into a condition on the sizes: each row of the
// array begins at a multiple of that many bytes if the array does.
static struct ir_expr *guard_aligned(struct interp *in,
                                     const struct sched_expr *x)
{
    struct arena *a = in->pass->arena;
    const struct ir_buffer *b = guard_array(in, x->args.at[0]);
    struct ir_expr *bytes = interp_guard(in, x->args.at[1]), *all = NULL;
    int64_t n;
    if (!bytes)
        return NULL;
    if (!b || !ir_int_value(bytes, &n) || n < 1 || n > 4096 || n & (n - 1))
        return refuse_guard(in, x,
                            "`aligned` takes an array of the kernel and a "
                            "power of two, at most 4096");
    int64_t elements = n / (int64_t)type_bytes(b->elem);
    for (uint32_t d = 0; d + 1 < b->rank && elements > 1; d++) {
        struct ir_expr *pitch = interp_pitch(b, d);
        if (!pitch)
            continue;
        struct ir_expr *rest = ir_binary(a, OP_mod, pitch, ir_int(a, elements));
        struct ir_expr *fits = ir_binary(a, OP_eq, rest, ir_int(a, 0));
        all = all ? ir_binary(a, OP_and, all, fits) : fits;
    }
    return all ? ir_at(a, all, x->span) : ir_bool(a, true);
}

// Turn a name of a guard into a size or a number.
static struct ir_expr *guard_name(struct interp *in, const struct sched_expr *x)
{
    struct ir_var *var = find_param(in->pass->kernel, x->name);
    const struct sched_value *v = interp_get(in, x->name);
    struct sched_value value;
    if (!v && interp_static(in, x->name, &value))
        v = &value;
    if (v && v->kind == VALUE_int)
        return ir_int(in->pass->arena, v->number);
    if (v && v->kind == VALUE_expr)
        return interp_here(in, v->expr);
    if (var && !in->frame->caller)
        return ir_at(in->pass->arena, ir_read(in->pass->arena, var), x->span);
    if (!v && strcmp(x->name, "sms") == 0)
        return ir_at(
            in->pass->arena,
            ir_unary(in->pass->arena, OP_resident, ir_int(in->pass->arena, 1)),
            x->span);
    return refuse_guard(in, x,
                        arena_printf(in->pass->scratch,
                                     "`%s` is not a size of kernel `%s`",
                                     x->name, in->pass->kernel->name));
}

// Return what a def consists of if that is the value it returns, or NULL.
static const struct sched_expr *only_return(const struct sched_item *def)
{
    if (def->body.n != 1 || def->body.at[0]->kind != SCHED_return)
        return NULL;
    return def->body.at[0]->value;
}

// Return whether a call asks something of stages, loops, arrays or lists.
static bool asks(const struct interp *in, const struct sched_expr *x)
{
    const struct sched_item *def = sched_find_def(in->program, x->name);
    return def ? !only_return(def)
               : interp_look(x->name) || strcmp(x->name, "len") == 0;
}

// Return whether an expression is about stages, loops, arrays or lists.
static bool is_about_parts(const struct interp *in, const struct sched_expr *x)
{
    const struct sched_value *v =
        x->kind == SCHED_name ? interp_get(in, x->name) : NULL;
    if (x->kind == SCHED_name)
        return v && v->kind != VALUE_int && v->kind != VALUE_expr;
    return x->kind == SCHED_member || x->kind == SCHED_index ||
           x->kind == SCHED_slice || x->kind == SCHED_list ||
           (x->kind == SCHED_call && asks(in, x));
}

// Report a def that is called with sizes and does more than return a value.
static bool check_asked(struct interp *in, const struct sched_expr *x)
{
    for (size_t i = 0; x->kind == SCHED_call && i < x->args.n; i++) {
        const struct sched_expr *arg = x->args.at[i];
        if (arg->kind == SCHED_name && !interp_get(in, arg->name) &&
            find_param(in->pass->kernel, arg->name))
            return refuse_guard(
                in, x,
                arena_printf(in->pass->scratch,
                             "`%s` does more than return a value", x->name));
    }
    return true;
}

// Turn what is asked of the kernel into a number or a size.
static struct ir_expr *guard_look(struct interp *in, const struct sched_expr *x)
{
    struct sched_value v;
    if (!check_asked(in, x))
        return NULL;
    if (!interp_expr(in, x, &v))
        return NULL;
    if (v.kind == VALUE_int)
        return ir_int(in->pass->arena, v.number);
    if (v.kind == VALUE_expr)
        return ir_at(in->pass->arena, interp_here(in, v.expr), x->span);
    return refuse_guard(in, x, "it is neither a number nor a size");
}

// Set `out` to whether two stages, loops or arrays are the same, if that is what
// `x` asks; NULL after an error.
static bool compare_parts(struct interp *in, const struct sched_expr *x,
                          struct ir_expr **out)
{
    struct sched_value v;
    if (x->kind != SCHED_op || (x->op != OP_eq && x->op != OP_ne))
        return false;
    const struct sched_expr *left = x->args.at[0];
    if (!is_about_parts(in, left) ||
        (left->kind == SCHED_call && !interp_look(left->name)))
        return false;
    *out = NULL;
    if (!interp_expr(in, left, &v))
        return true;
    if (v.kind != VALUE_stage && v.kind != VALUE_loop && v.kind != VALUE_array)
        return false;
    if (interp_expr(in, x, &v))
        *out = ir_bool(in->pass->arena, v.number);
    return true;
}

// Set `out` to the comparison of two words, if that is what `x` is.
static bool compare_words(struct interp *in, const struct sched_expr *x,
                          struct ir_expr **out)
{
    struct sched_value left;
    bool same;
    if (x->kind != SCHED_op || (x->op != OP_eq && x->op != OP_ne) ||
        x->args.at[0]->kind != SCHED_name ||
        !interp_word(in, x->args.at[0], &left))
        return false;
    bool ok = interp_same_word(in, x->args.at[1], &left, &same);
    *out = ok ? ir_bool(in->pass->arena, same == (x->op == OP_eq)) : NULL;
    return true;
}

// Turn `&&`, `||` or `?:` whose first operand is known into the operand that
// is left; false if it is none, or not known.
static bool settle(struct interp *in, const struct sched_expr *x,
                   const struct ir_expr *first, struct ir_expr **out)
{
    bool is_known = first->type.kind == TYPE_bool ||
                    (first->type.kind == TYPE_int && x->op == OP_select);
    if (first->op != OP_const || !is_known ||
        (x->op != OP_and && x->op != OP_or && x->op != OP_select))
        return false;
    bool known = first->u.i;
    if (x->op == OP_select)
        *out = interp_guard(in, x->args.at[known ? 1 : 2]);
    else if (known == (x->op == OP_or))
        *out = ir_bool(in->pass->arena, known);
    else
        *out = interp_guard(in, x->args.at[1]);
    return true;
}

// Turn an operation of a guard into one of the kernel.
static struct ir_expr *guard_op(struct interp *in, const struct sched_expr *x,
                                enum ir_op op)
{
    struct arena *a = in->pass->arena;
    struct ir_expr *args[3];
    struct type types[3], result;
    const char *wrong;
    if (compare_words(in, x, &args[0]) || compare_parts(in, x, &args[0]))
        return args[0];
    if (!(args[0] = interp_guard(in, x->args.at[0])))
        return NULL;
    if (x->kind == SCHED_op && settle(in, x, args[0], &args[1]))
        return args[1];
    types[0] = args[0]->type;
    for (size_t i = 1; i < x->args.n; i++) {
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

// Turn an argument of a def in a guard into a value.
static bool guard_value(struct interp *in, const struct sched_expr *x,
                        struct sched_value *out)
{
    if (is_about_parts(in, x))
        return interp_expr(in, x, out);
    const struct ir_buffer *b = guard_array(in, x);
    if (!b && x->kind == SCHED_name && interp_word(in, x, out))
        return true;
    *out = (struct sched_value){.kind = b ? VALUE_array : VALUE_expr,
                                .span = x->span,
                                .buffer = (struct ir_buffer *)b};
    out->expr = b ? NULL : interp_guard(in, x);
    return b || out->expr;
}

// Turn the call of a def in a guard into what the def returns.
static struct ir_expr *guard_def(struct interp *in, const struct sched_expr *x,
                                 const struct sched_item *def)
{
    struct sched_frame frame = {
        .item = def, .caller = in->frame, .call = x->span};
    const struct sched_expr *value = only_return(def);
    if (!interp_bind(in, x, &frame, guard_value))
        return NULL;
    struct sched_frame *caller = in->frame;
    in->frame = &frame;
    struct ir_expr *found = interp_guard(in, value);
    in->frame = caller;
    return found ? ir_at(in->pass->arena, found, x->span) : NULL;
}

bool interp_is_size(const struct interp *in, const struct sched_expr *x)
{
    enum ir_op op;
    const struct sched_item *def =
        x->kind == SCHED_call ? sched_find_def(in->program, x->name) : NULL;
    if (x->kind == SCHED_call && !def)
        return interp_operation(x->name, &op) ||
               strcmp(x->name, "aligned") == 0;
    return x->kind == SCHED_op || (def && only_return(def));
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
    if (is_about_parts(in, x) && x->kind != SCHED_list)
        return guard_look(in, x);
    if (x->kind == SCHED_call && x->args.n == 2 &&
        interp_operation(x->name, &op))
        return guard_op(in, x, op);
    if (x->kind == SCHED_call && x->args.n == 2 &&
        strcmp(x->name, "aligned") == 0)
        return guard_aligned(in, x);
    if (x->kind == SCHED_call && (def = sched_find_def(in->program, x->name)))
        return guard_def(in, x, def);
    return refuse_guard(in, x,
                        "only sizes, `sms`, integers, operators, `min`, `max`, "
                        "`ceildiv` and `aligned` of two, and defs that return "
                        "such, belong here");
}
