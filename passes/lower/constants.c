// Declares a table in constant memory in each launch that reads it.

#include "passes/lower/constants.h"

#include "ir/accesses.h"
#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

struct ir_block constants_take(struct pass *p, struct ir_block *body)
{
    struct ir_block tables = {0}, rest = {0};
    vec_foreach_value(s, body) {
        bool is_table =
            s->kind == STMT_alloc && s->u.buffer->space == SPACE_constant;
        ir_append(p->arena, is_table ? &tables : &rest, s);
    }
    *body = rest;
    return tables;
}

// Declare a table in a launch that reads it.
static void place(struct pass *p, struct ir_launch *launch,
                  const struct ir_stmt *table)
{
    struct map buffers = {.arena = p->scratch};
    struct ir_buffer *own = arena_new(p->arena, struct ir_buffer);
    if (!ir_block_reads(&launch->body, table->u.buffer))
        return;
    *own = *table->u.buffer;
    map_set(&buffers, table->u.buffer, own);
    ir_substitute_in(p->arena, &launch->body, NULL, &buffers);
    struct ir_stmt *s = ir_stmt_alloc(p->arena, own);
    ir_insert(p->arena, &launch->body, 0, ir_stmt_from(s, table));
}

void constants_place(struct pass *p, struct ir_block *body,
                     const struct ir_block *tables)
{
    for (size_t i = 0; i < body->n; i++)
        for (size_t k = tables->n; k-- > 0;)
            if (body->at[i]->kind == STMT_launch)
                place(p, &body->at[i]->u.launch, tables->at[k]);
}
