// What a rule's pattern asks of a stage.

#include "ir/equal.h"
#include "ir/stage.h"
#include "passes/schedule/interpret/interpret.h"

// Return the store that a stage consists of, or NULL.
static const struct ir_stmt *only_store(const struct ir_stmt *stage)
{
    const struct ir_block *body =
        stage->kind == STMT_stage ? &stage->u.stage.body : NULL;
    return body && body->n == 1 && body->at[0]->kind == STMT_store ? body->at[0]
                                                                   : NULL;
}

// Return whether an expression is an element of an array, converted or not.
static bool is_element(const struct ir_expr *x)
{
    return x->op == OP_load || (x->op == OP_cast && x->args[0]->op == OP_load);
}

// Return what a store adds to the element that it writes, or NULL.
static const struct ir_expr *added(const struct ir_stmt *s)
{
    const struct ir_expr *sum = s->u.store.value;
    for (int i = 0; sum->op == OP_add && i < 2; i++) {
        const struct ir_expr *old = sum->args[i];
        if (old->op == OP_load && old->u.buffer == s->u.store.buffer &&
            ir_all_equal(old->n, old->args, s->u.store.index))
            return sum->args[!i];
    }
    return NULL;
}

bool look_is_product(struct interp *in, const struct sched_values *args,
                     struct sched_value *out)
{
    const struct ir_stmt *stage = args->at[0].stmt;
    const struct ir_stmt *s = only_store(stage);
    const struct ir_expr *x =
        s && ir_stage_reduces(&stage->u.stage) ? added(s) : NULL;
    (void)in;
    out->kind = VALUE_int;
    out->number = x && x->op == OP_mul && is_element(x->args[0]) &&
                  is_element(x->args[1]);
    return true;
}
