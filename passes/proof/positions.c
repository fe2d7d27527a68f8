// Products of sizes and positions.

#include "passes/proof/positions.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/proof/pieces.h"

#include <isl/map.h>

enum { OPERATIONS_MOST = 10 * 1000 };

bool positions_multiply(const struct ir_expr *x)
{
    bool has_position = false;
    if (x->op != OP_mul)
        return false;
    ir_foreach_expr(e, x) {
        bool is_size = e->op == OP_var && e->u.var->kind == VAR_param;
        if (!is_size && e->op != OP_mul && e->op != OP_cast &&
            e->op != OP_const && e->op != OP_index)
            return false;
        has_position |= e->op == OP_index;
    }
    return has_position;
}

// Return whether a family writes one index along a dimension, without what is
// computed from data.
static bool is_plain(const struct family *f, uint32_t d)
{
    const struct offsets *o = &f->offsets[d];
    return f->base[d] && ir_is_stable(f->base[d]) && !o->lo && !o->hi &&
           f->first->count[d] == 1;
}

// Require that new unknowns are the plain indices of a family, then a position.
// Returns how many unknowns these are.
static uint32_t add_indices(struct system *s, const struct family *f,
                            enum axis axis, uint32_t unknowns[RANK_MOST])
{
    uint32_t n = 0;
    struct linear *l = &s->linear;
    struct ir_expr *position = ir_index_value(s->arena, axis);
    for (uint32_t d = 0; d <= f->first->buffer->rank; d++) {
        bool is_last = d == f->first->buffer->rank;
        if (!is_last && !is_plain(f, d))
            continue;
        struct sum value =
            system_value(s, is_last ? position : f->base[d], FIRST);
        struct sum same = linear_add_unknown(l);
        linear_require_equal(l, &same, &value);
        unknowns[n++] = l->n;
    }
    return n;
}

// Return whether the plain indices of a family tell a position.
static bool is_told(const struct system *s, const struct family *f,
                    enum axis axis)
{
    struct system own;
    uint32_t unknowns[RANK_MOST];
    bool is = false;
    if (f->first->buffer->rank >= RANK_MOST)
        return false;
    system_start(&own, s->arena, s->program, s->facts, s->most);
    isl_ctx_set_max_operations(own.linear.ctx, OPERATIONS_MOST);
    system_begin(&own, (struct relation){NULL, NULL, false});
    uint32_t n = add_indices(&own, f, axis, unknowns);
    if (!own.linear.failed) {
        struct pieces pieces = {.arena = s->arena};
        pieces_add(&pieces, &own, NULL, unknowns, n);
        isl_map *map =
            isl_map_from_range(piece_set(&pieces.all.at[0], own.linear.ctx, n));
        map = isl_map_move_dims(map, isl_dim_in, 0, isl_dim_out, 0, n - 1);
        is = isl_map_is_single_valued(map) == isl_bool_true;
        isl_map_free(map);
    }
    system_end(&own);
    return is;
}

// Return whether the plain indices of a family tell all positions in a product.
static bool are_told(const struct system *s, const struct family *f,
                     const struct ir_expr *product)
{
    ir_foreach_expr(e, (struct ir_expr *)product)
        if (e->op == OP_index && !is_told(s, f, e->u.axis))
            return false;
    return true;
}

// Return whether two products are the same function of the elements.
static bool is_same(const struct told_product *x, const struct told_product *y)
{
    bool same = x->launch == y->launch && x->rank == y->rank &&
                ir_expr_equal(x->product, y->product);
    for (uint32_t d = 0; d < x->rank && same; d++)
        same = x->plain[d] && y->plain[d]
                   ? ir_expr_equal(x->plain[d], y->plain[d])
                   : x->plain[d] == y->plain[d];
    return same;
}

const char *positions_name(struct told_products *all, const struct system *s,
                           const struct family *f,
                           const struct ir_expr *product)
{
    size_t i = 0;
    struct told_product new = {
        s->program->launch, product, f->first->buffer->rank, {NULL}, false};
    for (uint32_t d = 0; d < new.rank; d++)
        new.plain[d] = is_plain(f, d) ? f->base[d] : NULL;
    while (i < all->n && !is_same(&all->at[i], &new))
        i++;
    if (i == all->n) {
        new.is_told = are_told(s, f, product);
        vec_push(s->arena, all, new);
    }
    return all->at[i].is_told ? arena_printf(s->arena, "product %zu", i) : NULL;
}
