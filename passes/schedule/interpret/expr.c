// Expressions of schedules: literals, lists, arithmetic.

#include "ir/arith.h"
#include "ir/build.h"
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
    case VALUE_expr: return "a size";
    case VALUE_text: return "a text";
    case VALUE_form: return "a value of a stage";
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
    bool is_known = v->kind == VALUE_expr && v->expr->op == OP_const;
    *out = is_known ? v->expr->u.i : v->number;
    if (v->kind == VALUE_int || is_known)
        return true;
    return diag_error(in->pass->diags, x->span, D_schedule_not_integer, what,
                      interp_kind(v->kind));
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
    if (more->kind != VALUE_list)
        return diag_error(in->pass->diags, x->span, D_schedule_not_list,
                          "`+` behind a list", interp_kind(more->kind));
    vec_append(in->pass->scratch, &all, &out->list);
    vec_append(in->pass->scratch, &all, &more->list);
    out->list = all;
    return true;
}

// Return whether an operation compares, and its left side is a word.
static bool compares_words(struct interp *in, const struct sched_expr *x,
                           struct sched_value *left)
{
    return (x->op == OP_eq || x->op == OP_ne) &&
           x->args.at[0]->kind == SCHED_name &&
           interp_word(in, x->args.at[0], left);
}

bool interp_word(struct interp *in, const struct sched_expr *x,
                 struct sched_value *out)
{
    struct type type;
    const struct sched_value *v = interp_get(in, x->name);
    *out = (struct sched_value){.span = x->span};
    if (v)
        *out = *v;
    else if (!interp_static(in, x->name, out) && type_find(x->name, &type)) {
        out->kind = VALUE_key;
        out->key = x->name;
    }
    return out->kind == VALUE_key;
}

bool interp_same_word(struct interp *in, const struct sched_expr *x,
                      const struct sched_value *left, bool *same)
{
    struct sched_value right;
    struct type type;
    if (x->kind != SCHED_name)
        return diag_error(in->pass->diags, x->span, D_schedule_not_word);
    const char *word = interp_word(in, x, &right) ? right.key : x->name;
    if (type_find(left->key, &type) && !type_find(word, &type))
        return diag_error(in->pass->diags, x->span, D_unknown_type, word);
    *same = strcmp(left->key, word) == 0;
    return true;
}

// Return whether a value is a loop or a stage.
static bool is_place(const struct sched_value *v)
{
    return v->kind == VALUE_loop || v->kind == VALUE_stage;
}

// Compare two loops or stages, or two arrays: they are equal if they are the same
// one.
static bool compare_places(const struct sched_expr *x,
                           const struct sched_value *v, struct sched_value *out)
{
    bool are_arrays = v[0].kind == VALUE_array && v[1].kind == VALUE_array;
    if ((x->op != OP_eq && x->op != OP_ne) ||
        !(are_arrays || (is_place(&v[0]) && is_place(&v[1]))))
        return false;
    bool are_operands = are_arrays && v[0].operand && v[1].operand;
    bool same = are_arrays ? v[0].buffer == v[1].buffer &&
                                 (!are_operands || v[0].operand == v[1].operand)
                           : v[0].stmt == v[1].stmt;
    *out = (struct sched_value){.kind = VALUE_int, .span = x->span};
    out->number = same == (x->op == OP_eq);
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
    if (compares_words(in, x, &values[0])) {
        bool same;
        *out = (struct sched_value){.kind = VALUE_int, .span = x->span};
        if (!interp_same_word(in, x->args.at[1], &values[0], &same))
            return false;
        out->number = same == (x->op == OP_eq);
        return true;
    }
    for (size_t i = 0; i < x->args.n; i++)
        if (!interp_expr(in, x->args.at[i], &values[i]))
            return false;
    *out = values[0];
    out->span = x->span;
    if (compare_places(x, values, out))
        return true;
    if (x->op == OP_add && out->kind == VALUE_list)
        return concatenate(in, x->args.at[1], &values[1], out);
    for (size_t i = 0; i < x->args.n; i++)
        if (!as_int(in, x->args.at[i], &values[i], "an operand",
                    &operands[i].i))
            return false;
    *out = (struct sched_value){.kind = VALUE_int, .span = x->span};
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
    return diag_error(in->pass->diags, x->span, D_schedule_not_list,
                      x->kind == SCHED_index ? "an index" : "a slice",
                      interp_kind(list->kind));
}

// Evaluate `list[index]`.
static bool eval_index(struct interp *in, const struct sched_expr *x,
                       struct sched_value *out)
{
    struct sched_value list;
    int64_t index;
    if (x->args.n > 2)
        return diag_error(in->pass->diags, x->span, D_schedule_not_list,
                          "several indices", "a list");
    if (!eval_base(in, x, &list) ||
        !interp_int(in, x->args.at[1], "an index", &index))
        return false;
    int64_t n = (int64_t)list.list.n;
    int64_t at = index < 0 ? index + n : index;
    if (at < 0 || at >= n)
        return diag_error(in->pass->diags, x->args.at[1]->span,
                          D_schedule_index, (long long)index, (long long)n);
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
    case SCHED_float:
        return diag_error(in->pass->diags, x->span, D_schedule_not_integer,
                          "a number", "a fraction");
    case SCHED_text:
        out->kind = VALUE_text;
        out->key = x->name;
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
