// What the instructions of a warpgroup have to wait for, and who for them.
//
//   for k in 0..4 { matrix wgmma.. }   =>   wgmma_fence
//                                           for k in 0..4 @unroll { matrix wgmma.. }
//                                           wgmma_commit
//                                           wgmma_wait(0)
//
// They read shared memory by another way than the stores of threads take:
// threads that store what they read fence before the barrier that follows.

#include "passes/lower/fragments.h"

#include "ir/build.h"

// Return whether a statement is an instruction of a warpgroup.
static bool is_group(const struct ir_stmt *s)
{
    return s->kind == STMT_matrix &&
           matrix_info(s->u.matrix.op).kind == MATRIX_WGMMA;
}

// Return whether a statement consists of such instructions and loops.
static bool is_pure(struct ir_stmt *s)
{
    if (s->kind != STMT_for)
        return is_group(s);
    bool pure = s->u.loop.body.n > 0;
    for (size_t i = 0; i < s->u.loop.body.n; i++)
        pure &= is_pure(s->u.loop.body.at[i]);
    return pure;
}

// Let the loops of such a statement be expanded: the assembler wants to see
// the instructions of a group one after another.
static void expand(struct ir_stmt *s)
{
    if (s->kind != STMT_for)
        return;
    if (s->u.loop.axis == AXIS_serial)
        s->u.loop.axis = AXIS_unroll;
    for (size_t i = 0; i < s->u.loop.body.n; i++)
        expand(s->u.loop.body.at[i]);
}

// The arrays that such instructions read: a note of see_operand.
struct operands {
    struct arena *arena;
    struct VEC(const struct ir_buffer *) all;
};

// Note the shared operands of an instruction.
static void see_operand(struct ir_stmt *s, void *context)
{
    struct operands *o = context;
    for (int i = 0; is_group(s) && i < MATRIX_OPERANDS; i++) {
        const struct ir_expr *at = s->u.matrix.tiles[i].at;
        if (at && at->u.buffer->space == SPACE_shared)
            vec_push(o->arena, &o->all, at->u.buffer);
    }
}

// A look for stores to operands: the context of see_store.
struct stores {
    const struct operands *operands;
    bool found;
};

// Note a store of a thread to an operand.
static void see_store(struct ir_stmt *s, void *context)
{
    struct stores *x = context;
    for (size_t i = 0; s->kind == STMT_store && i < x->operands->all.n; i++)
        x->found |= s->u.store.buffer == x->operands->all.at[i];
}

// Return whether threads store to an operand in a statement.
static bool stores_operand(const struct operands *o, struct ir_stmt *s)
{
    struct stores x = {o, false};
    struct ir_block alone = {&s, 1, 1};
    ir_each_stmt(&alone, see_store, &x);
    return x.found;
}

// Set *(bool *)context at an instruction of a warpgroup.
static void see_group(struct ir_stmt *s, void *context)
{
    *(bool *)context |= is_group(s);
}

// Return whether such an instruction is in a statement.
static bool has_group(struct ir_stmt *s)
{
    bool found = false;
    struct ir_block alone = {&s, 1, 1};
    ir_each_stmt(&alone, see_group, &found);
    return found;
}

// Put a statement without operands in front of statement `at`.
static void insert(struct arena *a, struct ir_block *block, size_t at,
                   enum sync_kind kind)
{
    struct ir_stmt *near = block->at[at < block->n ? at : at - 1];
    ir_insert(a, block, at, ir_stmt_from(ir_stmt_sync(a, kind), near));
}

// Order the statements of a block.
static void order_block(struct fragments *f, const struct operands *o,
                        struct ir_block *block)
{
    struct arena *a = f->p->arena;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_block *inside[IR_BLOCKS_MOST];
        struct ir_stmt *s = block->at[i];
        if (is_pure(s)) {
            insert(a, block, i++, SYNC_wgmma_fence);
            while (i < block->n && is_pure(block->at[i]))
                expand(block->at[i++]);
            insert(a, block, i++, SYNC_wgmma_commit);
            insert(a, block, i, SYNC_wgmma_wait);
        } else if (!has_group(s) && stores_operand(o, s)) {
            insert(a, block, ++i, SYNC_fence_async);
        } else {
            uint32_t n = s->kind == STMT_stage ? 0 : ir_stmt_blocks(s, inside);
            for (uint32_t k = 0; k < n; k++)
                order_block(f, o, inside[k]);
        }
    }
}

void fragments_order(struct fragments *f, struct ir_block *block)
{
    struct operands o = {.arena = f->p->scratch};
    ir_each_stmt(block, see_operand, &o);
    if (o.all.n)
        order_block(f, &o, block);
}
