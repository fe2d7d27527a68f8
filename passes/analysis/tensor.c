// Matches loop nests with matrix instructions.

#include "passes/analysis/tensor.h"

#include "ir/affine.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/marks.h"
#include "ir/stage.h"
#include "ir/walk.h"

#include <string.h>

bool tensor_marked(const struct ir_stmt *s, struct ir_matrix *op)
{
    const struct ir_attr *mark = ir_attr_get(s, MARK_tensorize);
    return mark && matrix_find(mark->word, op);
}

bool tensor_has_wgmma(const struct ir_block *block)
{
    struct ir_matrix op;
    ir_foreach_stmt(s, block)
        if (tensor_marked(s, &op) && matrix_info(op).kind == MATRIX_WGMMA)
            return true;
    return false;
}

// Collect the three loops of a nest and its stage.
static const char *find_loops(struct ir_stmt *loop, struct tensor_nest *out)
{
    struct ir_stmt *s = loop;
    for (int i = 0; i < TENSOR_LOOPS; i++) {
        int64_t extent;
        if (s->kind != STMT_for)
            return "there are fewer than three loops";
        if (s->u.loop.axis != AXIS_serial)
            return "a loop of it is not serial";
        if (!ir_for_counts(&s->u.loop) || !ir_int_value(s->u.loop.to, &extent))
            return "a loop does not run over a number of iterations";
        out->loops[i] = s;
        if (s->u.loop.body.n != 1)
            return "there is more than one statement in a loop";
        s = s->u.loop.body.at[0];
    }
    out->stage = s;
    return s->kind == STMT_stage ? NULL : "the third loop holds no stage";
}

// Return the load below conversions, or NULL.
static struct ir_expr *load_below(struct ir_expr *x)
{
    while (x->op == OP_cast)
        x = x->args[0];
    return x->op == OP_load ? x : NULL;
}

// Describe an access over the loops around the stage.
static struct tensor_operand operand_of(struct arena *a,
                                        const struct ir_stage *stage,
                                        struct ir_buffer *buffer, uint32_t n,
                                        struct ir_expr *const *index)
{
    struct map vars = ir_stage_bindings(a, stage);
    return (struct tensor_operand){buffer, n,
                                   ir_substitute_all(a, n, index, &vars, NULL)};
}

// Return whether a load is of what a store writes.
static bool is_stored(const struct ir_expr *load, const struct ir_stmt *store)
{
    return load->u.buffer == store->u.store.buffer &&
           ir_all_equal(load->n, load->args, store->u.store.index);
}

// Take apart D = D + x * y into its operands, A first as it is written.
static const char *find_operands(struct arena *a, struct tensor_nest *out)
{
    struct ir_stage *stage = &out->stage->u.stage;
    struct ir_stmt *s = stage->body.n == 1 ? stage->body.at[0] : NULL;
    if (!s || s->kind != STMT_store)
        return "the stage does not consist of one store";
    struct ir_expr *sum = s->u.store.value;
    if (sum->op != OP_add)
        return "the stage does not add to what it stores";
    bool is_first = sum->args[0]->op == OP_load && is_stored(sum->args[0], s);
    struct ir_expr *old = sum->args[!is_first], *product = sum->args[is_first];
    struct ir_expr *x = NULL, *y = NULL;
    if (product->op == OP_mul) {
        x = load_below(product->args[0]);
        y = load_below(product->args[1]);
    }
    if (old->op != OP_load || !is_stored(old, s) || !x || !y)
        return "the stage does not add the product of two elements to what it "
               "stores";
    out->part[MATRIX_D] =
        operand_of(a, stage, s->u.store.buffer, s->u.store.n, s->u.store.index);
    out->part[MATRIX_A] = operand_of(a, stage, x->u.buffer, x->n, x->args);
    out->part[MATRIX_B] = operand_of(a, stage, y->u.buffer, y->n, y->args);
    return NULL;
}

// Return whether the loops, in this order, are those over m, n and k.
static bool is_order(const struct tensor_nest *x,
                     const struct matrix_info *info,
                     struct ir_stmt *const loops[])
{
    static const bool uses[MATRIX_OPERANDS][TENSOR_LOOPS] = {
        [MATRIX_D] = {true, true, false},
        [MATRIX_A] = {true, false, true},
        [MATRIX_B] = {false, true, true}};
    const int64_t extents[] = {info->m, info->n, info->k};
    bool fits = true;
    for (int i = 0; i < TENSOR_LOOPS; i++) {
        fits &= ir_is_int_const(loops[i]->u.loop.to, extents[i]);
        for (int p = 0; p < MATRIX_OPERANDS; p++)
            fits &= ir_any_mentions(x->part[p].n, x->part[p].index,
                                    loops[i]->u.loop.var) == uses[p][i];
    }
    return fits;
}

// Find which loop is which, and which factor is A.
static const char *find_roles(struct arena *a, struct tensor_nest *x)
{
    static const int orders[6][TENSOR_LOOPS] = {
        {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct matrix_info info = matrix_info(x->op);
    for (int swap = 0; swap < 2; swap++) {
        for (int i = 0; i < 6; i++) {
            struct ir_stmt *loops[TENSOR_LOOPS];
            for (int k = 0; k < TENSOR_LOOPS; k++)
                loops[k] = x->loops[orders[i][k]];
            if (!is_order(x, &info, loops))
                continue;
            memcpy(x->loops, loops, sizeof loops);
            return NULL;
        }
        struct tensor_operand first = x->part[MATRIX_A];
        x->part[MATRIX_A] = x->part[MATRIX_B];
        x->part[MATRIX_B] = first;
    }
    return arena_printf(a,
                        "it is not D[m, n] += A[m, k] * B[k, n] with loops of "
                        "%u, %u and %u iterations",
                        info.m, info.n, info.k);
}

// Check the types and the memory of the operands.
static const char *check_operands(struct arena *a, const struct tensor_nest *x)
{
    struct matrix_info info = matrix_info(x->op);
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        const struct ir_buffer *b = x->part[i].buffer;
        struct matrix_layout layout;
        bool in_registers =
            matrix_layout(x->op, (enum matrix_operand)i, &layout);
        enum space space = in_registers ? SPACE_fragment : SPACE_shared;
        if (!type_equal(b->elem, info.part[i].type))
            return arena_printf(a, "`%s` holds %s, not %s", b->name,
                                type_name(b->elem),
                                type_name(info.part[i].type));
        if (b->space != space || b->of_cluster)
            return arena_printf(a, "`%s` is in %s, not in %s", b->name,
                                b->of_cluster ? "distributed shared"
                                              : space_name(b->space),
                                space_name(space));
    }
    return NULL;
}

// Find out whether D has a value before an iteration, from the stage's init.
static const char *find_keep(struct arena *a, struct tensor_nest *x)
{
    struct ir_stage *stage = &x->stage->u.stage;
    struct ir_stmt *zero = stage->init.n == 1 ? stage->init.at[0] : NULL;
    struct ir_expr *is_first = ir_bool(a, true);
    if (!stage->has_init)
        return NULL;
    if (!zero || zero->kind != STMT_store ||
        !ir_expr_equal(zero->u.store.value,
                       ir_zero(a, zero->u.store.value->type)))
        return "its init stores something else than 0";
    vec_foreach(it, &stage->iters)
        if (it->is_reduce)
            is_first =
                ir_binary(a, OP_and, is_first,
                          ir_binary(a, OP_eq, tensor_base(a, x, it->binding),
                                    ir_int(a, 0)));
    x->keep = ir_unary(a, OP_not, is_first);
    return NULL;
}

const char *tensor_match(struct arena *a, struct ir_stmt *loop,
                         struct ir_matrix op, struct tensor_nest *out)
{
    *out = (struct tensor_nest){.op = op};
    enum matrix_kind kind = matrix_info(op).kind;
    if (kind != MATRIX_MMA && kind != MATRIX_WGMMA)
        return "this instruction is not a matrix multiplication";
    const char *wrong = find_loops(loop, out);
    wrong = wrong ? wrong : find_operands(a, out);
    wrong = wrong ? wrong : find_roles(a, out);
    wrong = wrong ? wrong : check_operands(a, out);
    wrong = wrong ? wrong : find_keep(a, out);
    if (!wrong && out->stage->u.stage.predicate)
        wrong = "its stage has a condition, which pad_einsum takes away";
    return wrong;
}

struct ir_stmt *tensor_loop(const struct tensor_nest *nest,
                            enum matrix_operand which, int side)
{
    static const int loops[MATRIX_OPERANDS][2] = {
        [MATRIX_D] = {TENSOR_M, TENSOR_N},
        [MATRIX_A] = {TENSOR_M, TENSOR_K},
        [MATRIX_B] = {TENSOR_K, TENSOR_N}};
    return nest->loops[loops[which][side]];
}

struct ir_expr *tensor_base(struct arena *a, const struct tensor_nest *nest,
                            struct ir_expr *index)
{
    for (int i = 0; i < TENSOR_LOOPS; i++)
        index =
            ir_replace_var(a, index, nest->loops[i]->u.loop.var, ir_int(a, 0));
    return index;
}

// Return whether an index is a loop's variable plus a multiple of its extent.
static bool is_aligned(struct arena *a, struct ir_expr *index,
                       const struct ir_stmt *loop)
{
    int64_t factor, extent = 1;
    struct affine rest, quotient, left, all = affine_of(a, index);
    ir_int_value(loop->u.loop.to, &extent);
    struct affine by = affine_number(extent);
    return affine_linear(a, &all, loop->u.loop.var, &factor, &rest) &&
           factor == 1 && affine_divide(a, &rest, &by, &quotient, &left) &&
           affine_is_number(&left) && left.constant == 0;
}

bool tensor_dimensions(struct arena *a, const struct tensor_nest *nest,
                       enum matrix_operand which, uint32_t dimension[2])
{
    const struct tensor_operand *x = &nest->part[which];
    uint32_t found[2] = {0, 0};
    for (uint32_t d = 0; d < x->n; d++) {
        for (int side = 0; side < 2; side++) {
            const struct ir_stmt *loop = tensor_loop(nest, which, side);
            if (!ir_mentions(x->index[d], loop->u.loop.var))
                continue;
            if (!is_aligned(a, x->index[d], loop))
                return false;
            dimension[side] = d;
            found[side]++;
        }
    }
    return found[0] == 1 && found[1] == 1 && dimension[0] != dimension[1];
}
