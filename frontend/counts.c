// Loops that count in another type than `int`.
//
//   for u: i8 in 0..n step 2 { A[u] = f32(u) }
//     =>
//   for u in 0..int(n) step 2 { A[u] = f32(i8(u)) }
//
// An `int` holds the values of all types but u64: there it counts from 0, and
// what it counts is added to the start.

#include "frontend/counts.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

// Return a value as an `int`.
static struct ir_expr *as_int(struct arena *a, struct ir_expr *x)
{
    return ir_cast(a, type_scalar(TYPE_int), x);
}

// Let a loop over u64 count from 0.  Returns what its variable stood for.
static struct ir_expr *count_from_zero(struct arena *a, struct ir_for *loop,
                                       struct ir_var *counter)
{
    struct ir_expr *from = loop->from;
    struct ir_expr *value = ir_cast(a, from->type, ir_read(a, counter));
    struct ir_expr *length =
        ir_select(a, ir_binary(a, OP_lt, from, loop->to),
                  ir_sub(a, loop->to, from), ir_zero(a, from->type));
    loop->to = as_int(a, length);
    loop->from = ir_int(a, 0);
    return ir_add(a, from, value);
}

// Take a counter for itself where it becomes what it was and an `int` again.
static struct ir_expr *drop_casts(struct arena *a, struct ir_expr *x,
                                  void *context)
{
    (void)a;
    const struct ir_expr *of = x->op == OP_cast ? x->args[0] : x;
    bool is_twice = of != x && of->op == OP_cast && x->type.kind == TYPE_int &&
                    of->args[0]->op == OP_var && of->args[0]->u.var == context;
    return is_twice ? of->args[0] : x;
}

// Let a loop count in `int`.
static void count_in_int(struct arena *a, struct ir_stmt *s)
{
    struct ir_for *loop = &s->u.loop;
    if (s->kind != STMT_for || loop->var->type.kind == TYPE_int)
        return;
    struct ir_var *old = loop->var;
    struct ir_var *counter =
        ir_var_new(a, old->name, type_scalar(TYPE_int), VAR_loop, old->span);
    struct ir_expr *value;
    if (old->type.kind == TYPE_u64) {
        value = count_from_zero(a, loop, counter);
    } else {
        loop->from = as_int(a, loop->from);
        loop->to = as_int(a, loop->to);
        value = ir_cast(a, old->type, ir_read(a, counter));
    }
    loop->step = as_int(a, loop->step);
    loop->var = counter;
    ir_replace_in(a, &loop->body, old, value);
    if (old->type.kind != TYPE_u64)
        ir_rewrite_in(a, &loop->body, drop_casts, counter);
}

void counts_in_int(struct parser *p, struct ir_kernel *k)
{
    if (k->level != LEVEL_stages)
        return;
    ir_foreach_stmt(s, &k->body)
        count_in_int(p->arena, s);
}
