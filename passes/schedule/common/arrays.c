// Arrays that primitives look for, declare, and do away with.

#include "passes/schedule/prim.h"

#include "ir/build.h"

#include <string.h>

// Look for an array by its name: the context of see_buffer.
struct buffer_search {
    const char *name;
    struct ir_buffer *found;
};

// Note an array that a statement declares.
static void see_buffer(struct ir_stmt *s, void *context)
{
    struct buffer_search *f = context;
    if (s->kind == STMT_alloc && strcmp(s->u.buffer->name, f->name) == 0)
        f->found = s->u.buffer;
}

struct ir_buffer *sched_find_buffer(struct pass *p, const char *name)
{
    struct buffer_search f = {.name = name};
    for (size_t i = 0; i < p->kernel->params.n; i++) {
        struct ir_buffer *b = p->kernel->params.at[i].buffer;
        if (b && strcmp(b->name, name) == 0)
            return b;
    }
    ir_each_stmt(&p->kernel->body, see_buffer, &f);
    return f.found;
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

// A look for a load.
struct load_search {
    const struct ir_buffer *array;
    struct span found;
};

// Note where the array is loaded from first.
static void see_load(struct ir_expr *x, void *context)
{
    struct load_search *f = context;
    if (x->op == OP_load && x->u.buffer == f->array && !f->found.source)
        f->found = x->span;
}

struct span sched_load_span(struct ir_stmt *s, const struct ir_buffer *array)
{
    struct load_search f = {.array = array};
    struct ir_block alone = {&s, 1, 1};
    ir_each_expr_in(&alone, see_load, &f);
    return f.found.source ? f.found : s->span;
}

// Note the array that a store is to.
static void see_stored(struct ir_stmt *s, void *context)
{
    struct ir_buffer **found = context;
    if (s->kind == STMT_store)
        *found = s->u.store.buffer;
}

struct ir_buffer *sched_stored(struct ir_stmt *s)
{
    struct ir_buffer *found = NULL;
    struct ir_block alone = {&s, 1, 1};
    ir_each_stmt(&alone, see_stored, &found);
    return found;
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

// Look for the declaration of an array: the context of see_alloc.
struct alloc_search {
    const struct ir_buffer *buffer;
    struct ir_stmt *found;
};

// Note the declaration.
static void see_alloc(struct ir_stmt *s, void *context)
{
    struct alloc_search *f = context;
    if (s->kind == STMT_alloc && s->u.buffer == f->buffer)
        f->found = s;
}

struct ir_stmt *sched_alloc_of(struct pass *p, const struct ir_buffer *buffer)
{
    struct alloc_search f = {.buffer = buffer};
    ir_each_stmt(&p->kernel->body, see_alloc, &f);
    return f.found;
}
