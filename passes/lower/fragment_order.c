// Inserts the fences, commits and waits of WGMMAs.
//
//   for k in 0..4 { matrix wgmma.. }   =>   wgmma_fence
//                                           for k in 0..4 @unroll { matrix wgmma.. }
//                                           wgmma_commit
//                                           wgmma_wait(0)
//
// A loop may leave WGMMAs in flight. They then wait for those of the iteration
// before, and the last ones are waited for behind the loop, unless they already
// are (fragment_flight.c):
//
//   for k in 0..n @in_flight(1) {      =>   for k in 0..n { .. wgmma_wait(1) }
//     for i in 0..4 { matrix wgmma.. }      wgmma_wait(0)
//   }
//
// WGMMA reads shared memory through the async proxy: threads that store its
// operands fence before the barrier that follows.

#include "passes/lower/fragments.h"

#include "ir/build.h"
#include "ir/marks.h"

// Return whether a statement is an instruction of a warpgroup.
static bool is_group(const struct ir_stmt *s)
{
    return s->kind == STMT_matrix &&
           matrix_info(s->u.matrix.op).kind == MATRIX_WGMMA;
}

bool fragments_is_product(struct ir_stmt *s)
{
    if (s->kind != STMT_for)
        return is_group(s);
    bool pure = s->u.loop.body.n > 0;
    for (size_t i = 0; i < s->u.loop.body.n; i++)
        pure &= fragments_is_product(s->u.loop.body.at[i]);
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

// The arrays that such instructions read.
struct operands {
    struct VEC(const struct ir_buffer *) all;
};

// Note the shared operands of an instruction.
static void note_operands(struct arena *a, struct operands *o,
                          const struct ir_stmt *product)
{
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        const struct ir_expr *at = product->u.matrix.tiles[i].at;
        if (at && at->u.buffer->space == SPACE_shared)
            vec_push(a, &o->all, at->u.buffer);
    }
}

// Return whether threads store to an operand in a statement.
static bool stores_operand(const struct operands *o, const struct ir_stmt *root)
{
    ir_foreach_stmt_from(s, root)
        for (size_t i = 0; s->kind == STMT_store && i < o->all.n; i++)
            if (s->u.store.buffer == o->all.at[i])
                return true;
    return false;
}

// Return whether such an instruction is in a statement.
static bool has_group(const struct ir_stmt *root)
{
    ir_foreach_stmt_from(s, root)
        if (is_group(s))
            return true;
    return false;
}

// Put a statement in front of statement `at` of a block.
static void insert(struct arena *a, struct ir_block *block, size_t at,
                   struct ir_stmt *s)
{
    struct ir_stmt *near = block->at[at < block->n ? at : at - 1];
    ir_insert(a, block, at, ir_stmt_from(s, near));
}

// Order the WGMMAs from statement `at` of a block on, of which `n` groups may
// be in flight behind them; returns the statement behind all of that.
static size_t order_products(struct arena *a, struct ir_block *block, size_t at,
                             uint32_t n)
{
    insert(a, block, at++, ir_stmt_sync(a, SYNC_wgmma_fence));
    while (at < block->n && fragments_is_product(block->at[at]))
        expand(block->at[at++]);
    insert(a, block, at++, ir_stmt_sync(a, SYNC_wgmma_commit));
    insert(a, block, at++, ir_stmt_wait(a, SYNC_wgmma_wait, n));
    return at;
}

// Return whether all groups are waited for behind a statement of a block.
static bool is_waited_for(const struct ir_block *block, size_t at)
{
    bool found = false;
    for (size_t i = at + 1; i < block->n; i++) {
        const struct ir_stmt *s = block->at[i];
        found |= s->kind == STMT_sync && s->u.sync.kind == SYNC_wgmma_wait &&
                 s->u.sync.n == 0;
    }
    return found;
}

static bool order_block(struct fragments *f, const struct operands *o,
                        struct ir_block *block, uint32_t in_flight);

// Order what is below a statement; if that is a loop that may leave WGMMAs in
// flight, wait for them behind it. Returns the statement behind all of that, or
// 0 after an error.
static size_t order_below(struct fragments *f, const struct operands *o,
                          struct ir_block *block, size_t at)
{
    struct ir_stmt *s = block->at[at];
    struct ir_block *inside[IR_BLOCKS_MOST];
    const struct ir_attr *mark = ir_attr_get(s, MARK_in_flight);
    uint32_t n = s->kind == STMT_stage ? 0 : ir_stmt_blocks(s, inside);
    uint32_t late = mark && has_group(s) ? (uint32_t)mark->value : 0;
    if (late && !fragments_check_flight(f, s))
        return 0;
    for (uint32_t k = 0; k < n; k++)
        if (!order_block(f, o, inside[k], late))
            return 0;
    if (!late)
        return at + 1;
    ir_attr_remove(s, MARK_in_flight);
    if (is_waited_for(block, at))
        return at + 1;
    struct arena *a = f->p->arena;
    insert(a, block, at + 1, ir_stmt_wait(a, SYNC_wgmma_wait, 0));
    return at + 2;
}

// Order the statements of a block, behind whose WGMMAs `in_flight` groups may
// be in flight. False after an error.
static bool order_block(struct fragments *f, const struct operands *o,
                        struct ir_block *block, uint32_t in_flight)
{
    struct arena *a = f->p->arena;
    for (size_t i = 0; i < block->n;) {
        struct ir_stmt *s = block->at[i];
        if (fragments_is_product(s)) {
            i = order_products(a, block, i, in_flight);
        } else if (!has_group(s) && stores_operand(o, s)) {
            insert(a, block, i + 1, ir_stmt_sync(a, SYNC_fence_async));
            i += 2;
        } else {
            i = order_below(f, o, block, i);
            if (!i)
                return false;
        }
    }
    return true;
}

bool fragments_order(struct fragments *f, struct ir_block *block)
{
    struct operands o = {0};
    ir_foreach_stmt(s, block)
        if (is_group(s))
            note_operands(f->p->scratch, &o, s);
    return !o.all.n || order_block(f, &o, block, 0);
}
