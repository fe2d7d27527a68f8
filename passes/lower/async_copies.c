// Lowers copies marked @via(cp_async) to asynchronous stores.

#include "passes/lower/async_copies.h"

#include "ir/walk.h"
#include "passes/analysis/copies.h"

// Take the mark of a stage that is a copy; returns whether it makes it
// asynchronous.
static bool start(struct ir_stmt *s)
{
    if (s->kind != STMT_stage || !copies_marked(&s->u.stage))
        return false;
    struct ir_stage *stage = &s->u.stage;
    struct ir_stmt *store =
        stage->body.n ? stage->body.at[stage->body.n - 1] : NULL;
    copies_unmark(stage);
    bool starts = store && store->kind == STMT_store && copies_source(store) &&
                  store->u.store.buffer->space == SPACE_shared &&
                  !store->u.store.buffer->is_double;
    if (starts)
        store->u.store.is_async = true;
    return starts;
}

bool async_copies_start(struct ir_block *block)
{
    bool started = false;
    ir_foreach_stmt(s, block)
        started |= start(s);
    return started;
}
