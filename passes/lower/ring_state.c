// The state of a ring for one role: slot and phase.

#include "passes/lower/ring_state.h"

#include "ir/build.h"

void ring_state_declare(struct ring_state *t, const char *name,
                        struct ir_expr *first, struct ir_block *out)
{
    struct arena *a = t->p->arena;
    struct type word = type_scalar(TYPE_u32);
    t->before = ir_var_new(a, str_name(t->p->names, name), word, VAR_mutable,
                           t->loop->span);
    struct ir_expr *value = ir_const_int(a, word, 0);
    if (first)
        value = ir_cast(a, word,
                        ir_binary(a, OP_mod, first, ir_int(a, 2 * t->slots)));
    struct ir_stmt *s = ir_stmt_let(a, t->before, value);
    ir_append(a, out, ir_stmt_from(s, t->loop));
}

struct ir_expr *ring_state_count(const struct ring_state *t,
                                 struct ir_expr *iteration)
{
    struct arena *a = t->p->arena;
    if (!t->before)
        return iteration;
    return ir_add(a, ir_read(a, t->before),
                  ir_cast(a, t->before->type, iteration));
}

struct ir_expr *ring_state_slot(const struct ring_state *t,
                                struct ir_expr *number)
{
    struct arena *a = t->p->arena;
    struct ir_expr *slots = ir_const_int(a, number->type, t->slots);
    return ir_cast(a, type_scalar(TYPE_int),
                   ir_binary(a, OP_mod, number, slots));
}

struct ir_expr *ring_state_parity(const struct ring_state *t,
                                  struct ir_expr *number, int turn)
{
    struct arena *a = t->p->arena;
    struct ir_expr *slots = ir_const_int(a, number->type, t->slots);
    struct ir_expr *round = ir_add(a, ir_binary(a, OP_div, number, slots),
                                   ir_const_int(a, number->type, turn));
    return ir_binary(a, OP_mod, round, ir_const_int(a, number->type, 2));
}

struct ir_stmt *ring_state_next(const struct ring_state *t,
                                struct ir_expr *iterations)
{
    struct arena *a = t->p->arena;
    struct ir_expr *period = ir_const_int(a, t->before->type, 2 * t->slots);
    struct ir_expr *next =
        ir_binary(a, OP_mod, ring_state_count(t, iterations), period);
    return ir_stmt_from(ir_stmt_assign(a, t->before, next), t->loop);
}
