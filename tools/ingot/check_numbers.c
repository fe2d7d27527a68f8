// The numbers of a variant around which its sizes are drawn.

#include "tools/ingot/check_sizes.h"

#include "ir/walk.h"

enum { LARGEST_NUMBER = 1 << 17, NARROW_MOST = 16 };

// Add a number unless it is there.
static void add_number(struct chooser *c, int64_t x)
{
    if (x < 2 || x > LARGEST_NUMBER || c->n_numbers == NUMBERS_MOST)
        return;
    for (size_t i = 0; i < c->n_numbers; i++)
        if (c->numbers[i] == x)
            return;
    c->numbers[c->n_numbers++] = x;
}

// Add the number that an expression itself is, or where its type ends.
static void add_own_number(struct chooser *c, const struct ir_expr *x)
{
    if (x->op == OP_const && type_is_integer(x->type))
        add_number(c, x->u.i);
    if (x->op != OP_cast || !type_is_integer(x->type) ||
        !type_is_integer(x->args[0]->type) ||
        type_bits(x->type) > NARROW_MOST ||
        type_bits(x->args[0]->type) <= type_bits(x->type))
        return;
    add_number(c, INT64_C(1) << (type_bits(x->type) -
                                 (unsigned)type_is_signed(x->type)));
}

// Add the numbers of an expression.
static void add_numbers(struct chooser *c, const struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        add_own_number(c, e);
}

// Add the numbers that a launch has.
static void add_launch(struct chooser *c, const struct ir_stmt *s)
{
    for (int d = 0; d < 3; d++) {
        add_number(c, s->u.launch.block[d]);
        add_numbers(c, s->u.launch.grid[d]);
    }
}

void numbers_collect(struct chooser *c)
{
    struct ir_kernel *k = c->v->kernel;
    for (size_t i = 0; i < k->where.n; i++)
        add_numbers(c, k->where.at[i]);
    for (size_t i = 0; i < k->guard.n; i++)
        add_numbers(c, k->guard.at[i]);
    ir_foreach_stmt(s, &k->body)
        if (s->kind == STMT_launch)
            add_launch(c, s);
    c->n_tiles = c->n_numbers;
    ir_foreach_stmt(s, &k->body)
        if (s->kind == STMT_for || s->kind == STMT_if)
            ir_foreach_expr_of(x, s)
                add_own_number(c, x);
    ir_foreach_expr_in(x, &c->v->source->body)
        add_own_number(c, x);
    ir_foreach_expr_in(x, &k->body)
        add_own_number(c, x);
}
