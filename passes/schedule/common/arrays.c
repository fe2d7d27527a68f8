// Arrays that primitives look for, declare, and do away with.

#include "passes/schedule/prim.h"

#include "ir/build.h"

#include <string.h>

struct ir_buffer *sched_find_buffer(struct pass *p, const char *name)
{
    for (size_t i = 0; i < p->kernel->params.n; i++) {
        struct ir_buffer *b = p->kernel->params.at[i].buffer;
        if (b && strcmp(b->name, name) == 0)
            return b;
    }
    struct ir_buffer *last = NULL;
    ir_foreach_stmt(s, &p->kernel->body)
        if (s->kind == STMT_alloc && strcmp(s->u.buffer->name, name) == 0)
            last = s->u.buffer;
    return last;
}

struct ir_buffer *sched_new_buffer(struct pass *p, const char *name,
                                   const struct ir_buffer *like,
                                   enum space space)
{
    const char *free = name;
    for (int k = 1; sched_find_buffer(p, free); k++)
        free = arena_printf(p->scratch, "%s_%d", name, k);
    struct ir_buffer *b = ir_buffer_new(p->arena, str_name(p->names, free),
                                        like->elem, like->rank, like->shape);
    struct ir_stmt *alloc = ir_stmt_alloc(p->arena, b);
    b->space = space;
    b->span = like->span;
    alloc->span = like->span;
    size_t at = 0;
    while (at < p->kernel->body.n && p->kernel->body.at[at]->kind == STMT_alloc)
        at++;
    ir_insert(p->arena, &p->kernel->body, at, alloc);
    return b;
}

struct span sched_load_span(struct ir_stmt *s, const struct ir_buffer *array)
{
    ir_foreach_expr_from(x, s)
        if (x->op == OP_load && x->u.buffer == array && x->span.source)
            return x->span;
    return s->span;
}

struct ir_buffer *sched_stored(struct ir_stmt *s)
{
    struct ir_buffer *found = NULL, *changed = NULL;
    ir_foreach_stmt_from(t, s)
        if (t->kind == STMT_store)
            found = t->u.store.buffer;
        else if (t->kind == STMT_eval && (ir_flags(t->u.value) & OP_WRITES))
            changed = t->u.value->u.buffer;
    return found ? found : changed;
}

void sched_hoist_arrays(struct pass *p)
{
    struct ir_block *body = &p->kernel->body;
    size_t front = 0;
    for (size_t i = 0; i < body->n; i++) {
        struct ir_stmt *s = body->at[i];
        if (s->kind != STMT_alloc)
            continue;
        ir_splice(p->arena, body, i, &(struct ir_block){0});
        ir_insert(p->arena, body, front++, s);
    }
}

struct ir_stmt *sched_alloc_of(struct pass *p, const struct ir_buffer *buffer)
{
    ir_foreach_stmt(s, &p->kernel->body)
        if (s->kind == STMT_alloc && s->u.buffer == buffer)
            return s;
    return NULL;
}
