// The coordinates of a tile, from its number in a tile order (raster).
//
// Every order is one to one for any number of rows and columns. The coordinates
// are within the grid; min and max with its ends say that again, for the passes
// that prove bounds.

#include "passes/lower/orders.h"

#include "ir/build.h"
#include "passes/opt/fold.h"

// A group of rows, the tile in it, and how many rows it has.
struct band {
    struct ir_expr *number, *first, *inside, *height;
};

// Return a number of type `int`.
static struct ir_expr *number(const struct order_tile *t, int64_t n)
{
    return ir_int(t->p->arena, n);
}

// Return an operation on two numbers.
static struct ir_expr *op(const struct order_tile *t, enum ir_op o,
                          struct ir_expr *x, struct ir_expr *y)
{
    return ir_binary(t->p->arena, o, x, y);
}

// Give a value a name, which is returned.
static struct ir_expr *name(struct order_tile *t, const char *text,
                            struct ir_expr *value)
{
    struct arena *a = t->p->arena;
    struct ir_var *v = ir_var_new(a, str_name(t->p->names, text), value->type,
                                  VAR_let, t->from->span);
    struct ir_stmt *s = ir_stmt_let(a, v, fold_expr(a, t->facts, value));
    ir_append(a, t->out, ir_stmt_from(s, t->from));
    facts_enter(t->facts, s);
    return ir_read(a, v);
}

// Return how many of `all` there are from `first` on, at most a group.
static struct ir_expr *at_most_group(const struct order_tile *t,
                                     struct ir_expr *all, struct ir_expr *first)
{
    struct ir_expr *left = op(t, OP_sub, all, first);
    struct ir_expr *least = op(t, OP_min, left, number(t, t->group));
    return op(t, OP_max, least, number(t, 1));
}

// Find the group of rows of a tile.
static struct band band_of(struct order_tile *t, struct ir_expr *n)
{
    struct band b;
    struct ir_expr *size = op(t, OP_mul, number(t, t->group), t->columns);
    b.number = name(t, "band", op(t, OP_div, n, size));
    b.first = op(t, OP_mul, b.number, number(t, t->group));
    b.inside = name(t, "inside", op(t, OP_mod, n, size));
    b.height = name(t, "height", at_most_group(t, t->rows, b.first));
    return b;
}

// Run every second group from its last column to its first.
static void turn(struct order_tile *t, const struct band *b)
{
    struct arena *a = t->p->arena;
    struct ir_expr *odd = op(t, OP_mod, b->number, number(t, 2));
    struct ir_expr *last = op(t, OP_sub, t->columns, number(t, 1));
    t->column = ir_select(a, op(t, OP_eq, odd, number(t, 1)),
                          op(t, OP_sub, last, t->column), t->column);
}

// Row after row.
static void row(struct order_tile *t, struct ir_expr *n)
{
    t->row = op(t, OP_div, n, t->columns);
    t->column = op(t, OP_mod, n, t->columns);
}

// Column after column.
static void column(struct order_tile *t, struct ir_expr *n)
{
    t->row = op(t, OP_mod, n, t->rows);
    t->column = op(t, OP_div, n, t->rows);
}

// Return an operation on a number and the height of a group, which but for the
// last one is known.
static struct ir_expr *by_height(const struct order_tile *t, enum ir_op o,
                                 struct ir_expr *x, const struct band *b)
{
    struct ir_expr *group = number(t, t->group);
    return ir_select(t->p->arena, op(t, OP_eq, b->height, group),
                     op(t, o, x, group), op(t, o, x, b->height));
}

// Run through the columns of a group.
static struct band columns_of_band(struct order_tile *t, struct ir_expr *n)
{
    struct band b = band_of(t, n);
    struct ir_expr *down = by_height(t, OP_mod, b.inside, &b);
    t->row = op(t, OP_add, b.first, down);
    t->column = name(t, "across", by_height(t, OP_div, b.inside, &b));
    return b;
}

// Columns of a group of rows, group after group.
static void grouped(struct order_tile *t, struct ir_expr *n)
{
    columns_of_band(t, n);
}

// The same, every second group backwards.
static void snake(struct order_tile *t, struct ir_expr *n)
{
    struct band b = columns_of_band(t, n);
    turn(t, &b);
}

// Find tile `spot` of a square on Hilbert's curve, from its first row and
// column to its first row and last column.  Two bits of the number say in which
// quarter it is; the smaller square in it is turned.
static void curve(struct order_tile *t, struct ir_expr *spot,
                  struct ir_expr **y, struct ir_expr **x)
{
    struct arena *a = t->p->arena;
    *x = *y = number(t, 0);
    for (int64_t side = 1; side < t->group; side *= 2) {
        struct ir_expr *quarter = op(t, OP_div, spot, number(t, side * side));
        struct ir_expr *right = name(
            t, "right",
            op(t, OP_mod, op(t, OP_div, quarter, number(t, 2)), number(t, 2)));
        struct ir_expr *down =
            name(t, "down",
                 op(t, OP_mod, op(t, OP_add, quarter, right), number(t, 2)));
        struct ir_expr *is_turned = op(t, OP_eq, down, number(t, 0));
        struct ir_expr *is_over = op(t, OP_eq, right, number(t, 1));
        struct ir_expr *last = number(t, side - 1);
        struct ir_expr *across =
            ir_select(a, is_over, op(t, OP_sub, last, *x), *x);
        struct ir_expr *along =
            ir_select(a, is_over, op(t, OP_sub, last, *y), *y);
        struct ir_expr *inner_x = ir_select(a, is_turned, along, *x);
        struct ir_expr *inner_y = ir_select(a, is_turned, across, *y);
        *x =
            name(t, "x",
                 op(t, OP_add, inner_x, op(t, OP_mul, right, number(t, side))));
        *y = name(t, "y",
                  op(t, OP_add, inner_y, op(t, OP_mul, down, number(t, side))));
    }
}

// Along a Hilbert curve, in squares side by side.
static void hilbert(struct order_tile *t, struct ir_expr *n)
{
    struct arena *a = t->p->arena;
    struct band b = band_of(t, n);
    struct ir_expr *group = number(t, t->group), *y, *x;
    struct ir_expr *size = op(t, OP_mul, b.height, group);
    struct ir_expr *left =
        name(t, "left", op(t, OP_mul, op(t, OP_div, b.inside, size), group));
    struct ir_expr *spot = name(t, "spot", op(t, OP_mod, b.inside, size));
    struct ir_expr *width = at_most_group(t, t->columns, left);
    struct ir_expr *is_square =
        op(t, OP_eq, op(t, OP_add, b.height, width), number(t, 2 * t->group));
    curve(t, spot, &y, &x);
    y = ir_select(a, is_square, y, op(t, OP_mod, spot, b.height));
    x = ir_select(a, is_square, x, op(t, OP_div, spot, b.height));
    t->row = op(t, OP_add, b.first, y);
    t->column = op(t, OP_add, left, x);
    turn(t, &b);
}

// Return a number that is in 0..end, so that this can be seen.
static struct ir_expr *within(const struct order_tile *t, struct ir_expr *x,
                              struct ir_expr *end)
{
    struct ir_expr *last = op(t, OP_sub, end, number(t, 1));
    return op(t, OP_max, op(t, OP_min, x, last), number(t, 0));
}

void orders_find(struct order_tile *t, enum tile_order order, struct ir_expr *n)
{
    static void (*const find[])(struct order_tile *, struct ir_expr *) = {
#define ORDER(name, group, meaning) name,
#include "passes/analysis/orders.def"
#undef ORDER
    };
    find[order](t, n);
    t->row = within(t, t->row, t->rows);
    t->column = within(t, t->column, t->columns);
}
