// Origins: which directive made a statement.

#include "passes/schedule/interpret/interpret.h"

#include "ir/walk.h"

// Remember a statement as it was written.
static void see_written(struct ir_stmt *s, void *context)
{
    struct interp *in = context;
    struct ir_stmt *was = arena_new(in->pass->scratch, struct ir_stmt);
    *was = *s;
    map_set(&in->written, s, was);
}

void interp_origins_begin(struct interp *in)
{
    in->written = (struct map){.arena = in->pass->scratch};
    ir_each_stmt(&in->pass->kernel->body, see_written, in);
}

// Return whether a def is one of the library.
static bool is_library(const struct interp *in, const struct sched_item *def)
{
    for (const struct sched_program *p = in->program->fallback; p;
         p = p->fallback) {
        for (size_t i = 0; i < p->defs.n; i++) {
            if (p->defs.at[i] == def)
                return true;
        }
    }
    return false;
}

// A look for what a directive made.
struct search {
    const struct interp *in;
    struct span by; // the directive
};

// Note the directive at a statement that is new, or a loop that was serial.
static void see_made(struct ir_stmt *s, void *context)
{
    const struct search *search = context;
    if (s->by.source)
        return;
    const struct ir_stmt *was = map_get(&search->in->written, s);
    if (!was || (s->kind == STMT_for && s->u.loop.axis != was->u.loop.axis))
        s->by = search->by;
}

void interp_origins_note(struct interp *in, struct span directive)
{
    struct search search = {in, directive};
    for (const struct sched_frame *f = in->frame; is_library(in, f->item);
         f = f->caller)
        search.by = f->call;
    ir_each_stmt(&in->pass->kernel->body, see_made, &search);
}
