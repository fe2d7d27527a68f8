// Conditional stores: definitions that store where a condition holds, to
// elements that data may choose.  No two of the values of the names store to
// one element; the kernel promises that.
//
//   Y[at[i] - 1] = X[i] if X[i] > 0 else 0
//     =>
//   for ax0 in 0..n { stage Y.init(v0 in n = ax0) { Y[v0] = 0 } }
//   for i in 0..n {
//     stage Y(vi in n = i) @distinct(1) {
//       if X[vi] > 0 { Y[at[vi] - 1] = X[vi] }
//     }
//   }
//
// Without `else`, the other elements hold what they held.  What gives those of
// a result their value comes first of all, so that the rest can be computed in
// what is in front of it.

#include "frontend/define.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/marks.h"
#include "ir/walk.h"

#include <string.h>

// Return by how much a token changes the number of open brackets.
static int opens(const struct token *t)
{
    return (strcmp(t->text, "[") == 0) - (strcmp(t->text, "]") == 0);
}

bool conditional_is_next(const struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    int depth = 0;
    if (t->kind != TOKEN_NAME || strcmp(t[1].text, "[") != 0)
        return false;
    do {
        depth += opens(++t);
    } while (depth > 0 && !define_ends_line(t));
    if (define_ends_line(t) || strcmp(t[1].text, "=") != 0)
        return false;
    while (!define_ends_line(t) && strcmp(t->text, "if") != 0)
        t++;
    return !define_ends_line(t);
}

// Declare the indices that the rest of the line names first, in subscripts.
static void declare_others(struct parser *p, struct definition *d)
{
    int depth = 0;
    for (const struct token *t = parse_peek(p, 0); !define_ends_line(t); t++) {
        depth += opens(t);
        if (depth > 0 && scatter_is_new(p, t) && strcmp(t[1].text, "[") != 0)
            define_add_iter(p, d, t->text, t->span, NULL, false);
    }
}

// Report a value behind `else` that depends on the element.
static bool refuse_other(struct parser *p, const struct ir_expr *x,
                         const struct element *e)
{
    diag_error(p->diags, x->span, D_conditional_other, e->name);
    return diag_help(p->diags,
                     "a choice between values is `condition ? a : b`");
}

// Parse `else x`, a value that does not depend on the element; NULL: there is
// none.  False after an error.
static bool parse_other(struct parser *p, const struct element *e,
                        struct ir_expr **out)
{
    *out = NULL;
    if (!parse_take(p, "else"))
        return true;
    *out = parse_typed(p, e->buffer->elem, "the value");
    if (!*out)
        return false;
    ir_foreach_expr(x, *out)
        if (x->op == OP_load ||
            (x->op == OP_var && x->u.var->kind != VAR_param))
            return refuse_other(p, x, e);
    return true;
}

// Parse the right side, and let the stage store it.
static bool parse_right(struct parser *p, struct definition *d,
                        struct ir_expr **other)
{
    struct arena *a = p->arena;
    struct element *e = &d->elements[0];
    struct ir_expr *x = parse_typed(p, e->buffer->elem, "the value");
    if (!x || !define_check_reads(p, d, x) ||
        !parse_expect(p, "if", "behind the value"))
        return false;
    struct ir_expr *condition = parse_condition(p, "the condition");
    if (!condition || !define_check_reads(p, d, condition) ||
        !parse_other(p, e, other))
        return false;
    struct ir_stmt *s = ir_stmt_if(a, condition);
    s->span = span_join(e->span, condition->span);
    define_store(p, d, 0, &s->u.branch.then, x);
    ir_append(a, &d->stage->u.stage.body, s);
    ir_attr_set(a, d->stage, MARK_distinct, 1);
    return define_infer_extents(p, d);
}

// Return where in a block the elements of an array can be given a value: first of
// all, behind the declaration of the array; last where they have one before.
static size_t place_of_start(const struct ir_block *block,
                             const struct ir_buffer *b)
{
    size_t at = 0;
    if (b->role == ROLE_inout || ir_block_writes(block, b))
        return block->n;
    while (b->role == ROLE_alloc && at < block->n &&
           !(block->at[at]->kind == STMT_alloc && block->at[at]->u.buffer == b))
        at++;
    return at + (b->role == ROLE_alloc);
}

// Put the nest that gives all elements a value into the block.
static void append_start(struct parser *p, const struct definition *d,
                         struct ir_expr *value, struct ir_block *block)
{
    struct ir_block start = {0};
    size_t at = place_of_start(block, d->elements[0].buffer);
    scatter_start(p, d, value, &start);
    ir_insert_all(p->arena, block, at, &start);
}

bool conditional_parse(struct parser *p, struct definition *d,
                       struct ir_block *block)
{
    struct ir_expr *other;
    if (!scatter_left(p, d) || !parse_expect(p, "=", "behind the element"))
        return false;
    declare_others(p, d);
    if (!parse_right(p, d, &other))
        return false;
    if (other)
        append_start(p, d, other, block);
    return true;
}
