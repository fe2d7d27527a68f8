// Uninitialised reads: of elements that still hold what fresh arrays are filled
// with.

#include "ir/eval_code.h"

#include <string.h>

enum { ELEMENT_MOST = 8 };

// Return whether an element holds what fresh arrays do.
static bool is_fresh(const struct array *r, const void *element)
{
    char fresh[ELEMENT_MOST];
    bool is_float = type_is_float(r->buffer->elem);
    memset(fresh, is_float ? EVAL_POISON_FLOAT : EVAL_POISON_INT, sizeof fresh);
    return r->element_bytes <= sizeof fresh &&
           memcmp(element, fresh, r->element_bytes) == 0;
}

// Return whether an array is one that the kernel fills, not the caller.
static bool is_filled_here(const struct ir_buffer *b)
{
    return (b->role == ROLE_alloc && b->space != SPACE_constant) ||
           b->role == ROLE_output;
}

// Return an element as text, "s[1, 2]".
static const char *element_text(struct thread *t, const struct access *access)
{
    const struct array *r = &t->machine->arrays.at[access->array];
    const char *text = r->buffer->name, *before = "[";
    for (uint32_t i = 0; i < access->n; i++, before = ", ")
        text = arena_printf(t->machine->texts, "%s%s%lld", text, before,
                            (long long)eval_run(t, access->index[i]).i);
    return arena_printf(t->machine->texts, "%s]", text);
}

void eval_watch_read(struct thread *t, const struct access *access,
                     const void *element, const struct ir_expr *by)
{
    struct machine *m = t->machine;
    struct span span = by->span;
    const struct array *r = &m->arrays.at[access->array];
    struct eval_watch *w = m->watch;
    if (w->n == EVAL_UNWRITTEN_MOST || !is_filled_here(r->buffer) ||
        !is_fresh(r, element))
        return;
    for (size_t i = 0; i < w->n; i++)
        if (w->unwritten[i].read.from == span.from &&
            w->unwritten[i].buffer == r->buffer)
            return;
    m->watched[w->n] = element;
    w->unwritten[w->n++] = (struct eval_unwritten){
        r->buffer, element_text(t, access), span, {0}, by->op != OP_load};
}

void eval_watch_write(struct thread *t, const void *element, struct span span)
{
    struct eval_watch *w = t->machine->watch;
    for (size_t i = 0; i < w->n; i++) {
        struct eval_unwritten *u = &w->unwritten[i];
        bool is_around = span.from <= u->read.from && span.to >= u->read.to;
        if (t->machine->watched[i] == element && !u->write.source &&
            !is_around && u->buffer->space != SPACE_local)
            u->write = span;
    }
}
