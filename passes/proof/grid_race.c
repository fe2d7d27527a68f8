// Threads of two blocks that access the same element of global memory, one of
// which writes.  Blocks wait for nobody: they are in any two places of the
// launch.
//
// A loop whose step is as long as the launch is wide,
//
//   for tile in block.x..tiles step resident(1)     // grid(min(tiles, ...))
//
// has different values in different blocks: where both sides have the same one,
// they are of the same block along x.

#include "passes/proof/claims.h"
#include "passes/proof/pairs.h"

#include "ir/build.h"
#include "ir/equal.h"

// Return the loop of a side whose values are those of one block only, or NULL.
static const struct scope *own_loop(const struct scope *scope)
{
    int64_t step;
    for (; scope; scope = scope->up) {
        if (scope->var && !ir_int_value(scope->step, &step))
            return scope;
    }
    return NULL;
}

// Return whether a grid is at most as long as a step along x.
static bool is_within(const struct ir_expr *grid, const struct ir_expr *step)
{
    if (ir_expr_equal(grid, step))
        return true;
    return grid->op == OP_min &&
           (is_within(grid->args[0], step) || is_within(grid->args[1], step));
}

// Return whether both sides are in a loop over block.x by the same step, with
// the width of the launch as the least of it.
static bool walks_apart(const struct system *s, const struct scope *x,
                        const struct scope *y)
{
    const struct ir_expr *grid = s->program->launch->grid[0];
    bool fit = x && y && ir_expr_equal(x->step, y->step) &&
               ir_expr_equal(x->from, y->from) && x->from->op == OP_index &&
               x->from->u.axis == AXIS_block_x && is_within(grid, x->step);
    return fit;
}

// Return the value of the position on an axis, or of what stands for it.
static struct sum position(struct system *s, enum axis axis, enum side side)
{
    const struct scope *x = own_loop(s->scope[FIRST]);
    const struct scope *y = own_loop(s->scope[SECOND]);
    if (axis == AXIS_block_x && walks_apart(s, x, y)) {
        const struct scope *own = side == FIRST ? x : y;
        struct ir_expr *var = ir_read(s->arena, (struct ir_var *)own->var);
        return system_value(s, var, side);
    }
    return system_value(s, ir_index_value(s->arena, axis), side);
}

// Return whether the two blocks may be different ones.
static bool may_differ(struct system *s, const void *context)
{
    (void)context;
    for (int i = 0; i < 3; i++) {
        enum axis axis = (enum axis)(AXIS_block_x + i);
        int64_t one;
        if (ir_int_value(s->program->launch->grid[i], &one) && one == 1)
            continue;
        struct sum x = position(s, axis, FIRST), y = position(s, axis, SECOND);
        if (system_may_be_less(s, &x, &y) || system_may_be_less(s, &y, &x))
            return true;
    }
    return false;
}

// Collect the families of nodes that are of arrays in global memory.
static void collect(struct arena *a, const struct nodes *nodes,
                    struct family_set *out)
{
    vec_foreach_value(n, nodes) {
        for (size_t k = 0; k < n->families.n; k++) {
            if (n->families.at[k]->first->buffer->space == SPACE_global)
                vec_push(a, out, n->families.at[k]);
        }
        collect(a, &n->body, out);
        collect(a, &n->otherwise, out);
    }
}

// Say that the claim is asked of the accesses to arrays that are written.
static void ask_all(struct program *p, const struct family_set *all)
{
    for (size_t i = 0; i < all->n; i++) {
        bool is_written = false;
        for (size_t k = 0; k < all->n && !is_written; k++)
            is_written = all->at[k]->first->writes &&
                         all->at[k]->first->buffer == all->at[i]->first->buffer;
        const struct accesses *members = &all->at[i]->members;
        for (size_t k = 0; is_written && k < members->n; k++) {
            members->at[k]->claims[CLAIM_grid_race].is_asked = true;
            if (p->has_grid_barrier)
                access_open(members->at[k], CLAIM_grid_race, REASON_fences,
                            NULL);
        }
    }
}

void claim_grid_race(struct program *p, struct system *s)
{
    struct family_set all = {0};
    struct pair_question q = {.relation = {NULL, NULL, true},
                              .claim = CLAIM_grid_race,
                              .may_differ = may_differ};
    collect(p->arena, &p->body, &all);
    ask_all(p, &all);
    for (size_t i = 0; i < all.n; i++) {
        for (size_t k = 0; k <= i; k++) {
            if (families_conflict(all.at[i], all.at[k], true))
                pair_ask(s, &q, all.at[i], all.at[k]);
        }
    }
}
