// The two operands of a stage that reduces, as of `C += f32(A) * f32(B)`. Of an array with
// itself, as in the Gram matrix of X or its distances, the operand tells which of the reads
// is meant.

#include "passes/schedule/common/operands.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/stage.h"
#include "ir/walk.h"

// Return the store that a stage consists of, or NULL.
static const struct ir_stmt *only_store(const struct ir_stmt *stage)
{
    const struct ir_block *body =
        stage->kind == STMT_stage ? &stage->u.stage.body : NULL;
    return body && body->n == 1 && body->at[0]->kind == STMT_store ? body->at[0]
                                                                   : NULL;
}

// Return whether an expression is the element that a store writes.
static bool is_own(const struct ir_stmt *s, const struct ir_expr *x)
{
    return x->op == OP_load && x->u.buffer == s->u.store.buffer &&
           ir_all_equal(x->n, x->args, s->u.store.index);
}

// Return what a store adds to the element that it writes, or NULL.
static const struct ir_expr *added(const struct ir_stmt *s)
{
    const struct ir_expr *sum = s->u.store.value;
    for (int i = 0; sum->op == OP_add && i < 2; i++)
        if (is_own(s, sum->args[i]))
            return sum->args[!i];
    return NULL;
}

// Return whether an expression is an element of an array, converted or not.
static bool is_element(const struct ir_expr *x)
{
    return x->op == OP_load || (x->op == OP_cast && x->args[0]->op == OP_load);
}

bool operands_are_factors(const struct ir_stmt *stage)
{
    const struct ir_stmt *s = only_store(stage);
    const struct ir_expr *x =
        s && ir_stage_reduces(&stage->u.stage) ? added(s) : NULL;
    return x && x->op == OP_mul && is_element(x->args[0]) &&
           is_element(x->args[1]);
}

const struct ir_expr *operands_of(const struct ir_stmt *stage, int number)
{
    const struct ir_stmt *s = only_store(stage);
    const struct ir_expr *found[2] = {NULL, NULL};
    int n = 0;
    if (!s || !ir_stage_reduces(&stage->u.stage))
        return NULL;
    ir_foreach_expr(x, s->u.store.value) {
        bool is_known = x->op != OP_load || is_own(s, x);
        for (int i = 0; i < n && i < 2; i++)
            is_known |= ir_expr_equal(x, found[i]);
        if (!is_known && n < 2)
            found[n] = x;
        n += !is_known;
    }
    return n == 2 && (number == 1 || number == 2) ? found[number - 1] : NULL;
}

// Return whether a read varies with what another one does not.
static bool has_own_loop(const struct ir_stage *stage, const struct ir_expr *x,
                         const struct ir_expr *other)
{
    vec_foreach(it, &stage->iters)
        if (!it->is_reduce && ir_any_mentions(x->n, x->args, it->var) &&
            !ir_any_mentions(other->n, other->args, it->var))
            return true;
    return false;
}

bool operands_are_alike(const struct ir_stmt *stage)
{
    const struct ir_expr *one = operands_of(stage, 1);
    const struct ir_expr *other = operands_of(stage, 2);
    return one && one->u.buffer == other->u.buffer &&
           has_own_loop(&stage->u.stage, one, other) &&
           has_own_loop(&stage->u.stage, other, one);
}

bool operands_mean(const struct ir_stmt *stage, int operand,
                   const struct ir_expr *read)
{
    const struct ir_expr *one = operands_of(stage, operand);
    return !one || one->u.buffer != read->u.buffer || ir_expr_equal(one, read);
}

// What replaces which read.
struct replacing {
    const struct ir_expr *read;
    struct ir_buffer *by;
};

// Replace a read.
static struct ir_expr *replace(struct arena *a, struct ir_expr *x,
                               void *context)
{
    const struct replacing *r = context;
    if (x->op != OP_load || !ir_expr_equal(x, r->read))
        return x;
    return ir_at(a, ir_load(a, r->by, x->n, x->args), x->span);
}

void operands_replace(struct arena *a, struct ir_stmt *stage,
                      const struct ir_expr *read, struct ir_buffer *by)
{
    struct replacing r = {read, by};
    ir_rewrite_in(a, ir_alone(stage), replace, &r);
}
