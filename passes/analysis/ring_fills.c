// What may fill a ring.

#include "passes/analysis/ring_fills.h"

#include "ir/accesses.h"
#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/marks.h"
#include "passes/analysis/region.h"

// ---- Arrays that a statement computes in -------------------------------------

// Return whether a stage sets the elements of an array before it adds to them,
// and reads no others.
static bool starts(const struct ir_stmt *s, const struct ir_buffer *b)
{
    const struct ir_stmt *store =
        s->kind == STMT_stage && s->u.stage.body.n == 1 ? s->u.stage.body.at[0]
                                                        : NULL;
    if (!store || store->kind != STMT_store || store->u.store.buffer != b ||
        !ir_block_writes(&s->u.stage.init, b))
        return false;
    ir_foreach_expr_of(x, store)
        if (x->op == OP_load && x->u.buffer == b &&
            !ir_all_equal(b->rank, x->args, store->u.store.index))
            return false;
    return true;
}

// Return whether the first of the statements that access an array in a block, at
// the end of a path, only writes it, and all that the others read.
static bool begins(const struct ring_fills *q, const struct ir_path *path,
                   struct ir_stmt *first, struct ir_buffer *b)
{
    struct map fixed = {.arena = q->arena};
    struct ir_stmt *around = path->stmts[path->n - 2];
    for (uint32_t i = 0; i + 1 < path->n; i++) {
        if (path->stmts[i]->kind == STMT_for)
            map_set(&fixed, path->stmts[i]->u.loop.var,
                    ir_read(q->arena, path->stmts[i]->u.loop.var));
    }
    struct region_question ask = {.arena = q->arena,
                                  .scratch = q->arena,
                                  .kernel = q->kernel,
                                  .buffer = b,
                                  .within = around,
                                  .access = REGION_loads,
                                  .fixed = &fixed};
    struct region read = region_find(&ask);
    ask.within = first;
    ask.access = REGION_stores;
    struct region written = region_find(&ask);
    bool covers = !ir_stmt_reads(first, b) && !region_is_partial(first);
    for (uint32_t d = 0; d < read.rank && read.is_accessed; d++)
        covers =
            covers && region_covers(q->arena, &written.dims[d], &read.dims[d]);
    return covers;
}

// Return whether a statement writes the elements of an array before it reads
// them.
static bool computes_in(const struct ring_fills *q, struct ir_stmt *s,
                        struct ir_buffer *b)
{
    struct ir_path path;
    struct ir_stmt *first = NULL;
    size_t n = 0;
    if (!ir_stmt_reads(s, b))
        return true;
    if (s->kind == STMT_stage)
        return starts(s, b);
    ir_foreach_block(block, s) {
        vec_foreach_value(inner, block) {
            if (inner->kind == STMT_alloc || !ir_stmt_uses(inner, b))
                continue;
            first = first ? first : inner;
            n++;
        }
    }
    if (n <= 1)
        return first && computes_in(q, first, b);
    ir_find(q->arena, &q->kernel->body, first, &path);
    return s->kind == STMT_for && begins(q, &path, first, b);
}

// Return whether no statement uses an array but one, and what is around it: of the
// kernel, or of what is around a block.
static bool is_own(const struct ring_fills *q, const struct ir_stmt *s,
                   const struct ir_buffer *b, const struct ir_block *within)
{
    struct ir_path path;
    ir_find(q->arena, &q->kernel->body, s, &path);
    for (uint32_t i = 0; i < path.n && path.blocks[i] != within; i++) {
        vec_foreach_value(other, path.blocks[i])
            if (other != path.stmts[i] && other->kind != STMT_alloc &&
                ir_stmt_uses(other, b))
                return false;
    }
    return true;
}

// Return whether an array is the kernel's own, in shared memory.
static bool is_shared(const struct ir_buffer *b)
{
    return b->space == SPACE_shared && b->role == ROLE_alloc;
}

// ---- Statements that do nothing else ----------------------------------------

// Return whether a statement may compute in an array.
static bool may_compute(const struct ring_fills *q, struct ir_stmt *s,
                        struct ir_buffer *b)
{
    if (!q->given || (!is_shared(b) && !space_is_own(b->space)))
        return false;
    return (is_shared(b) || is_own(q, s, b, NULL)) && computes_in(q, s, b);
}

// Return whether an expression of a statement can be computed ahead.
static bool is_input(const struct ring_fills *q, struct ir_stmt *s,
                     const struct ir_expr *root)
{
    ir_foreach_expr(x, root) {
        unsigned flags = ir_op_info(x->op)->flags;
        if (flags & (OP_WRITES | OP_TOGETHER) ||
            (x->op == OP_var && x->u.var->kind == VAR_mutable))
            return false;
        if (flags & OP_READS && ir_block_writes(q->body, x->u.buffer) &&
            !(q->given && ring_has(q->given, x->u.buffer)) &&
            !(ir_stmt_writes(s, x->u.buffer) && may_compute(q, s, x->u.buffer)))
            return false;
    }
    return true;
}

// Return whether a store is to an array of the thread that nothing beside the
// body uses.
static bool fills_own(const struct ring_fills *q, const struct ir_stmt *s)
{
    const struct ir_buffer *b = s->u.store.buffer;
    return q->fills_own && b->space == SPACE_local && b->role == ROLE_alloc &&
           is_own(q, s, b, q->body);
}

// Return whether a statement in another one does nothing itself but fill shared
// memory, or compute what is for that.
static bool only_fills(const struct ring_fills *q, struct ir_stmt *root,
                       const struct ir_stmt *s)
{
    if (s->kind == STMT_stage)
        return !s->u.stage.has_init || q->given;
    if (s->kind == STMT_store)
        return is_shared(s->u.store.buffer) || fills_own(q, s) ||
               may_compute(q, root, s->u.store.buffer);
    return s->kind == STMT_for || s->kind == STMT_if || s->kind == STMT_let ||
           (s->kind == STMT_alloc && q->given);
}

bool ring_fills(const struct ring_fills *q, struct ir_stmt *s)
{
    bool has_stage = false;
    ir_foreach_stmt_from(t, s) {
        has_stage |= t->kind == STMT_stage;
        if (!only_fills(q, s, t))
            return false;
    }
    if (!has_stage)
        return false;
    ir_foreach_stmt_from(t, s)
        ir_foreach_place(place, t)
            if (!is_input(q, s, *place))
                return false;
    return true;
}

bool ring_is_fill(struct ir_block *body, struct ir_stmt *s)
{
    return ring_fills(&(struct ring_fills){.body = body}, s);
}

int64_t ring_number(const struct ir_stmt *s, bool *differs)
{
    int64_t number = -1;
    ir_foreach_stmt_from(t, s) {
        const struct ir_attr *mark =
            t->kind == STMT_stage ? ir_attr_get(t, MARK_ring) : NULL;
        int64_t own = mark ? mark->value : 0;
        if (t->kind != STMT_stage || (t->u.stage.has_init && !mark))
            continue;
        if (differs)
            *differs |= number >= 0 && own != number;
        number = own > number ? own : number;
    }
    return number;
}
