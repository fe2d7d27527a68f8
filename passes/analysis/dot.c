// Matches sums of products of 8-bit integers with dp4a.

#include "passes/analysis/dot.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/stage.h"
#include "ir/walk.h"

// Return a factor as an i8 or a u8; NULL if it is not known to be one.
static struct ir_expr *byte_of(struct arena *a, struct ir_expr *x)
{
    int64_t value;
    if (x->op == OP_cast && type_is_byte(x->args[0]->type))
        return x->args[0];
    if (!ir_int_value(x, &value) || value < INT8_MIN || value > UINT8_MAX)
        return NULL;
    return ir_const_int(a, type_scalar(value > INT8_MAX ? TYPE_u8 : TYPE_i8),
                        value);
}

// Return whether an expression is what a statement writes.
static bool is_written(const struct ir_stmt *s, const struct ir_expr *x)
{
    if (s->kind == STMT_assign)
        return x->op == OP_var && x->u.var == s->u.let.var;
    return x->op == OP_load && x->u.buffer == s->u.store.buffer &&
           ir_all_equal(x->n, x->args, s->u.store.index);
}

bool dot_is_read_once(const struct ir_stmt *s, const struct ir_block *body)
{
    int reads = 0;
    ir_foreach_expr_in(x, body) {
        if (ir_op_info(x->op)->flags & (OP_WRITES | OP_TOGETHER))
            return false;
        reads += s->kind == STMT_assign
                     ? x->op == OP_var && x->u.var == s->u.let.var
                     : x->op == OP_load && x->u.buffer == s->u.store.buffer;
    }
    return reads == 1;
}

const char *dot_match(struct arena *a, const struct ir_stmt *s, struct dot *out)
{
    if (s->kind != STMT_assign && s->kind != STMT_store)
        return "it does not consist of one store";
    struct ir_expr *sum =
        s->kind == STMT_store ? s->u.store.value : s->u.let.value;
    if (sum->type.lanes > 1 ||
        (sum->type.kind != TYPE_i32 && sum->type.kind != TYPE_u32))
        return "the sum is neither an i32 nor a u32";
    bool is_first = sum->op == OP_add && is_written(s, sum->args[0]);
    if (sum->op != OP_add || !is_written(s, sum->args[!is_first]))
        return "it does not add to what it stores";
    struct ir_expr *product = sum->args[is_first];
    bool is_product = product->op == OP_mul;
    out->old = sum->args[!is_first];
    out->a = byte_of(a, is_product ? product->args[0] : product);
    out->b = is_product ? byte_of(a, product->args[1])
                        : ir_const_int(a, type_scalar(TYPE_i8), 1);
    return out->a && out->b ? NULL
                            : "a factor is not the conversion of an i8 or a u8";
}

// Return the statement of a loop, below its stage and below conditions; NULL:
// there are several.
static const struct ir_stmt *statement_of(const struct ir_stmt *loop)
{
    const struct ir_stmt *s = ir_only(&loop->u.loop.body);
    if (s && s->kind == STMT_stage)
        s = ir_only(&s->u.stage.body);
    while (s && s->kind == STMT_if && !s->u.branch.otherwise.n)
        s = ir_only(&s->u.branch.then);
    return s;
}

// Return whether what a statement below a loop stores is another element in each
// iteration.
static bool moves(struct arena *a, const struct ir_stmt *loop,
                  const struct ir_stmt *s)
{
    const struct ir_stmt *stage = ir_only(&loop->u.loop.body);
    struct map vars = {.arena = a};
    if (s->kind != STMT_store)
        return false;
    if (stage->kind == STMT_stage)
        vars = ir_stage_bindings(a, &stage->u.stage);
    return ir_any_mentions(
        s->u.store.n,
        ir_substitute_all(a, s->u.store.n, s->u.store.index, &vars, NULL),
        loop->u.loop.var);
}

const char *dot_loop(struct arena *a, const struct ir_stmt *loop)
{
    struct dot dot;
    const struct ir_for *f = &loop->u.loop;
    if (!ir_for_counts(f) || !ir_is_int_const(f->to, DOT_STEPS))
        return "the loop does not have 4 iterations";
    const struct ir_stmt *s = statement_of(loop);
    if (!s)
        return "there is more than one statement in the loop";
    const char *wrong = dot_match(a, s, &dot);
    if (wrong)
        return wrong;
    if (!dot_is_read_once(s, &f->body))
        return "a factor or a condition depends on the sum";
    return moves(a, loop, s) ? "each iteration stores another element" : NULL;
}
