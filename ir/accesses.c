// Which elements of which arrays a statement reads and writes.

#include "ir/accesses.h"

#include "ir/matrix.h"
#include "ir/walk.h"

// Return the store of a statement as an access.
static struct ir_access access_of_store(const struct ir_stmt *s)
{
    return (struct ir_access){.buffer = s->u.store.buffer,
                              .n = s->u.store.n,
                              .index = s->u.store.index,
                              .flags = ACCESS_writes,
                              .run = 1};
}

// Return what an instruction of a kind does with an operand.
static unsigned operand_flags(enum matrix_kind kind, int which, bool is_far)
{
    bool sums = kind == MATRIX_MMA || kind == MATRIX_WGMMA;
    bool is_result = kind == MATRIX_STORE ? is_far : which == MATRIX_D;
    unsigned flags = is_result ? ACCESS_writes : ACCESS_reads;
    if (is_result && sums)
        flags |= ACCESS_reads;
    if (is_far && kind == MATRIX_WGMMA)
        flags |= ACCESS_proxy;
    return flags;
}

// Set the operands of a matrix instruction; returns how many there are.
static uint32_t accesses_of_matrix(const struct ir_stmt *s,
                                   struct ir_access *out)
{
    enum matrix_kind kind = matrix_info(s->u.matrix.op).kind;
    uint32_t n = 0;
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        const struct ir_tile *tile = &s->u.matrix.tiles[i];
        if (!tile->at)
            continue;
        struct ir_buffer *b = tile->at->u.buffer;
        bool is_far = b->space == SPACE_shared || b->space == SPACE_global;
        out[n++] = (struct ir_access){.buffer = b,
                                      .n = tile->at->n,
                                      .index = tile->at->args,
                                      .expr = tile->at,
                                      .flags = operand_flags(kind, i, is_far),
                                      .extent = tile->extent};
    }
    return n;
}

// Return an element of an array, and `run` behind it, as an access.
static struct ir_access access_of_place(const struct ir_place *place,
                                        unsigned flags, int64_t run)
{
    return (struct ir_access){.buffer = place->buffer,
                              .n = place->n,
                              .index = place->index,
                              .flags = flags,
                              .run = run};
}

// Set both sides of a copy and its mbarrier; returns how many there are.
static uint32_t accesses_of_copy(const struct ir_copy *copy,
                                 struct ir_access *out)
{
    const unsigned both = ACCESS_reads | ACCESS_writes;
    bool is_own = transport_is_of_threads(copy->transport);
    unsigned far = copy->is_load ? ACCESS_reads : ACCESS_writes;
    unsigned how = is_own ? ACCESS_async : ACCESS_proxy;
    int64_t run = is_own ? 1 : ir_copy_elements(copy);
    out[0] = access_of_place(&copy->far, far | how, run);
    out[1] = access_of_place(&copy->near, (far ^ both) | how, run);
    out[0].where = copy->where;
    out[0].span = copy->source;
    if (copy->map) {
        out[0].extent = copy->map->box;
        out[0].flags |= ACCESS_clipped;
    }
    if (!copy->signal.buffer)
        return 2;
    out[2] = access_of_place(&copy->signal, both | ACCESS_atomic, 1);
    return 3;
}

uint32_t ir_accesses(const struct ir_stmt *s,
                     struct ir_access out[IR_ACCESSES_MOST])
{
    switch ((int)s->kind) {
    case STMT_store: out[0] = access_of_store(s); return 1;
    case STMT_matrix: return accesses_of_matrix(s, out);
    case STMT_copy: return accesses_of_copy(&s->u.copy, out);
    }
    return 0;
}

unsigned ir_access_flags(const struct ir_expr *x)
{
    unsigned flags = ir_op_info(x->op)->flags;
    if (x->op == OP_place)
        return 0;
    return (flags & OP_READS ? ACCESS_reads : 0) |
           (flags & OP_WRITES ? ACCESS_writes | ACCESS_atomic : 0);
}

// Return how many elements an index is of.
static int64_t lanes_of(const struct ir_place *place)
{
    return place->n ? place->index[place->n - 1]->type.lanes : 1;
}

int64_t ir_copy_elements(const struct ir_copy *copy)
{
    int64_t elements = 1;
    if (transport_is_of_threads(copy->transport))
        return lanes_of(&copy->near);
    if (!copy->map)
        return copy->elements;
    for (uint32_t i = 0; i < copy->map->buffer->rank; i++)
        elements *= copy->map->box[i];
    return elements;
}

struct ir_buffer *ir_copy_target(const struct ir_copy *copy)
{
    return copy->is_load ? copy->near.buffer : copy->far.buffer;
}

struct ir_buffer *ir_copy_source(const struct ir_copy *copy)
{
    return copy->is_load ? copy->far.buffer : copy->near.buffer;
}

bool ir_is_tma_copy(const struct ir_stmt *s)
{
    return s->kind == STMT_copy &&
           !transport_is_of_threads(s->u.copy.transport);
}

bool ir_is_thread_copy(const struct ir_stmt *s)
{
    return s->kind == STMT_copy && transport_is_of_threads(s->u.copy.transport);
}

struct ir_buffer *ir_stored(const struct ir_stmt *s)
{
    if (s->kind == STMT_store)
        return s->u.store.buffer;
    return ir_is_thread_copy(s) ? s->u.copy.near.buffer : NULL;
}

// Return whether a statement itself has one of the flags for the array, other
// than as an mbarrier and in its expressions.
static bool own_has(const struct ir_stmt *s, const struct ir_buffer *buffer,
                    unsigned flags)
{
    struct ir_access own[IR_ACCESSES_MOST];
    uint32_t n = ir_accesses(s, own);
    for (uint32_t i = 0; i < n; i++)
        if (own[i].buffer == buffer && own[i].flags & flags &&
            !(own[i].flags & ACCESS_atomic))
            return true;
    return false;
}

// Return whether an expression, or one below it, has one of the flags for the array.
static bool expr_has(const struct ir_expr *x, const struct ir_buffer *buffer,
                     unsigned flags)
{
    if (ir_access_flags(x) & flags && x->u.buffer == buffer)
        return true;
    for (uint32_t i = 0; i < x->n; i++)
        if (expr_has(x->args[i], buffer, flags))
            return true;
    return false;
}

bool ir_stmt_itself(const struct ir_stmt *s, const struct ir_buffer *buffer,
                    unsigned flags)
{
    if (own_has(s, buffer, flags))
        return true;
    ir_foreach_place(place, (struct ir_stmt *)s)
        if (expr_has(*place, buffer, flags))
            return true;
    return false;
}

// Return whether a statement, or one below it, has one of the flags.
static bool stmt_has(const struct ir_stmt *root, const struct ir_buffer *buffer,
                     unsigned flags)
{
    ir_foreach_stmt_from(s, root)
        if (ir_stmt_itself(s, buffer, flags))
            return true;
    return false;
}

// Return whether a statement of a block has one of the flags.
static bool block_has(const struct ir_block *block,
                      const struct ir_buffer *buffer, unsigned flags)
{
    for (size_t i = 0; i < block->n; i++)
        if (stmt_has(block->at[i], buffer, flags))
            return true;
    return false;
}

bool ir_stmt_reads(const struct ir_stmt *s, const struct ir_buffer *buffer)
{
    return stmt_has(s, buffer, ACCESS_reads);
}

bool ir_stmt_writes(const struct ir_stmt *s, const struct ir_buffer *buffer)
{
    return stmt_has(s, buffer, ACCESS_writes);
}

bool ir_stmt_uses(const struct ir_stmt *s, const struct ir_buffer *buffer)
{
    return stmt_has(s, buffer, ACCESS_reads | ACCESS_writes);
}

bool ir_block_reads(const struct ir_block *block,
                    const struct ir_buffer *buffer)
{
    return block_has(block, buffer, ACCESS_reads);
}

bool ir_block_writes(const struct ir_block *block,
                     const struct ir_buffer *buffer)
{
    return block_has(block, buffer, ACCESS_writes);
}

bool ir_block_uses(const struct ir_block *block, const struct ir_buffer *buffer)
{
    return block_has(block, buffer, ACCESS_reads | ACCESS_writes);
}

bool ir_block_stores(const struct ir_block *block,
                     const struct ir_buffer *buffer)
{
    ir_foreach_stmt(s, block)
        if (own_has(s, buffer, ACCESS_writes))
            return true;
    return false;
}

bool ir_block_atomics(const struct ir_block *block,
                      const struct ir_buffer *buffer)
{
    ir_foreach_expr_in(x, block)
        if (ir_op_info(x->op)->flags & OP_WRITES && x->u.buffer == buffer)
            return true;
    return false;
}

bool ir_block_copies(const struct ir_block *block,
                     const struct ir_buffer *buffer)
{
    ir_foreach_stmt(s, block)
        if (ir_is_tma_copy(s) && (s->u.copy.near.buffer == buffer ||
                                  s->u.copy.signal.buffer == buffer))
            return true;
    return false;
}

bool ir_stages_use(const struct ir_block *block, const struct ir_buffer *buffer)
{
    ir_foreach_stmt(s, block)
        if (s->kind == STMT_stage &&
            (ir_block_uses(&s->u.stage.body, buffer) ||
             ir_block_writes(&s->u.stage.init, buffer)))
            return true;
    return false;
}

// Return whether a statement itself accesses global memory, but for its
// expressions.
static bool is_global_access(const struct ir_stmt *s)
{
    struct ir_access own[IR_ACCESSES_MOST];
    uint32_t n = ir_accesses(s, own);
    for (uint32_t i = 0; i < n; i++)
        if (own[i].buffer->space == SPACE_global)
            return true;
    return false;
}

// Return whether a statement, or one below it, accesses global memory.
static bool accesses_global(const struct ir_stmt *s)
{
    ir_foreach_stmt_from(inner, s)
        if (is_global_access(inner))
            return true;
    ir_foreach_expr_from(x, s)
        if (ir_access_flags(x) && x->u.buffer->space == SPACE_global)
            return true;
    return false;
}

size_t ir_first_global(const struct ir_block *block)
{
    size_t at = 0;
    while (at < block->n && !accesses_global(block->at[at]))
        at++;
    return at;
}
