// Stores that copy an element of another array as it is.

#include "passes/analysis/copies.h"

#include "ir/build.h"
#include "ir/walk.h"

#include <math.h>
#include <string.h>

// Return whether an expression is 0, in every lane.
static bool is_zero(const struct ir_expr *x)
{
    if (x->op == OP_broadcast)
        return is_zero(x->args[0]);
    if (x->op != OP_const)
        return false;
    return type_is_float(x->type) ? x->u.f == 0 && !signbit(x->u.f)
                                  : x->u.i == 0;
}

const struct ir_expr *copies_source(const struct ir_stmt *store)
{
    const struct ir_expr *x = store->u.store.value;
    if (x->op == OP_select && x->args[0]->type.lanes == 1 &&
        ir_is_pure(x->args[0], true) && is_zero(x->args[2]))
        x = x->args[1];
    return x->op == OP_load ? x : NULL;
}

bool copies_can_be_async(const struct ir_stmt *store)
{
    const struct ir_expr *from = copies_source(store);
    const struct ir_buffer *to = store->u.store.buffer;
    size_t bytes = type_bytes(store->u.store.value->type);
    return from && from->u.buffer->space == SPACE_global &&
           to->space == SPACE_shared &&
           (bytes == 4 || bytes == 8 || bytes == 16);
}

// Return the place of the mark among a stage's annotations; their number if it
// has none.
static size_t mark_of(const struct ir_stage *stage)
{
    size_t i = 0;
    for (; i < stage->attrs.n; i++) {
        const struct ir_attr *attr = &stage->attrs.at[i];
        if (strcmp(attr->name, "via") == 0 && attr->word &&
            strcmp(attr->word, "cp_async") == 0)
            break;
    }
    return i;
}

bool copies_marked(const struct ir_stage *stage)
{
    return mark_of(stage) < stage->attrs.n;
}

void copies_unmark(struct ir_stage *stage)
{
    size_t i = mark_of(stage);
    struct ir_stmt *store =
        stage->body.n ? stage->body.at[stage->body.n - 1] : NULL;
    if (i >= stage->attrs.n)
        return;
    if (store && store->kind == STMT_store)
        store->u.store.copied = stage->via;
    stage->attrs.at[i] = stage->attrs.at[--stage->attrs.n];
}

// Set *(bool *)context to false at a stage that is no marked copy of 4 bytes or
// more.
static void see_stage(struct ir_stmt *s, void *context)
{
    if (s->kind != STMT_stage)
        return;
    const struct ir_block *body = &s->u.stage.body;
    bool is_copy = copies_marked(&s->u.stage) && body->n == 1 &&
                   body->at[0]->kind == STMT_store &&
                   copies_source(body->at[0]) &&
                   type_bytes(body->at[0]->u.store.value->type) >= 4;
    *(bool *)context &= is_copy;
}

bool copies_only(struct ir_stmt *nest)
{
    bool only = true;
    struct ir_block one = {.at = &nest, .n = 1};
    ir_each_stmt(&one, see_stage, &only);
    return only;
}
