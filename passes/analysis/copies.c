// Stores that copy an element of another array as it is.

#include "passes/analysis/copies.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/foreach.h"
#include "ir/marks.h"
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

// Return what a store writes where a condition holds that reads no memory, and
// without which it writes zeros.
static const struct ir_expr *value_of(const struct ir_stmt *store)
{
    const struct ir_expr *x = store->u.store.value;
    bool has_condition = x->op == OP_select && x->args[0]->type.lanes == 1 &&
                         ir_is_pure(x->args[0], true) && is_zero(x->args[2]);
    return has_condition ? x->args[1] : x;
}

const struct ir_expr *copies_source(const struct ir_stmt *store)
{
    const struct ir_expr *x = value_of(store);
    return x->op == OP_load ? x : NULL;
}

const struct ir_expr *copies_rounded(const struct ir_stmt *store)
{
    const struct ir_expr *x = value_of(store);
    return x->op == OP_tf32 && x->args[0]->op == OP_load ? x->args[0] : NULL;
}

struct ir_stmt *copies_start(struct arena *a, const struct ir_stmt *store)
{
    const struct ir_expr *from = copies_source(store),
                         *x = store->u.store.value;
    struct ir_copy copy = {
        .transport = TRANSPORT_cp_async,
        .is_load = true,
        .far = {from->u.buffer, from->n, from->args},
        .near = {store->u.store.buffer, store->u.store.n, store->u.store.index},
        .where = from == x || ir_is_true(x->args[0]) ? NULL : x->args[0],
        .source = from->span,
        .hint = store->u.store.hint,
        .copied = store->u.store.copied,
        .hinted = store->u.store.hinted};
    return ir_stmt_from(ir_stmt_copy(a, &copy), store);
}

void copies_again(struct arena *a, struct ir_stmt *s, struct ir_stmt *once)
{
    if (once != s)
        *s = copies_source(once) ? *copies_start(a, once) : *once;
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

bool copies_marked(const struct ir_stage *stage)
{
    const char *word = ir_attrs_word(&stage->attrs, MARK_via);
    return word && strcmp(word, "cp_async") == 0;
}

void copies_unmark(struct ir_stage *stage)
{
    struct ir_stmt *store =
        stage->body.n ? stage->body.at[stage->body.n - 1] : NULL;
    if (!copies_marked(stage))
        return;
    if (store && store->kind == STMT_store)
        store->u.store.copied = stage->via;
    ir_attrs_remove(&stage->attrs, MARK_via);
}

// Return whether a stage that a vector loop of so many lanes is around is a
// marked copy of 4 bytes or more.
static bool is_copy(const struct ir_stage *stage, size_t lanes)
{
    const struct ir_block *body = &stage->body;
    return copies_marked(stage) && body->n == 1 &&
           body->at[0]->kind == STMT_store && copies_source(body->at[0]) &&
           type_bytes(body->at[0]->u.store.value->type) * lanes >= 4;
}

// Return whether a block does nothing with stages but such copies.
static bool has_only_copies(const struct ir_block *block, size_t lanes)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        int64_t extent = 1;
        if (s->kind == STMT_stage && !is_copy(&s->u.stage, lanes))
            return false;
        if (s->kind == STMT_stage)
            continue;
        if (s->kind == STMT_for && s->u.loop.axis == AXIS_vector &&
            !ir_int_value(s->u.loop.to, &extent))
            extent = 1;
        ir_foreach_block(inner, s)
            if (!has_only_copies(inner, lanes * (size_t)extent))
                return false;
    }
    return true;
}

bool copies_only(struct ir_stmt *nest)
{
    return has_only_copies(ir_alone(nest), 1);
}
