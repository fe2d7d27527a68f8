// Expressions of schedules: literals, lists, arithmetic, guards.

#include "ir/arith.h"
#include "ir/build.h"
#include "ir/type.h"
#include "passes/schedule/interpret/interpret.h"

#include <string.h>

const char *interp_kind(enum sched_value_kind kind)
{
    switch (kind) {
    case VALUE_none: return "nothing";
    case VALUE_int: return "an integer";
    case VALUE_any: return "`_`";
    case VALUE_list: return "a list";
    case VALUE_loop: return "a loop";
    case VALUE_stage: return "a stage";
    case VALUE_array: return "an array";
    case VALUE_space: return "a memory";
    case VALUE_axis: return "an axis";
    case VALUE_key: return "a name";
    case VALUE_map: return "an index map";
    }
    return "";
}

// Evaluate `&&`, `||`, `!` and `?:`, which look at one operand at a time.
static bool eval_lazy(struct interp *in, const struct sched_expr *x,
                      struct sched_value *out)
{
    int64_t first;
    if (!interp_int(in, x->args.at[0], "a condition", &first))
        return false;
    *out = (struct sched_value){.kind = VALUE_int, .span = x->span};
    if (x->op == OP_not) {
        out->number = !first;
        return true;
    }
    if (x->op == OP_select)
        return interp_expr(in, x->args.at[first ? 1 : 2], out);
    out->number = first != 0;
    if ((first != 0) == (x->op == OP_or))
        return true;
    if (!interp_int(in, x->args.at[1], "a condition", &first))
        return false;
    out->number = first != 0;
    return true;
}

// Return a value as an integer; `what` names it in the error.
static bool as_int(struct interp *in, const struct sched_expr *x,
                   const struct sched_value *v, const char *what, int64_t *out)
{
    *out = v->number;
    if (v->kind == VALUE_int)
        return true;
    diag_error(in->pass->diags, x->span, D_schedule_not_integer, what,
               interp_kind(v->kind));
    return false;
}

bool interp_int(struct interp *in, const struct sched_expr *x, const char *what,
                int64_t *out)
{
    struct sched_value v;
    return interp_expr(in, x, &v) && as_int(in, x, &v, what, out);
}

// Append what the second operand of `list + list` holds.
static bool concatenate(struct interp *in, const struct sched_expr *x,
                        const struct sched_value *more, struct sched_value *out)
{
    struct sched_values all = {0};
    if (more->kind != VALUE_list) {
        diag_error(in->pass->diags, x->span, D_schedule_not_list,
                   "`+` behind a list", interp_kind(more->kind));
        return false;
    }
    for (size_t i = 0; i < out->list.n; i++)
        vec_push(in->pass->scratch, &all, out->list.at[i]);
    for (size_t i = 0; i < more->list.n; i++)
        vec_push(in->pass->scratch, &all, more->list.at[i]);
    out->list = all;
    return true;
}

// Evaluate an operation on integers, or `+` on lists.
static bool eval_op(struct interp *in, const struct sched_expr *x,
                    struct sched_value *out)
{
    struct sched_value values[3];
    union number operands[3] = {{0}, {0}, {0}};
    const char *fault = NULL;
    if (x->op == OP_and || x->op == OP_or || x->op == OP_not ||
        x->op == OP_select)
        return eval_lazy(in, x, out);
    for (size_t i = 0; i < x->args.n; i++) {
        if (!interp_expr(in, x->args.at[i], &values[i]))
            return false;
    }
    *out = values[0];
    out->span = x->span;
    if (x->op == OP_add && out->kind == VALUE_list)
        return concatenate(in, x->args.at[1], &values[1], out);
    for (size_t i = 0; i < x->args.n; i++) {
        if (!as_int(in, x->args.at[i], &values[i], "an operand",
                    &operands[i].i))
            return false;
    }
    out->number = ir_apply(x->op, type_scalar(TYPE_int), operands, &fault).i;
    if (fault)
        diag_error(in->pass->diags, x->span, D_schedule_arithmetic, fault);
    return !fault;
}

// Evaluate a list.
static bool eval_list(struct interp *in, const struct sched_expr *x,
                      struct sched_value *out)
{
    *out = (struct sched_value){.kind = VALUE_list, .span = x->span};
    for (size_t i = 0; i < x->args.n; i++) {
        struct sched_value v;
        if (!interp_expr(in, x->args.at[i], &v))
            return false;
        vec_push(in->pass->scratch, &out->list, v);
    }
    return true;
}

// Evaluate the list that an index or a slice takes from.
static bool eval_base(struct interp *in, const struct sched_expr *x,
                      struct sched_value *list)
{
    if (!interp_expr(in, x->args.at[0], list))
        return false;
    if (list->kind == VALUE_list)
        return true;
    diag_error(in->pass->diags, x->span, D_schedule_not_list,
               x->kind == SCHED_index ? "an index" : "a slice",
               interp_kind(list->kind));
    return false;
}

// Evaluate `list[index]`.
static bool eval_index(struct interp *in, const struct sched_expr *x,
                       struct sched_value *out)
{
    struct sched_value list;
    int64_t index;
    if (!eval_base(in, x, &list) ||
        !interp_int(in, x->args.at[1], "an index", &index))
        return false;
    int64_t n = (int64_t)list.list.n;
    int64_t at = index < 0 ? index + n : index;
    if (at < 0 || at >= n) {
        diag_error(in->pass->diags, x->args.at[1]->span, D_schedule_index,
                   (long long)index, (long long)n);
        return false;
    }
    *out = list.list.at[at];
    out->span = x->span;
    return true;
}

// Evaluate a bound of a slice of `n` elements; one out of range is clipped.
static bool eval_bound(struct interp *in, const struct sched_expr *x, int64_t n,
                       int64_t missing, int64_t *out)
{
    *out = missing;
    if (!x)
        return true;
    if (!interp_int(in, x, "the bound of a slice", out))
        return false;
    if (*out < 0)
        *out += n;
    *out = *out < 0 ? 0 : *out > n ? n : *out;
    return true;
}

// Evaluate `list[from:to]`.
static bool eval_slice(struct interp *in, const struct sched_expr *x,
                       struct sched_value *out)
{
    int64_t from, to;
    struct sched_value list;
    if (!eval_base(in, x, &list))
        return false;
    int64_t n = (int64_t)list.list.n;
    if (!eval_bound(in, x->args.at[1], n, 0, &from) ||
        !eval_bound(in, x->args.at[2], n, n, &to))
        return false;
    *out = (struct sched_value){.kind = VALUE_list, .span = x->span};
    for (int64_t i = from; i < to; i++)
        vec_push(in->pass->scratch, &out->list, list.list.at[i]);
    return true;
}

// Evaluate an expression, by its kind.
static bool eval_expr(struct interp *in, const struct sched_expr *x,
                      struct sched_value *out)
{
    *out = (struct sched_value){.span = x->span};
    switch (x->kind) {
    case SCHED_int:
        out->kind = VALUE_int;
        out->number = x->value;
        return true;
    case SCHED_any: out->kind = VALUE_any; return true;
    case SCHED_name: return interp_name(in, x, out);
    case SCHED_member: return interp_member(in, x, out);
    case SCHED_list: return eval_list(in, x, out);
    case SCHED_index: return eval_index(in, x, out);
    case SCHED_slice: return eval_slice(in, x, out);
    case SCHED_call: return interp_call(in, x, out);
    case SCHED_op: return eval_op(in, x, out);
    case SCHED_map: return interp_map(in, x, out);
    }
    return false;
}

bool interp_expr(struct interp *in, const struct sched_expr *x,
                 struct sched_value *out)
{
    bool ok = interp_enter(in, x->span) && eval_expr(in, x, out) &&
              interp_steps(in, x->span, out->list.n);
    interp_leave(in);
    return ok;
}

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
    if (var)
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

struct ir_expr *interp_guard(struct interp *in, const struct sched_expr *x)
{
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
    return refuse_guard(in, x,
                        "only sizes, integers, operators, `min`, `max` and "
                        "`ceildiv` of two belong here");
}
