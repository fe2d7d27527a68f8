// Products of sizes and positions.

#include "passes/proof/positions.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/proof/pieces.h"

#include <isl/map.h>

enum { OPERATIONS_MOST = 10 * 1000 };

bool positions_is_one(const struct ir_expr *x)
{
    int64_t by;
    return x->op == OP_index ||
           (x->op == OP_div && x->args[0]->op == OP_index &&
            ir_int_value(x->args[1], &by) && by > 0);
}

// Return whether an expression is a product with sizes, numbers and positions;
// notes whether it has some of these.
static bool is_product(const struct ir_expr *x, bool *has_position)
{
    bool is_one = positions_is_one(x);
    *has_position |= is_one;
    if (is_one || x->op == OP_const ||
        (x->op == OP_var && x->u.var->kind == VAR_param))
        return true;
    for (uint32_t i = 0; i < x->n; i++)
        if (!is_product(x->args[i], has_position))
            return false;
    return x->op == OP_mul || x->op == OP_cast;
}

bool positions_multiply(const struct ir_expr *x)
{
    bool has_position = false;
    return x->op == OP_mul && is_product(x, &has_position) && has_position;
}

// Return whether a family writes one index along a dimension, without what is
// computed from data.
static bool is_plain(const struct family *f, uint32_t d)
{
    const struct offsets *o = &f->offsets[d];
    return f->base[d] && ir_is_stable(f->base[d]) && !o->lo && !o->hi &&
           f->first->count[d] == 1;
}

// Require that new unknowns are the indices that may tell a position, then the
// position.  Returns how many unknowns these are.
static uint32_t add_indices(struct system *s, const struct told_product *by,
                            struct ir_expr *position,
                            uint32_t unknowns[RANK_MOST])
{
    uint32_t n = 0;
    struct linear *l = &s->linear;
    for (uint32_t d = 0; d <= by->rank; d++) {
        bool is_last = d == by->rank;
        if (!is_last && !by->plain[d])
            continue;
        struct sum value =
            system_value(s, is_last ? position : by->plain[d], FIRST);
        struct sum same = linear_add_unknown(l);
        linear_require_equal(l, &same, &value);
        unknowns[n++] = l->n;
    }
    return n;
}

// Return whether indices tell a position.
static bool is_told(const struct system *s, const struct told_product *by,
                    struct ir_expr *position)
{
    struct system own;
    uint32_t unknowns[RANK_MOST];
    bool is = false;
    if (by->rank >= RANK_MOST)
        return false;
    system_start(&own, s->arena, s->program, s->facts, s->most);
    isl_ctx_set_max_operations(own.linear.ctx, OPERATIONS_MOST);
    system_begin(&own, (struct relation){NULL, NULL, false});
    uint32_t n = add_indices(&own, by, position, unknowns);
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

// Return whether indices tell all positions in a product.
static bool are_told(const struct system *s, const struct told_product *by,
                     const struct ir_expr *product)
{
    if (positions_is_one(product))
        return is_told(s, by, (struct ir_expr *)product);
    for (uint32_t i = 0; i < product->n; i++)
        if (!are_told(s, by, product->args[i]))
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

// Return the number of a product as a function of some indices; notes one that is
// new, and whether these tell it.
static size_t number_of(struct told_products *all, const struct system *s,
                        struct told_product *new)
{
    size_t i = 0;
    while (i < all->n && !is_same(&all->at[i], new))
        i++;
    if (i == all->n) {
        new->is_told = are_told(s, new, new->product);
        vec_push(s->arena, all, *new);
    }
    return i;
}

const char *positions_name(struct told_products *all, const struct system *s,
                           const struct family *f,
                           const struct ir_expr *product)
{
    uint32_t rank = f->first->buffer->rank;
    for (uint32_t only = 0; only <= rank; only++) {
        struct told_product new = {
            s->program->launch, product, rank, {NULL}, false};
        for (uint32_t d = 0; d < rank; d++)
            new.plain[d] = (d == only || only == rank) && is_plain(f, d)
                               ? f->base[d]
                               : NULL;
        size_t i = number_of(all, s, &new);
        if (all->at[i].is_told)
            return arena_printf(s->arena, "product %zu", i);
    }
    return NULL;
}
