// What a stage computes with, in the schedule language: the values and the
// condition of a `print`.
//
//   A[i + 1] * 2 == n   =>   the same over the stage's iteration variables,
//                            the kernel's sizes, scalars and arrays

#include "ir/base/suggest.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/type.h"
#include "passes/schedule/interpret/interpret.h"

#include <string.h>

// An expression under construction.
struct form {
    struct interp *in;
    struct ir_stmt *stage;
};

static struct ir_expr *form_expr(const struct form *f,
                                 const struct sched_expr *x);

// Report what is wrong with a part of an expression.
static struct ir_expr *refuse(const struct form *f, const struct sched_expr *x,
                              const char *wrong)
{
    diag_error(f->in->pass->diags, x->span, D_print_value, wrong);
    return NULL;
}

// Return whether an iteration variable is called so, or as a definition has it:
// `vi` counts `i`.
static bool is_called(const struct ir_var *var, const char *name)
{
    return strcmp(var->name, name) == 0 ||
           (*var->name == 'v' && strcmp(var->name + 1, name) == 0);
}

// Return the iteration variable, size or scalar of that name, or NULL.
static struct ir_var *find_var(const struct form *f, const char *name)
{
    vec_foreach(it, &f->stage->u.stage.iters)
        if (is_called(it->var, name))
            return it->var;
    vec_foreach(param, &f->in->pass->kernel->params)
        if (param->var && strcmp(param->var->name, name) == 0)
            return param->var;
    return NULL;
}

// Return the array that a name stands for, or NULL.
static struct ir_buffer *find_array(const struct form *f, const char *name)
{
    const struct sched_value *v = interp_get(f->in, name);
    if (v && v->kind == VALUE_array)
        return v->buffer;
    return v && v->kind == VALUE_stage ? sched_stored(v->stmt)
                                       : sched_find_buffer(f->in->pass, name);
}

// Say which names there are.
static struct ir_expr *refuse_name(const struct form *f,
                                   const struct sched_expr *x)
{
    struct suggest s = {.wanted = x->name};
    vec_foreach(it, &f->stage->u.stage.iters)
        suggest_offer(&s, it->var->name + (*it->var->name == 'v'));
    vec_foreach(param, &f->in->pass->kernel->params)
        suggest_offer(&s, param->var ? param->var->name : param->buffer->name);
    diag_error(f->in->pass->diags, x->span, D_schedule_unknown_name, x->name);
    suggest_help(f->in->pass->diags, &s);
    return NULL;
}

// Return whether the stage itself reads or writes an element.
static bool touches(const struct form *f, const struct ir_expr *load)
{
    const struct ir_buffer *b = load->u.buffer;
    ir_foreach_stmt(s, &f->stage->u.stage.body)
        if (s->kind == STMT_store && s->u.store.buffer == b &&
            ir_all_equal(load->n, s->u.store.index, load->args))
            return true;
    ir_foreach_expr_in(x, &f->stage->u.stage.body)
        if (x->op == OP_load && ir_expr_equal(x, load))
            return true;
    return false;
}

// Return an element of an array: of an input any one, else one that the stage
// touches.
static struct ir_expr *element(const struct form *f, const struct sched_expr *x,
                               struct ir_buffer *b, uint32_t n,
                               struct ir_expr *const *index)
{
    struct arena *a = f->in->pass->arena;
    if (n != b->rank) {
        diag_error(f->in->pass->diags, x->span, D_wrong_rank, b->name,
                   (long long)b->rank, b->rank == 1 ? "index" : "indices",
                   (long long)n);
        return NULL;
    }
    struct ir_expr *load = ir_at(a, ir_load(a, b, n, index), x->span);
    if (b->role == ROLE_input || touches(f, load))
        return load;
    diag_error(f->in->pass->diags, x->span, D_print_element,
               sched_name_of(f->stage), b->name);
    return NULL;
}

// Return the value of a name.
static struct ir_expr *form_name(const struct form *f,
                                 const struct sched_expr *x)
{
    struct arena *a = f->in->pass->arena;
    struct ir_var *var = find_var(f, x->name);
    const struct sched_value *v = var ? NULL : interp_get(f->in, x->name);
    struct sched_value fixed;
    if (var)
        return ir_at(a, ir_read(a, var), x->span);
    if (!v && interp_static(f->in, x->name, &fixed))
        v = &fixed;
    if (v && v->kind == VALUE_int)
        return ir_int(a, v->number);
    struct ir_buffer *b = find_array(f, x->name);
    return b ? element(f, x, b, 0, NULL) : refuse_name(f, x);
}

// Return `array[i, j]`.
static struct ir_expr *form_element(const struct form *f,
                                    const struct sched_expr *x)
{
    struct arena *a = f->in->pass->arena;
    const struct sched_expr *base = x->args.at[0];
    uint32_t n = (uint32_t)x->args.n - 1;
    struct ir_expr **index = arena_array(a, struct ir_expr *, n);
    struct ir_buffer *b =
        base->kind == SCHED_name ? find_array(f, base->name) : NULL;
    if (!b)
        return base->kind == SCHED_name
                   ? refuse_name(f, base)
                   : refuse(f, base, "indices stand behind an array");
    for (uint32_t i = 0; i < n; i++) {
        struct ir_expr *at = form_expr(f, x->args.at[i + 1]);
        if (!at)
            return NULL;
        if (!type_is_integer(at->type))
            return refuse(f, x->args.at[i + 1], "an index is an integer");
        index[i] = ir_cast(a, type_scalar(TYPE_int), at);
    }
    return element(f, x, b, n, index);
}

// Let numbers among the operands take the type of the others.
static void adapt(struct arena *a, uint32_t n, struct ir_expr **args)
{
    struct ir_expr *typed = args[0];
    for (uint32_t i = 0; i < n; i++)
        if (args[i]->op != OP_const)
            typed = args[i];
    for (uint32_t i = 0; i < n; i++)
        if (args[i]->op == OP_const && args[i]->type.kind != TYPE_bool &&
            typed->type.kind != TYPE_bool)
            args[i] = ir_cast(a, typed->type, args[i]);
}

// Return `c ? x : y`.
static struct ir_expr *choice(const struct form *f, const struct sched_expr *x,
                              struct ir_expr **args)
{
    adapt(f->in->pass->arena, 2, args + 1);
    if (args[0]->type.kind != TYPE_bool ||
        !type_equal(args[1]->type, args[2]->type))
        return refuse(f, x, "a choice is between two values of one type");
    return ir_at(f->in->pass->arena,
                 ir_select(f->in->pass->arena, args[0], args[1], args[2]),
                 x->span);
}

// Return an operation on values.
static struct ir_expr *operation(const struct form *f,
                                 const struct sched_expr *x, enum ir_op op)
{
    struct arena *a = f->in->pass->arena;
    struct ir_expr *args[3];
    struct type types[3], result;
    const char *wrong;
    uint32_t n = (uint32_t)x->args.n;
    for (uint32_t i = 0; i < n; i++)
        if (!(args[i] = form_expr(f, x->args.at[i])))
            return NULL;
    if (op == OP_select)
        return choice(f, x, args);
    adapt(a, n, args);
    for (uint32_t i = 0; i < n; i++)
        types[i] = args[i]->type;
    if (!ir_result_type(f->in->pass->scratch, op, n, types, &result, &wrong))
        return refuse(f, x, wrong);
    return ir_at(a, ir_call(a, op, n, args), x->span);
}

// Find the function of numbers that a call names.
static bool find_function(const struct sched_expr *x, enum ir_op *out)
{
    for (int op = 0; op < OP_COUNT; op++) {
        const struct ir_op_info *info = ir_op_info((enum ir_op)op);
        *out = (enum ir_op)op;
        if (info->form == FORM_CALL && info->flags & OP_PURE &&
            strcmp(info->spelling, x->name) == 0 &&
            strlen(info->operands) == x->args.n && x->args.n <= 3)
            return true;
    }
    return false;
}

// Return the value of a function, or of a conversion, `f32(x)`.
static struct ir_expr *form_call(const struct form *f,
                                 const struct sched_expr *x)
{
    struct type type;
    enum ir_op op;
    if (find_function(x, &op))
        return operation(f, x, op);
    if (!type_find(x->name, &type) || x->args.n != 1)
        return refuse(f, x, "it is no function of that many numbers");
    struct ir_expr *value = form_expr(f, x->args.at[0]);
    struct arena *a = f->in->pass->arena;
    return value ? ir_at(a, ir_cast(a, type, value), x->span) : NULL;
}

// Return an expression of the stage; NULL after an error.
static struct ir_expr *form_expr(const struct form *f,
                                 const struct sched_expr *x)
{
    struct ir_expr *out = NULL;
    struct arena *a = f->in->pass->arena;
    if (interp_enter(f->in, x->span)) {
        switch ((int)x->kind) {
        case SCHED_int: out = ir_at(a, ir_int(a, x->value), x->span); break;
        case SCHED_float:
            out = ir_const_float(a, type_scalar(TYPE_f64), x->number);
            break;
        case SCHED_name: out = form_name(f, x); break;
        case SCHED_index: out = form_element(f, x); break;
        case SCHED_op: out = operation(f, x, x->op); break;
        case SCHED_call: out = form_call(f, x); break;
        default: out = refuse(f, x, "it is no value of the stage");
        }
    }
    interp_leave(f->in);
    return out;
}

bool interp_form(struct interp *in, struct ir_stmt *stage,
                 const struct sched_expr *x, struct sched_value *out)
{
    struct form f = {in, stage};
    *out = (struct sched_value){.kind = VALUE_form, .span = x->span};
    out->expr = stage->kind == STMT_stage ? form_expr(&f, x)
                                          : ir_int(in->pass->arena, 0);
    return out->expr;
}
