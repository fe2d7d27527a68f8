// Lowers copies marked @via(cp_async) to asynchronous stores.

#include "passes/lower/async_copies.h"

#include "ir/walk.h"
#include "passes/analysis/copies.h"

// Take the mark of a stage that is a copy; set *(bool *)context if it makes
// it asynchronous.
static void start(struct ir_stmt *s, void *context)
{
    if (s->kind != STMT_stage || !copies_marked(&s->u.stage))
        return;
    struct ir_stage *stage = &s->u.stage;
    struct ir_stmt *store =
        stage->body.n ? stage->body.at[stage->body.n - 1] : NULL;
    copies_unmark(stage);
    if (store && store->kind == STMT_store && copies_source(store) &&
        store->u.store.buffer->space == SPACE_shared &&
        !store->u.store.buffer->is_double)
        *(bool *)context = store->u.store.is_async = true;
}

bool async_copies_start(struct ir_block *block)
{
    bool started = false;
    ir_each_stmt(block, start, &started);
    return started;
}
