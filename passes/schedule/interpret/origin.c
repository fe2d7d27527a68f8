// Origins: which directive made a statement.

#include "passes/schedule/interpret/interpret.h"

#include "ir/walk.h"
#include "passes/analysis/copies.h"

// Note who has asked for what a statement is marked with, where nobody is known
// to have.
static void note_marks(struct ir_stmt *s, struct span by)
{
    struct ir_stage *stage = s->kind == STMT_stage ? &s->u.stage : NULL;
    if (s->kind == STMT_alloc && s->u.buffer->is_double &&
        !s->u.buffer->doubled.source)
        s->u.buffer->doubled = by;
    if (s->kind == STMT_alloc && s->u.buffer->swizzle.bits &&
        !s->u.buffer->swizzled.source)
        s->u.buffer->swizzled = by;
    if (s->kind == STMT_store && s->u.store.hint != HINT_usual &&
        !s->u.store.hinted.source)
        s->u.store.hinted = by;
    if (stage && copies_marked(stage) && !stage->via.source)
        stage->via = by;
}

// Remember a statement as it was written.
static void remember(struct interp *in, struct ir_stmt *s)
{
    note_marks(s, s->span);
    struct ir_stmt *was = arena_new(in->pass->scratch, struct ir_stmt);
    *was = *s;
    map_set(&in->written, s, was);
}

void interp_origins_begin(struct interp *in)
{
    in->written = (struct map){.arena = in->pass->scratch};
    ir_foreach_stmt(s, &in->pass->kernel->body)
        remember(in, s);
}

// Return whether a def is one of the library.
static bool is_library(const struct interp *in, const struct sched_item *def)
{
    for (const struct sched_program *p = in->program->fallback; p;
         p = p->fallback)
        if (map_get(&p->named, def->name.text) == def)
            return true;
    return false;
}

// Note the directive at a statement that is new, or a loop that was serial, and at
// new marks.
static void note_made(const struct interp *in, struct ir_stmt *s,
                      struct span by)
{
    note_marks(s, by);
    if (s->by.source)
        return;
    const struct ir_stmt *was = map_get(&in->written, s);
    if (!was || (s->kind == STMT_for && s->u.loop.axis != was->u.loop.axis))
        s->by = by;
}

struct span interp_origin(const struct interp *in, struct span directive)
{
    for (const struct sched_frame *f = in->frame; is_library(in, f->item);
         f = f->caller)
        directive = f->call;
    return directive;
}

void interp_origins_note(struct interp *in, struct span directive)
{
    directive = interp_origin(in, directive);
    ir_foreach_stmt(s, &in->pass->kernel->body)
        note_made(in, s, directive);
}
