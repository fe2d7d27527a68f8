// Index maps of schedules: `(i, j) -> (i / 4, j, i % 4)`.

#include "ir/build.h"
#include "passes/schedule/interpret/interpret.h"

// A map under construction.
struct mapping {
    struct interp *in;
    const struct sched_expr *x;
    struct sched_map *map;
};

// Return the variable of a name in front of `->`, or NULL.
static struct ir_var *find_var(const struct mapping *m, const char *name)
{
    for (uint32_t i = 0; i < m->map->n; i++)
        if (m->map->vars[i]->name == name)
            return m->map->vars[i];
    return NULL;
}

// Return whether an index can be made by an operation.
static bool is_for_indices(enum ir_op op)
{
    return op == OP_add || op == OP_sub || op == OP_mul || op == OP_div ||
           op == OP_mod;
}

// Return an expression over the variables; NULL after an error.  What is no
// operation and no variable is an integer of the schedule.
static struct ir_expr *map_expr(const struct mapping *m,
                                const struct sched_expr *x)
{
    int64_t number;
    struct arena *a = m->in->pass->arena;
    struct ir_var *var = x->kind == SCHED_name ? find_var(m, x->name) : NULL;
    if (var)
        return ir_at(a, ir_read(a, var), x->span);
    if (x->kind == SCHED_op && is_for_indices(x->op)) {
        struct ir_expr *left = map_expr(m, x->args.at[0]);
        struct ir_expr *right = left ? map_expr(m, x->args.at[1]) : NULL;
        return right ? ir_at(a, ir_binary(a, x->op, left, right), x->span)
                     : NULL;
    }
    if (!interp_int(m->in, x, "a number of a map", &number))
        return NULL;
    return ir_at(a, ir_int(a, number), x->span);
}

// Declare the variables.
static void declare(const struct mapping *m)
{
    struct arena *a = m->in->pass->arena;
    m->map->n = (uint32_t)m->x->names.n;
    m->map->vars = arena_array(a, struct ir_var *, m->map->n);
    for (uint32_t i = 0; i < m->map->n; i++) {
        const struct sched_name *name = &m->x->names.at[i];
        m->map->vars[i] = ir_var_new(a, name->text, type_scalar(TYPE_int),
                                     VAR_let, name->span);
    }
}

bool interp_map(struct interp *in, const struct sched_expr *x,
                struct sched_value *out)
{
    struct arena *a = in->pass->arena;
    struct sched_map *map = arena_new(a, struct sched_map);
    struct mapping m = {in, x, map};
    declare(&m);
    map->span = x->span;
    map->m = (uint32_t)x->args.n;
    map->to = arena_array(a, struct ir_expr *, map->m);
    for (uint32_t i = 0; i < map->m; i++)
        if (!(map->to[i] = map_expr(&m, x->args.at[i])))
            return false;
    *out = (struct sched_value){.kind = VALUE_map, .span = x->span, .map = map};
    return true;
}
