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

// Add the number that an expression is, or where its type ends.
static void see_number(struct ir_expr *x, void *context)
{
    if (x->op == OP_const && type_is_integer(x->type))
        add_number(context, x->u.i);
    if (x->op != OP_cast || !type_is_integer(x->type) ||
        !type_is_integer(x->args[0]->type) ||
        type_bits(x->type) > NARROW_MOST ||
        type_bits(x->args[0]->type) <= type_bits(x->type))
        return;
    add_number(context, INT64_C(1) << (type_bits(x->type) -
                                       (unsigned)type_is_signed(x->type)));
}

// Add the numbers of an expression.
static void see_place(struct ir_expr **place, void *context)
{
    ir_each_expr(*place, see_number, context);
}

// Add the numbers that a launch has.
static void see_launch(struct ir_stmt *s, void *context)
{
    if (s->kind != STMT_launch)
        return;
    for (int d = 0; d < 3; d++) {
        add_number(context, s->u.launch.block[d]);
        ir_each_expr(s->u.launch.grid[d], see_number, context);
    }
}

// Add the numbers of loops and conditions.
static void see_control(struct ir_stmt *s, void *context)
{
    if (s->kind == STMT_for || s->kind == STMT_if)
        ir_stmt_exprs(s, see_place, context);
}

void numbers_collect(struct chooser *c)
{
    struct ir_kernel *k = c->v->kernel;
    struct ir_block *source = (struct ir_block *)&c->v->source->body;
    for (size_t i = 0; i < k->where.n; i++)
        ir_each_expr(k->where.at[i], see_number, c);
    for (size_t i = 0; i < k->guard.n; i++)
        ir_each_expr(k->guard.at[i], see_number, c);
    ir_each_stmt(&k->body, see_launch, c);
    c->n_tiles = c->n_numbers;
    ir_each_stmt(&k->body, see_control, c);
    ir_each_expr_in(source, see_number, c);
    ir_each_expr_in(&k->body, see_number, c);
}
