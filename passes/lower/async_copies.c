// async_copies: lowers copies marked @via(cp_async) that no ring issues ahead,
// and waits for them before the first use of what they fill.
//
//   stage S @via(cp_async) { S[i] = A[i] }          cp_async_load S[i] = A[i]
//   other work                                =>    other work
//   use S                                           async_commit
//                                                   async_wait(0)
//                                                   use S
//
// A barrier waits, too: behind it other threads read. What is not read at all is
// stored as it is, and so is what other primitives have made no copy.

#include "passes/lower/async_copies.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/foreach.h"
#include "ir/walk.h"
#include "passes/analysis/copies.h"

// Return whether a stage is a copy that can be asynchronous: nothing would wait
// for what the kernel's body does not read.
static bool is_async(const struct ir_block *body, const struct ir_stmt *s)
{
    if (s->kind != STMT_stage || !copies_marked(&s->u.stage))
        return false;
    const struct ir_stage *stage = &s->u.stage;
    const struct ir_stmt *store =
        stage->body.n ? stage->body.at[stage->body.n - 1] : NULL;
    const struct ir_expr *from =
        store && store->kind == STMT_store ? copies_source(store) : NULL;
    return from && from->u.buffer->space == SPACE_global &&
           store->u.store.buffer->space == SPACE_shared &&
           !store->u.store.buffer->is_double &&
           ir_block_reads(body, store->u.store.buffer);
}

// Take the mark of a stage that is a copy; returns whether that makes it
// asynchronous.
static bool start(struct arena *a, const struct ir_block *body,
                  struct ir_stmt *s)
{
    bool starts = is_async(body, s);
    if (s->kind == STMT_stage)
        copies_unmark(&s->u.stage);
    if (!starts)
        return false;
    struct ir_stmt *store = s->u.stage.body.at[s->u.stage.body.n - 1];
    *store = *copies_start(a, store);
    return true;
}

bool async_copies_in(const struct ir_block *body, const struct ir_stmt *s)
{
    ir_foreach_stmt_from(t, s)
        if (is_async(body, t))
            return true;
    return false;
}

bool async_copies_start(struct arena *a, struct ir_block *body,
                        struct ir_stmt *root)
{
    bool started = false;
    ir_foreach_stmt_from(s, root)
        started |= start(a, body, s);
    return started;
}

// Copies on their way.
struct pending {
    struct pass *p;
    const struct ir_stmt *copy;        // the last of them
    struct VEC(struct ir_buffer *) to; // what they fill
    struct VEC(struct ir_buffer *) from;
};

// Note what the copies of a block read and fill.
static void note_copies(struct pending *c, struct ir_block *block)
{
    ir_foreach_stmt(s, block) {
        if (!ir_is_thread_copy(s))
            continue;
        vec_push(c->p->scratch, &c->to, ir_copy_target(&s->u.copy));
        vec_push(c->p->scratch, &c->from, ir_copy_source(&s->u.copy));
    }
    ir_foreach_expr_in(x, block)
        if (x->op == OP_load)
            vec_push(c->p->scratch, &c->from, x->u.buffer);
}

// Return whether a statement has nothing in it but marked copies.
static bool only_copies(const struct ir_stmt *s)
{
    ir_foreach_stmt_from(t, s)
        if (t->kind != STMT_for && t->kind != STMT_if && t->kind != STMT_let &&
            !ir_stored(t) &&
            !(t->kind == STMT_stage && copies_marked(&t->u.stage)))
            return false;
    return true;
}

// Return whether a barrier is in a statement, or a fence for TMA, which lets
// that see what has arrived.
static bool has_barrier(const struct ir_stmt *s)
{
    ir_foreach_stmt_from(t, s)
        if (t->kind == STMT_barrier ||
            (t->kind == STMT_sync && t->u.sync.kind == SYNC_fence_async))
            return true;
    return false;
}

// Return whether a statement needs the copies to have arrived.
static bool needs(const struct pending *c, struct ir_stmt *s)
{
    bool found = has_barrier(s);
    for (size_t i = 0; i < c->to.n; i++)
        found |= ir_stmt_uses(s, c->to.at[i]);
    for (size_t i = 0; i < c->from.n; i++)
        found |= ir_stmt_writes(s, c->from.at[i]);
    return found && c->to.n;
}

// Let statement `at` of a block wait for the copies; returns how many
// statements that made.
static size_t await(struct pending *c, struct ir_block *block, size_t at)
{
    struct arena *a = c->p->arena;
    struct ir_stmt *commit = ir_stmt_sync(a, SYNC_async_commit);
    struct ir_stmt *wait = ir_stmt_wait(a, SYNC_async_wait, 0);
    ir_insert(a, block, at, ir_stmt_from(commit, c->copy));
    ir_insert(a, block, at + 1, ir_stmt_from(wait, c->copy));
    c->to.n = c->from.n = 0;
    return 2;
}

// Make the marked copies of a block and below asynchronous; returns whether
// there were any.
static bool start_block(struct pass *p, struct ir_block *block)
{
    struct pending c = {.p = p};
    bool found = false;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        bool is_copy = only_copies(s);
        if (needs(&c, s))
            i += await(&c, block, i);
        ir_foreach_block(inner, s)
            found |= !is_copy && start_block(p, inner);
        if (!is_copy || !async_copies_start(p->arena, &p->kernel->body, s))
            continue;
        c.copy = s;
        note_copies(&c, ir_alone(s));
    }
    found |= c.to.n > 0;
    if (c.to.n)
        await(&c, block, block->n);
    return found;
}

enum pass_result pass_async_copies(struct pass *p)
{
    return start_block(p, &p->kernel->body) ? PASS_CHANGED : PASS_SAME;
}
