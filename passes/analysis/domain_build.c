// Sets of iterations under construction.

#include "passes/analysis/domain_build.h"

#include "ir/affine.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/walk.h"

#include <isl/options.h>
#include <isl/point.h>
#include <isl/space.h>
#include <isl/val.h>

// Add a parameter of the sets.
static struct domain_symbol *add_symbol(struct domain *d,
                                        const struct ir_var *var,
                                        const struct ir_expr *expr,
                                        bool is_size)
{
    const char *name = arena_printf(d->arena, "s%zu", d->symbols.n);
    struct domain_symbol s = {.var = var,
                              .expr = expr,
                              .is_size = is_size,
                              .id = isl_id_alloc(d->ctx, name, NULL)};
    vec_push(d->arena, &d->symbols, s);
    return &d->symbols.at[d->symbols.n - 1];
}

// Return the symbol of a variable, the innermost first, or NULL.
static struct domain_symbol *find_var(const struct domain *d,
                                      const struct ir_var *var)
{
    for (size_t i = d->symbols.n; i-- > 0;)
        if (d->symbols.at[i].var == var)
            return &d->symbols.at[i];
    return NULL;
}

// Return the function whose value is a symbol.
static isl_pw_aff *symbol_value(struct domain *d, const struct domain_symbol *s)
{
    isl_space *space =
        isl_space_add_param_id(isl_space_copy(d->space), isl_id_copy(s->id));
    isl_aff *aff = isl_aff_param_on_domain_space_id(space, isl_id_copy(s->id));
    return isl_pw_aff_from_aff(aff);
}

// Return the function whose value is a number.
static isl_pw_aff *number(struct domain *d, int64_t value)
{
    isl_val *v = isl_val_int_from_si(d->ctx, value);
    return isl_pw_aff_from_aff(
        isl_aff_val_on_domain_space(isl_space_copy(d->space), v));
}

// Return whether an expression has but one value in a point of a set: it is
// made of sizes, scalars of the caller and fixed loops.
static bool is_fixed(const struct domain *d, const struct ir_expr *root)
{
    ir_foreach_expr(x, root) {
        if (x->op != OP_var || x->u.var->kind == VAR_param)
            continue;
        const struct domain_symbol *s = find_var(d, x->u.var);
        if (!s || (s->value ? !is_fixed(d, s->value) : !s->is_fixed))
            return false;
    }
    return true;
}

// Return the function of an expression that is not affine, but has the same
// value wherever it is met: a symbol of its own.  NULL if it has not.
static isl_pw_aff *opaque_value(struct domain *d, struct ir_expr *x)
{
    if (!ir_is_stable(x) || !is_fixed(d, x))
        return NULL;
    vec_foreach(s, &d->symbols)
        if (s->expr && ir_expr_equal(s->expr, x))
            return symbol_value(d, s);
    return symbol_value(d, add_symbol(d, NULL, x, true));
}

// Return the function of a variable.
static isl_pw_aff *var_value(struct domain *d, struct ir_expr *x)
{
    const struct domain_symbol *s = find_var(d, x->u.var);
    if (!s)
        return opaque_value(d, x);
    if (s->id)
        return symbol_value(d, s);
    return s->value ? domain_value(d, s->value) : NULL;
}

// Return x / c, x % c or ceildiv(x, c) for a number c > 0.
static isl_pw_aff *quotient_value(struct domain *d, struct ir_expr *x)
{
    int64_t by;
    if (!ir_int_value(x->args[1], &by) || by <= 0)
        return opaque_value(d, x);
    isl_pw_aff *value = domain_value(d, x->args[0]);
    if (x->op == OP_div)
        return isl_pw_aff_tdiv_q(value, number(d, by));
    if (x->op == OP_mod)
        return isl_pw_aff_tdiv_r(value, number(d, by));
    isl_val *v = isl_val_int_from_si(d->ctx, by);
    return isl_pw_aff_ceil(isl_pw_aff_scale_down_val(value, v));
}

// Return the function of an expression that is no sum and no product.
static isl_pw_aff *atom_value(struct domain *d, struct ir_expr *x)
{
    if (!type_is_index(x->type))
        return opaque_value(d, x);
    switch ((int)x->op) {
    case OP_var: return var_value(d, x);
    case OP_div:
    case OP_mod:
    case OP_ceildiv: return quotient_value(d, x);
    case OP_min:
        return isl_pw_aff_min(domain_value(d, x->args[0]),
                              domain_value(d, x->args[1]));
    case OP_max:
        return isl_pw_aff_max(domain_value(d, x->args[0]),
                              domain_value(d, x->args[1]));
    default: return opaque_value(d, x);
    }
}

// Return the function of one term of a sum.
static isl_pw_aff *term_value(struct domain *d, const struct affine_term *t)
{
    struct ir_expr *product = t->atoms[0];
    for (uint32_t i = 1; i < t->n; i++)
        product = ir_mul(d->arena, product, t->atoms[i]);
    isl_pw_aff *value =
        t->n == 1 ? atom_value(d, product) : opaque_value(d, product);
    isl_val *factor = isl_val_int_from_si(d->ctx, t->factor);
    return isl_pw_aff_scale_val(value, factor);
}

isl_pw_aff *domain_value(struct domain *d, struct ir_expr *x)
{
    if (d->sizes)
        x = ir_substitute(d->arena, x, d->sizes, NULL);
    struct affine form = affine_of(d->arena, x);
    if (form.failed)
        return NULL;
    isl_pw_aff *sum = number(d, form.constant);
    for (size_t i = 0; i < form.terms.n; i++)
        sum = isl_pw_aff_add(sum, term_value(d, &form.terms.at[i]));
    return sum;
}

// Return the set where a comparison of two functions holds.
static isl_set *comparison_set(enum ir_op op, isl_pw_aff *x, isl_pw_aff *y)
{
    switch ((int)op) {
    case OP_lt: return isl_pw_aff_lt_set(x, y);
    case OP_le: return isl_pw_aff_le_set(x, y);
    case OP_gt: return isl_pw_aff_gt_set(x, y);
    case OP_ge: return isl_pw_aff_ge_set(x, y);
    case OP_eq: return isl_pw_aff_eq_set(x, y);
    default: return isl_pw_aff_ne_set(x, y);
    }
}

// Return the set where x < y, or x <= y.  Of a minimum or maximum each side is
// compared: functions in so many pieces would cost isl far more.
static isl_set *order_set(struct domain *d, enum ir_op op, struct ir_expr *x,
                          struct ir_expr *y)
{
    bool left = x->op == OP_min || x->op == OP_max;
    struct ir_expr *both = left ? x : y;
    if (both->op != OP_min && both->op != OP_max) {
        isl_pw_aff *low = domain_value(d, x);
        return comparison_set(op, low, domain_value(d, y));
    }
    isl_set *first =
        order_set(d, op, left ? x->args[0] : x, left ? y : y->args[0]);
    isl_set *second =
        order_set(d, op, left ? x->args[1] : x, left ? y : y->args[1]);
    return left == (both->op == OP_max) ? isl_set_intersect(first, second)
                                        : isl_set_union(first, second);
}

isl_set *domain_condition(struct domain *d, struct ir_expr *c)
{
    isl_space *space = isl_space_copy(d->space);
    if (c->op == OP_const)
        return c->u.i ? isl_set_universe(space) : isl_set_empty(space);
    isl_space_free(space);
    if (c->op == OP_not)
        return isl_set_complement(domain_condition(d, c->args[0]));
    if (c->op == OP_and || c->op == OP_or) {
        isl_set *x = domain_condition(d, c->args[0]);
        isl_set *y = domain_condition(d, c->args[1]);
        return c->op == OP_and ? isl_set_intersect(x, y) : isl_set_union(x, y);
    }
    bool compares = c->op == OP_lt || c->op == OP_le || c->op == OP_gt ||
                    c->op == OP_ge || c->op == OP_eq || c->op == OP_ne;
    if (!compares || !type_is_index(c->args[0]->type))
        return NULL;
    if (c->op == OP_lt || c->op == OP_le)
        return order_set(d, c->op, c->args[0], c->args[1]);
    if (c->op == OP_gt || c->op == OP_ge)
        return order_set(d, c->op == OP_gt ? OP_lt : OP_le, c->args[1],
                         c->args[0]);
    isl_pw_aff *x = domain_value(d, c->args[0]);
    return comparison_set(c->op, x, domain_value(d, c->args[1]));
}

// Keep the part of the set that is in `part` as well, if that is known.
static void restrict_to(struct domain *d, isl_set *part)
{
    if (part)
        d->set = isl_set_intersect(d->set, part);
    else
        d->is_exact = d->is_affine = false;
}

// Keep the part of the set where a condition holds, or does not.
static void assume(struct domain *d, struct ir_expr *c, bool holds)
{
    if (d->sizes)
        c = ir_substitute(d->arena, c, d->sizes, NULL);
    if (c->op == (holds ? OP_and : OP_or)) {
        assume(d, c->args[0], holds);
        assume(d, c->args[1], holds);
        return;
    }
    isl_set *part = domain_condition(d, c);
    if (part)
        restrict_to(d, holds ? part : isl_set_complement(part));
    else if (ir_is_stable(c))
        restrict_to(d, NULL);
    else
        d->is_exact = false;
}

// Keep the part of the set inside a loop, which has a variable from here on.
static void enter_loop(struct domain *d, const struct ir_for *loop)
{
    int64_t step;
    isl_pw_aff *from = domain_value(d, loop->from);
    isl_pw_aff *to = domain_value(d, loop->to);
    isl_pw_aff *v = symbol_value(d, add_symbol(d, loop->var, NULL, false));
    if (!ir_int_value(loop->step, &step) || step < 1) {
        restrict_to(d, NULL);
    } else if (step > 1) {
        isl_pw_aff *way =
            isl_pw_aff_sub(isl_pw_aff_copy(v), isl_pw_aff_copy(from));
        isl_pw_aff *rest = isl_pw_aff_tdiv_r(way, number(d, step));
        restrict_to(d, isl_pw_aff_zero_set(rest));
    }
    restrict_to(d, isl_pw_aff_le_set(from, isl_pw_aff_copy(v)));
    restrict_to(d, isl_pw_aff_lt_set(v, to));
}

isl_pw_aff *domain_unknown(struct domain *d, struct ir_expr *extent)
{
    isl_pw_aff *end = domain_value(d, extent);
    isl_pw_aff *v = symbol_value(d, add_symbol(d, NULL, NULL, false));
    restrict_to(d, isl_pw_aff_nonneg_set(isl_pw_aff_copy(v)));
    restrict_to(d, isl_pw_aff_lt_set(isl_pw_aff_copy(v), end));
    return v;
}

// Give a name to a value, from here on.
static void add_name(struct domain *d, const struct ir_var *var,
                     struct ir_expr *value)
{
    struct domain_symbol s = {.var = var};
    s.value = ir_is_stable(value) ? value : NULL;
    vec_push(d->arena, &d->symbols, s);
}

void domain_enter(struct domain *d, const struct domain_step *step)
{
    const struct ir_stmt *s = step->stmt;
    if (step->condition)
        assume(d, step->condition, step->holds);
    else if (s->kind == STMT_for)
        enter_loop(d, &s->u.loop);
    else if (s->kind == STMT_let)
        add_name(d, s->u.let.var, s->u.let.value);
    else if (s->kind == STMT_stage)
        for (size_t i = 0; i < s->u.stage.iters.n; i++)
            add_name(d, s->u.stage.iters.at[i].var,
                     s->u.stage.iters.at[i].binding);
}

void domain_equate(struct domain *d, isl_pw_aff *x, isl_pw_aff *y)
{
    restrict_to(d, isl_pw_aff_eq_set(x, y));
}

void domain_start(struct domain *d, isl_ctx *ctx, struct arena *a,
                  const struct ir_kernel *kernel, const struct map *sizes)
{
    *d = (struct domain){.ctx = ctx, .arena = a, .sizes = sizes};
    d->space = isl_space_set_alloc(ctx, 0, 0);
    d->set = isl_set_universe(isl_space_copy(d->space));
    for (size_t i = 0; i < kernel->params.n; i++) {
        const struct ir_var *var = kernel->params.at[i].var;
        if (!var || !type_is_index(var->type) || (sizes && map_has(sizes, var)))
            continue;
        const struct domain_symbol *s = add_symbol(d, var, NULL, true);
        restrict_to(d, isl_pw_aff_nonneg_set(symbol_value(d, s)));
    }
    for (size_t i = 0; i < kernel->where.n; i++)
        assume(d, kernel->where.at[i], true);
    d->is_exact = d->is_affine = true;
}

void domain_finish(struct domain *d)
{
    isl_set_free(d->set);
    for (size_t i = 0; i < d->symbols.n; i++)
        isl_id_free(d->symbols.at[i].id);
    isl_space_free(d->space);
}

size_t domain_find(const struct domain *d, const struct ir_var *var)
{
    return (size_t)(find_var(d, var) - d->symbols.at);
}

isl_pw_aff *domain_symbol_value(struct domain *d, size_t symbol)
{
    return symbol_value(d, &d->symbols.at[symbol]);
}

isl_set *domain_project(const struct domain *d, isl_set *set, size_t first)
{
    for (size_t i = first; i < d->symbols.n; i++) {
        const struct domain_symbol *s = &d->symbols.at[i];
        if (!s->id || s->is_size)
            continue;
        int at = isl_set_find_dim_by_id(set, isl_dim_param, s->id);
        if (at >= 0)
            set = isl_set_project_out(set, isl_dim_param, (unsigned)at, 1);
    }
    return set;
}

// Turn the parameters of a set into dimensions, in the order of the symbols.
static isl_set *in_order(const struct domain *d, isl_set *set)
{
    unsigned n = 0;
    vec_foreach(s, &d->symbols) {
        if (!s->id)
            continue;
        set = isl_set_align_params(
            set, isl_space_set_dim_id(isl_space_params_alloc(d->ctx, 1),
                                      isl_dim_param, 0, isl_id_copy(s->id)));
        int at = isl_set_find_dim_by_id(set, isl_dim_param, s->id);
        set = isl_set_move_dims(set, isl_dim_set, n++, isl_dim_param,
                                (unsigned)at, 1);
    }
    return set;
}

int64_t *domain_first_point(const struct domain *d, isl_set *set)
{
    int at = 0;
    isl_point *point = isl_set_sample_point(isl_set_lexmin(in_order(d, set)));
    int64_t *values = arena_array(d->arena, int64_t, d->symbols.n + 1);
    if (!point || isl_point_is_void(point) != isl_bool_false)
        values = NULL;
    for (size_t i = 0; values && i < d->symbols.n; i++) {
        if (!d->symbols.at[i].id)
            continue;
        isl_val *v = isl_point_get_coordinate_val(point, isl_dim_set, at++);
        values[i] = isl_val_get_num_si(v);
        isl_val_free(v);
    }
    isl_point_free(point);
    return values;
}

isl_ctx *domain_context(unsigned long most)
{
    isl_ctx *ctx = isl_ctx_alloc();
    isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(ctx, most);
    return ctx;
}
