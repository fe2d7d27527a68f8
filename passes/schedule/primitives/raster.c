// raster -- say in which order the tiles of a grid are numbered.
//
//   for i in 0..m @block.y {               raster(i, j, grouped, 8)
//     for j in 0..n @block.x { ... } }   =>
//   for i in 0..m @block.y @order(grouped) @group(8) {
//     for j in 0..n @block.x { ... } }
//
// Blocks that run at the same time have neighbouring numbers; what their tiles
// share should fit in the L2 cache. Lowering makes one grid of all loops over
// blocks, and computes i and j from a number by the order. Without
// this primitive, rows are numbered one after the other. Blocks run in any
// order, so every tile order is correct.
//
// Requires:
//  1. the loops are the last two that are bound to blocks, which stand directly
//     in each other; none has an order                                   E0764
//  2. one of the orders of tiles                                         E0766
//  3. a group of rows where the order has groups: of a power of two up to
//     64 for hilbert                                                     E0767

#include "passes/schedule/prim.h"

#include "ir/marks.h"
#include "passes/analysis/tiles.h"

// Check the nest.
static const char *check_nest(const struct tiles *t, struct ir_stmt *row,
                              struct ir_stmt *column)
{
    if (t->fault)
        return t->fault;
    if (t->loops.n < 2 || t->loops.at[t->loops.n - 2] != row ||
        t->loops.at[t->loops.n - 1] != column)
        return "these are not the last two loops over blocks";
    return tiles_mark(t, MARK_order) ? "they have an order already" : NULL;
}

// Find the order; reports E0766 and E0767.
static bool find_order(const struct sched_call *c, int64_t group)
{
    struct diag_list *diags = c->pass->diags;
    enum tile_order order;
    if (!tiles_order(c->args.at[2].key, &order)) {
        diag_error(diags, c->args.at[2].span, D_tile_order, c->args.at[2].key);
        for (int i = 0; i < ORDER_COUNT; i++)
            diag_help(diags, "`%s` is one",
                      tiles_order_name((enum tile_order)i));
        return false;
    }
    if (tiles_group_fits(order, group))
        return true;
    return diag_error(diags, c->span, D_tile_group, tiles_order_name(order),
                      (long long)group);
}

bool sched_raster(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct ir_stmt *row = sched_arg(c, 0), *column = sched_arg(c, 1);
    int64_t group = c->args.n > 3 ? c->args.at[3].number : 0;
    struct tiles t = tiles_find(p->scratch, p->kernel, row);
    const char *wrong = check_nest(&t, row, column);
    if (wrong) {
        return sched_refuse_two(c, row, column, "to be ordered", D_tile_nest,
                                sched_name_of(row), wrong);
    }
    if (!find_order(c, group))
        return false;
    ir_attr_set_word(p->arena, row, MARK_order, c->args.at[2].key);
    if (group)
        ir_attr_set(p->arena, row, MARK_group, group);
    return true;
}
