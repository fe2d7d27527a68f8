// Finds the kernel that `defines` names.  Both kernels run on the same data, so
// their parameters must be the same but for their names.

#include "frontend/definition.h"

#include "ir/base/suggest.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"

// Return the kernel of that name in front of another one, or NULL.
static struct ir_kernel *find(const struct ir_kernel *k,
                              const struct program *program,
                              struct suggest *near)
{
    for (size_t i = 0; i < program->kernels.n; i++) {
        struct ir_kernel *other = program->kernels.at[i];
        if (other->name == k->terms.defines && other != k)
            return other;
        if (other != k)
            suggest_offer(near, other->name);
    }
    return NULL;
}

// Return whether `n` extents are the same once the variables of one kernel
// stand for those of the other.
static bool same_extents(struct arena *a, uint32_t n, struct ir_expr *const *x,
                         struct ir_expr *const *y, const struct map *vars)
{
    for (uint32_t i = 0; i < n; i++)
        if (!ir_expr_equal(ir_substitute(a, x[i], vars, NULL), y[i]))
            return false;
    return true;
}

// Return what differs between two arrays, or NULL.
static const char *array_difference(struct arena *a, const struct ir_buffer *x,
                                    const struct ir_buffer *y,
                                    const struct map *vars)
{
    if (!type_equal(x->elem, y->elem))
        return "the types of their elements";
    if (x->rank != y->rank)
        return "their dimensions";
    if (x->role != y->role)
        return "what they are: input, result or `inout`";
    bool has_strides = x->strides && y->strides;
    bool ok = same_extents(a, x->rank, x->shape, y->shape, vars) &&
              !x->strides == !y->strides &&
              (!has_strides ||
               same_extents(a, x->rank, x->strides, y->strides, vars));
    return ok ? NULL : "their extents or strides";
}

// Return what differs between parameter `i` of two kernels, or NULL.  Enters
// what stands for a variable.
static const char *difference(struct arena *a, const struct ir_param *x,
                              const struct ir_param *y, struct map *vars)
{
    if (!x->var != !y->var)
        return "what they are: an array, or a number";
    if (!x->var)
        return array_difference(a, x->buffer, y->buffer, vars);
    if (!type_equal(x->var->type, y->var->type))
        return "their types";
    map_set(vars, x->var, ir_read(a, y->var));
    return NULL;
}

// Return the name of a parameter.
static const char *name_of(const struct ir_param *p)
{
    return p->var ? p->var->name : p->buffer->name;
}

// Return what differs between the parameters of two kernels, or NULL; sizes
// are compared first, as extents mention them.
static const char *parameters_difference(struct arena *a,
                                         const struct ir_kernel *x,
                                         const struct ir_kernel *y)
{
    struct map vars = {.arena = a};
    if (x->params.n != y->params.n)
        return arena_printf(a, "%zu of them, not %zu", y->params.n,
                            x->params.n);
    for (int arrays = 0; arrays < 2; arrays++) {
        for (size_t i = 0; i < x->params.n; i++) {
            const struct ir_param *p = &x->params.at[i], *q = &y->params.at[i];
            bool is_array = p->buffer && q->buffer;
            const char *what =
                is_array == arrays ? difference(a, p, q, &vars) : NULL;
            if (what)
                return arena_printf(a, "`%s` and `%s` differ in %s", name_of(q),
                                    name_of(p), what);
        }
    }
    return NULL;
}

void definition_find(struct parser *p, struct ir_kernel *k,
                     const struct program *program)
{
    const struct ir_terms *t = &k->terms;
    struct suggest near = {.wanted = t->defines ? t->defines : ""};
    if (!t->defines)
        return;
    struct ir_kernel *other = find(k, program, &near);
    if (!other) {
        diag_error(p->diags, t->defines_at, D_unknown_definition, t->defines);
        suggest_help(p->diags, &near);
        return;
    }
    const char *what = parameters_difference(p->arena, other, k);
    if (what) {
        diag_error(p->diags, t->defines_at, D_other_parameters, k->name,
                   other->name, what);
        diag_note(p->diags, other->span, "`%s` is declared here", other->name);
    }
    k->definition = other->definition ? other->definition : other;
}
