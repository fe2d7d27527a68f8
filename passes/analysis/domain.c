// Iteration domains as integer sets.

#include "passes/analysis/domain.h"

#include "ir/affine.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"

#include <isl/aff.h>
#include <isl/id.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

// A variable or an expression of sizes, as a parameter of the sets; or a name
// for another value.
struct symbol {
    const struct ir_var *var;   // NULL for an expression
    const struct ir_expr *expr; // NULL for a variable
    bool is_size;               // the caller of the kernel decides it
    isl_id *id;                 // NULL for a name
    struct ir_expr *value;      // of a name; NULL: not affine
};

// A domain under construction.
struct domain {
    isl_ctx *ctx;
    struct arena *arena;
    isl_space *space; // of every set: no dimensions but parameters
    struct VEC(struct symbol) symbols;
};

static isl_pw_aff *value_of(struct domain *d, struct ir_expr *x);

// Add a parameter of the sets.
static struct symbol *add_symbol(struct domain *d, const struct ir_var *var,
                                 const struct ir_expr *expr, bool is_size)
{
    const char *name = arena_printf(d->arena, "s%zu", d->symbols.n);
    struct symbol s = {.var = var,
                       .expr = expr,
                       .is_size = is_size,
                       .id = isl_id_alloc(d->ctx, name, NULL)};
    vec_push(d->arena, &d->symbols, s);
    return &d->symbols.at[d->symbols.n - 1];
}

// Return the symbol of a variable, the innermost first, or NULL.
static struct symbol *find_var(struct domain *d, const struct ir_var *var)
{
    for (size_t i = d->symbols.n; i-- > 0;) {
        if (d->symbols.at[i].var == var)
            return &d->symbols.at[i];
    }
    return NULL;
}

// Return the function whose value is a symbol.
static isl_pw_aff *symbol_value(struct domain *d, const struct symbol *s)
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

// Set *(bool *)context to false at a variable that is not a size or scalar
// of the caller.
static void see_var(struct ir_expr *x, void *context)
{
    if (x->op == OP_var && x->u.var->kind != VAR_param)
        *(bool *)context = false;
}

// Return the function of an expression of sizes that is not affine: a symbol
// of its own.  NULL if it depends on anything else.
static isl_pw_aff *opaque_value(struct domain *d, struct ir_expr *x)
{
    bool of_sizes = facts_is_stable(x);
    ir_each_expr(x, see_var, &of_sizes);
    if (!of_sizes)
        return NULL;
    for (size_t i = 0; i < d->symbols.n; i++) {
        const struct symbol *s = &d->symbols.at[i];
        if (s->expr && ir_expr_equal(s->expr, x))
            return symbol_value(d, s);
    }
    return symbol_value(d, add_symbol(d, NULL, x, true));
}

// Return the function of a variable.
static isl_pw_aff *var_value(struct domain *d, struct ir_expr *x)
{
    const struct symbol *s = find_var(d, x->u.var);
    if (!s)
        return opaque_value(d, x);
    if (s->id)
        return symbol_value(d, s);
    return s->value ? value_of(d, s->value) : NULL;
}

// Return x / c, x % c or ceildiv(x, c) for a number c > 0.
static isl_pw_aff *quotient_value(struct domain *d, struct ir_expr *x)
{
    int64_t by;
    if (!ir_int_value(x->args[1], &by) || by <= 0)
        return opaque_value(d, x);
    isl_pw_aff *value = value_of(d, x->args[0]);
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
        return isl_pw_aff_min(value_of(d, x->args[0]), value_of(d, x->args[1]));
    case OP_max:
        return isl_pw_aff_max(value_of(d, x->args[0]), value_of(d, x->args[1]));
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

// Return the function of an index expression, or NULL if it is not affine.
static isl_pw_aff *value_of(struct domain *d, struct ir_expr *x)
{
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

// Return the set where a condition holds, or NULL if it is not affine.
static isl_set *condition_set(struct domain *d, struct ir_expr *c)
{
    isl_space *space = isl_space_copy(d->space);
    if (c->op == OP_const)
        return c->u.i ? isl_set_universe(space) : isl_set_empty(space);
    isl_space_free(space);
    if (c->op == OP_not)
        return isl_set_complement(condition_set(d, c->args[0]));
    if (c->op == OP_and || c->op == OP_or) {
        isl_set *x = condition_set(d, c->args[0]);
        isl_set *y = condition_set(d, c->args[1]);
        return c->op == OP_and ? isl_set_intersect(x, y) : isl_set_union(x, y);
    }
    bool compares = c->op == OP_lt || c->op == OP_le || c->op == OP_gt ||
                    c->op == OP_ge || c->op == OP_eq || c->op == OP_ne;
    if (!compares || !type_is_index(c->args[0]->type))
        return NULL;
    isl_pw_aff *x = value_of(d, c->args[0]);
    return comparison_set(c->op, x, value_of(d, c->args[1]));
}

// Return the part of a set inside a loop.
static isl_set *enter_loop(struct domain *d, isl_set *set,
                           const struct ir_for *loop)
{
    int64_t step;
    isl_pw_aff *from = value_of(d, loop->from), *to = value_of(d, loop->to);
    const struct symbol *s = add_symbol(d, loop->var, NULL, false);
    isl_pw_aff *v = symbol_value(d, s);
    if (!ir_int_value(loop->step, &step) || step < 1)
        set = isl_set_free(set);
    else if (step > 1) {
        isl_pw_aff *way =
            isl_pw_aff_sub(isl_pw_aff_copy(v), isl_pw_aff_copy(from));
        isl_pw_aff *rest = isl_pw_aff_tdiv_r(way, number(d, step));
        set = isl_set_intersect(set, isl_pw_aff_zero_set(rest));
    }
    set = isl_set_intersect(set, isl_pw_aff_le_set(from, isl_pw_aff_copy(v)));
    return isl_set_intersect(set, isl_pw_aff_lt_set(v, to));
}

// Give a name to a value, from here on.
static void add_name(struct domain *d, const struct ir_var *var,
                     struct ir_expr *value)
{
    struct symbol s = {.var = var};
    s.value = facts_is_stable(value) ? value : NULL;
    vec_push(d->arena, &d->symbols, s);
}

// Return the part of a set that is inside something; NULL if not affine.
static isl_set *enter(struct domain *d, isl_set *set,
                      const struct domain_step *step)
{
    if (step->condition) {
        isl_set *c = condition_set(d, step->condition);
        return isl_set_intersect(set, step->holds ? c : isl_set_complement(c));
    }
    const struct ir_stmt *s = step->stmt;
    if (s->kind == STMT_for)
        return enter_loop(d, set, &s->u.loop);
    if (s->kind == STMT_let)
        add_name(d, s->u.let.var, s->u.let.value);
    for (size_t i = 0; s->kind == STMT_stage && i < s->u.stage.iters.n; i++)
        add_name(d, s->u.stage.iters.at[i].var, s->u.stage.iters.at[i].binding);
    return set;
}

// Return the sizes that a kernel accepts; conditions that are not affine are
// left out.
static isl_set *accepted(struct domain *d, const struct ir_kernel *kernel)
{
    isl_set *set = isl_set_universe(isl_space_copy(d->space));
    for (size_t i = 0; i < kernel->params.n; i++) {
        const struct ir_var *var = kernel->params.at[i].var;
        if (!var || !type_is_index(var->type))
            continue;
        const struct symbol *s = add_symbol(d, var, NULL, true);
        isl_pw_aff *v = symbol_value(d, s);
        set = isl_set_intersect(set, isl_pw_aff_nonneg_set(v));
    }
    for (size_t i = 0; i < kernel->where.n; i++) {
        isl_set *c = condition_set(d, kernel->where.at[i]);
        if (c)
            set = isl_set_intersect(set, c);
    }
    return set;
}

// Return a set without its variables that are not sizes.
static isl_set *project(const struct domain *d, isl_set *set)
{
    for (size_t i = 0; i < d->symbols.n; i++) {
        const struct symbol *s = &d->symbols.at[i];
        if (!s->id || s->is_size)
            continue;
        int at = isl_set_find_dim_by_id(set, isl_dim_param, s->id);
        if (at >= 0)
            set = isl_set_project_out(set, isl_dim_param, (unsigned)at, 1);
    }
    return set;
}

// Return the first point of a set in the order of the symbols: small sizes
// first.
static isl_point *first_point(const struct domain *d, isl_set *set)
{
    unsigned n = 0;
    for (size_t i = 0; i < d->symbols.n; i++) {
        const struct symbol *s = &d->symbols.at[i];
        if (!s->id)
            continue;
        set = isl_set_align_params(
            set, isl_space_set_dim_id(isl_space_params_alloc(d->ctx, 1),
                                      isl_dim_param, 0, isl_id_copy(s->id)));
        int at = isl_set_find_dim_by_id(set, isl_dim_param, s->id);
        set = isl_set_move_dims(set, isl_dim_set, n++, isl_dim_param,
                                (unsigned)at, 1);
    }
    return isl_set_sample_point(isl_set_lexmin(set));
}

// Make an example of a set that is not empty.
static void make_example(const struct domain *d, isl_set *set,
                         struct domain_example *out)
{
    isl_point *point = first_point(d, set);
    int at = 0;
    for (size_t i = 0; i < d->symbols.n; i++) {
        const struct symbol *s = &d->symbols.at[i];
        if (!s->id)
            continue;
        isl_val *v = isl_point_get_coordinate_val(point, isl_dim_set, at++);
        struct domain_value value = {s->var, isl_val_get_num_si(v)};
        isl_val_free(v);
        if (s->var)
            vec_push(d->arena, out, value);
    }
    isl_point_free(point);
}

// Return the part of a set where the index is outside of the extent.
static isl_set *outside(struct domain *d, const isl_set *set,
                        const struct domain_access *access)
{
    isl_pw_aff *index = value_of(d, access->index);
    isl_pw_aff *extent = value_of(d, access->extent);
    isl_set *below = isl_pw_aff_lt_set(isl_pw_aff_copy(index), number(d, 0));
    isl_set *above = isl_pw_aff_ge_set(index, extent);
    return isl_set_intersect(isl_set_copy((isl_set *)set),
                             isl_set_union(below, above));
}

// Release what belongs to a domain.
static void end(struct domain *d)
{
    for (size_t i = 0; i < d->symbols.n; i++)
        isl_id_free(d->symbols.at[i].id);
    isl_space_free(d->space);
}

// Return the part of a set where a condition may hold: what is not affine in
// it counts as true.
static isl_set *restrict_to(struct domain *d, isl_set *set, struct ir_expr *c)
{
    if (c->op == OP_and)
        return restrict_to(d, restrict_to(d, set, c->args[0]), c->args[1]);
    isl_set *where = condition_set(d, c);
    return where ? isl_set_intersect(set, where) : set;
}

bool domain_covers(isl_ctx *ctx, struct arena *a,
                   const struct ir_kernel *kernel, struct ir_expr *own,
                   struct ir_expr *const *others, size_t n)
{
    struct domain d = {.ctx = ctx, .arena = a};
    d.space = isl_space_set_alloc(ctx, 0, 0);
    isl_set *left = accepted(&d, kernel);
    if (own)
        left = restrict_to(&d, left, own);
    for (size_t i = 0; i < n; i++) {
        isl_set *taken = condition_set(&d, others[i]);
        if (taken)
            left = isl_set_subtract(left, taken);
    }
    bool covers = isl_set_is_empty(left) == isl_bool_true;
    isl_set_free(left);
    end(&d);
    return covers;
}

bool domain_leaves(isl_ctx *ctx, struct arena *a,
                   const struct domain_access *access,
                   struct domain_example *example)
{
    struct domain d = {.ctx = ctx, .arena = a};
    d.space = isl_space_set_alloc(ctx, 0, 0);
    isl_set *set = accepted(&d, access->kernel);
    for (size_t i = 0; i < access->path->n && set; i++)
        set = enter(&d, set, &access->path->at[i]);
    isl_set *wrong = outside(&d, set, access);
    isl_set *reached = project(&d, isl_set_copy(set));
    isl_set *hit = project(&d, isl_set_copy(wrong));
    bool leaves = isl_set_is_empty(hit) == isl_bool_false &&
                  isl_set_is_equal(reached, hit) == isl_bool_true;
    if (leaves)
        make_example(&d, isl_set_copy(wrong), example);
    isl_set_free(hit);
    isl_set_free(reached);
    isl_set_free(wrong);
    isl_set_free(set);
    end(&d);
    return leaves;
}
