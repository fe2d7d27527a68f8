// A definition of an array becomes a loop nest around a stage:
//
//   C[i, j] = sum(k in K) A[i, k] * B[k, j]
//     =>
//   for i in 0..M {
//     for j in 0..N {
//       for k in 0..K {
//         stage C(vi in M = i, vj in N = j, reduce vk in K = k) {
//           init { C[vi, vj] = 0.0 }
//           C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
//         }
//       }
//     }
//   }

#include "frontend/define.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"

#include <string.h>

// Return how many tokens `NAME [ ... ]` takes from token `at` on if its
// subscripts are all `name` or `name in extent` with names that mean nothing
// yet; 0 otherwise.
static size_t fresh_element(const struct parser *p, size_t at)
{
    const struct token *t = p->tokens + at;
    size_t i = 2;
    if (t[0].kind != TOKEN_NAME || strcmp(t[1].text, "[") != 0)
        return 0;
    while (strcmp(t[i].text, "]") != 0) {
        if (t[i].kind != TOKEN_NAME || scope_find(p, t[i].text))
            return 0;
        bool has_range = strcmp(t[i + 1].text, "in") == 0;
        for (i++; has_range && t[i].kind != TOKEN_END &&
                  t[i].kind != TOKEN_NEWLINE && !strchr(",]", t[i].text[0]);)
            i++;
        if (strcmp(t[i].text, ",") == 0)
            i++;
        else if (strcmp(t[i].text, "]") != 0)
            return 0;
    }
    return i + 1;
}

// Return whether a definition begins at the next token.
static bool is_definition(const struct parser *p)
{
    size_t at = p->at + (strcmp(p->tokens[p->at].text, "let") == 0);
    if (strcmp(p->tokens[at].text, "(") == 0)
        return fresh_element(p, at + 1) != 0;
    size_t n = fresh_element(p, at);
    return n && strcmp(p->tokens[at + n].text, "=") == 0;
}

void define_add_iter(struct parser *p, struct definition *d, const char *name,
                     struct span span, struct ir_expr *extent, bool is_reduce)
{
    struct type type = type_scalar(TYPE_int);
    const char *inside = arena_printf(p->arena, "v%s", name);
    inside = str_name(p->names, inside);
    struct ir_var *iter = ir_var_new(p->arena, inside, type, VAR_iter, span);
    struct ir_var *loop = ir_var_new(p->arena, name, type, VAR_loop, span);
    struct ir_iter it = {iter, extent, ir_read(p->arena, loop), is_reduce};
    struct scope_entry entry = {ENTRY_VAR, name, span, iter, NULL};
    vec_push(p->arena, &d->iters, it);
    vec_push(p->arena, &d->loops, loop);
    vec_push(p->arena, &p->scope, entry);
}

// Parse one subscript on the left: a name, perhaps with its extent.
// The first element of a tuple declares it; the others repeat it.
static bool parse_subscript(struct parser *p, struct definition *d,
                            struct element *e, uint32_t k)
{
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "an index");
    if (!name)
        return false;
    const struct scope_entry *known = scope_find(p, name);
    if (known && k < d->iters.n && d->iters.at[k].var == known->var)
        return true;
    struct ir_expr *extent = NULL;
    if (parse_take(p, "in")) {
        extent = parse_index(p, "an extent");
        if (!extent)
            return false;
    } else if (e->buffer && k < e->buffer->rank) {
        extent = e->buffer->shape[k];
    }
    define_add_iter(p, d, name, span, extent, false);
    return true;
}

// Find the array that a definition without `let` writes.
static bool find_target(struct parser *p, struct element *e)
{
    struct frontend *f = p->context;
    const struct scope_entry *entry = scope_find(p, e->name);
    if (!entry) {
        scope_unknown(p, e->span, e->name);
        diag_help(p->diags, "an intermediate array begins with `let`");
        return false;
    }
    if (entry->kind != ENTRY_BUFFER) {
        diag_error(p->diags, e->span, D_not_an_array, e->name);
        return false;
    }
    e->buffer = entry->buffer;
    if (e->buffer->role == ROLE_input) {
        diag_error(p->diags, e->span, D_read_only, e->name);
        diag_help(p->diags, "declare it `inout` to change it in place");
        return false;
    }
    for (size_t i = 0; i < f->defined.n; i++) {
        if (f->defined.at[i] == e->buffer) {
            diag_error(p->diags, e->span, D_defined_twice, e->name);
            return false;
        }
    }
    return true;
}

// Parse one element on the left.
static bool parse_element(struct parser *p, struct definition *d)
{
    size_t first = p->at;
    struct element *e = &d->elements[d->n_elements++];
    e->span = parse_peek(p, 0)->span;
    e->name = parse_name(p, "an array");
    if (!e->name || (!d->is_let && !find_target(p, e)) ||
        !parse_expect(p, "[", "behind the name of an array"))
        return false;
    while (!parse_is(p, "]")) {
        if (!parse_subscript(p, d, e, e->n++))
            return false;
        if (!parse_take(p, ","))
            break;
    }
    if (!parse_expect(p, "]", "behind the indices"))
        return false;
    if (e->buffer && e->buffer->rank != e->n) {
        diag_error(p->diags, parse_span(p, first), D_wrong_rank, e->name,
                   (long long)e->buffer->rank, (long long)e->n);
        diag_note(p->diags, e->buffer->span, "`%s` is declared here", e->name);
        return false;
    }
    return true;
}

// Parse the left side: an element, or several in brackets.
static bool parse_left(struct parser *p, struct definition *d)
{
    d->is_let = parse_take(p, "let");
    if (!parse_take(p, "("))
        return parse_element(p, d);
    do {
        if (d->n_elements == REDUCER_MOST) {
            diag_error(p->diags, parse_peek(p, 0)->span, D_too_many_operands,
                       (long long)REDUCER_MOST);
            return false;
        }
        if (!parse_element(p, d))
            return false;
    } while (parse_take(p, ","));
    return parse_expect(p, ")", "behind the arrays");
}

// Set the indices of the elements to the spatial iteration variables.
static void set_indices(struct parser *p, struct definition *d)
{
    for (uint32_t k = 0; k < d->n_elements; k++) {
        struct element *e = &d->elements[k];
        e->index = arena_array(p->arena, struct ir_expr *, e->n);
        for (uint32_t i = 0; i < e->n; i++)
            e->index[i] = ir_read(p->arena, d->iters.at[i].var);
    }
}

// A search for the extent of an iteration variable.
struct extent_search {
    const struct ir_var *var;
    struct ir_expr *extent; // of the first dimension indexed by it alone
};

// Take the extent of a dimension that the variable indexes alone.
static void see_access(struct ir_expr *x, void *context)
{
    struct extent_search *s = context;
    for (uint32_t i = 0; x->op == OP_load && !s->extent && i < x->n; i++) {
        if (x->args[i]->op == OP_var && x->args[i]->u.var == s->var)
            s->extent = x->u.buffer->shape[i];
    }
}

// Find the extents that the left side leaves open.
static bool infer_extents(struct parser *p, struct definition *d)
{
    for (size_t i = 0; i < d->iters.n; i++) {
        struct ir_iter *it = &d->iters.at[i];
        struct extent_search s = {it->var, NULL};
        if (it->extent)
            continue;
        ir_each_expr_in(&d->stage->u.stage.body, see_access, &s);
        it->extent = s.extent;
        if (!it->extent) {
            diag_error(p->diags, it->var->span, D_no_range,
                       d->loops.at[i]->name);
            diag_help(p->diags, "write its extent: `%s in n`",
                      d->loops.at[i]->name);
            return false;
        }
    }
    return true;
}

bool define_arrays(struct parser *p, struct definition *d,
                   const struct type *types)
{
    set_indices(p, d);
    for (uint32_t k = 0; k < d->n_elements; k++) {
        struct element *e = &d->elements[k];
        if (e->buffer)
            continue;
        struct ir_expr **shape = arena_array(p->arena, struct ir_expr *, e->n);
        e->buffer = ir_buffer_new(p->arena, e->name, types[k], e->n, shape);
        e->buffer->span = e->span;
    }
    return true;
}

// Parse a right side that is no reduction: a value for each element.
static bool parse_value(struct parser *p, struct definition *d)
{
    struct element *e = &d->elements[0];
    struct ir_expr *x = parse_expr(p);
    if (d->n_elements > 1) {
        diag_error(p->diags, e->span, D_tuple_without_reduction);
        return false;
    }
    x = e->buffer ? parse_convert(p, x, e->buffer->elem, "the value")
                  : parse_close(p, x);
    if (!x || !define_arrays(p, d, &x->type))
        return false;
    struct ir_stmt *s = ir_stmt_store(p->arena, e->buffer, e->n, e->index, x);
    s->span = d->stage->span;
    ir_append(p->arena, &d->stage->u.stage.body, s);
    return true;
}

// A search for reads of an array that is being defined.
struct own_reads {
    const struct element *element;
    struct ir_expr *bad; // a read elsewhere than at the element itself
};

// Remember a read of the element's array at other indices.
static void see_own_read(struct ir_expr *x, void *context)
{
    struct own_reads *s = context;
    if (x->op != OP_load || x->u.buffer != s->element->buffer || s->bad)
        return;
    for (uint32_t i = 0; i < x->n; i++) {
        if (!ir_expr_equal(x->args[i], s->element->index[i]))
            s->bad = x;
    }
}

// Check that no array is read elsewhere than where it is written.
static bool check_reads(struct parser *p, struct definition *d)
{
    for (uint32_t k = 0; k < d->n_elements; k++) {
        struct own_reads s = {&d->elements[k], NULL};
        ir_each_expr_in(&d->stage->u.stage.body, see_own_read, &s);
        if (s.bad && d->elements[k].buffer->role != ROLE_alloc) {
            diag_error(p->diags, s.bad->span, D_reads_itself,
                       d->elements[k].name);
            return false;
        }
    }
    return true;
}

// Declare the arrays of a `let` in front of the nest, with the extents of the
// iteration variables as their shape.
static void declare_arrays(struct parser *p, struct definition *d,
                           struct ir_block *block)
{
    for (uint32_t k = 0; k < d->n_elements; k++) {
        struct element *e = &d->elements[k];
        for (uint32_t i = 0; d->is_let && i < e->n; i++)
            e->buffer->shape[i] = d->iters.at[i].extent;
        if (d->is_let) {
            struct ir_stmt *s = ir_stmt_alloc(p->arena, e->buffer);
            s->span = e->span;
            ir_append(p->arena, block, s);
            scope_add_buffer(p, e->buffer);
        }
        struct frontend *f = p->context;
        vec_push(p->arena, &f->defined, e->buffer);
    }
}

// Put the loops around the stage and the whole nest into the block.
static void close_nest(struct parser *p, struct definition *d,
                       struct ir_block *block)
{
    struct ir_stmt *s = d->stage;
    for (size_t i = 0; i < d->iters.n; i++)
        vec_push(p->arena, &s->u.stage.iters, d->iters.at[i]);
    for (size_t i = d->iters.n; i-- > 0;) {
        struct ir_stmt *f = ir_stmt_for(
            p->arena, d->loops.at[i], ir_int(p->arena, 0),
            d->iters.at[i].extent, ir_int(p->arena, 1), AXIS_serial);
        f->span = d->stage->span;
        ir_append(p->arena, &f->u.loop.body, s);
        s = f;
    }
    ir_append(p->arena, block, s);
}

// Parse `left = right` into the stage of `d`.
static bool parse_sides(struct parser *p, struct definition *d)
{
    if (!parse_left(p, d) ||
        !parse_expect(p, "=", "between the sides of a definition"))
        return false;
    d->stage = ir_stmt_stage(p->arena, d->elements[0].name);
    return (reduce_is_next(p) ? reduce_parse(p, d) : parse_value(p, d)) &&
           infer_extents(p, d) && check_reads(p, d);
}

bool define_parse(struct parser *p, struct ir_block *block)
{
    struct definition d = {0};
    size_t first = p->at;
    if (!is_definition(p))
        return false;
    size_t mark = scope_open(p);
    bool ok = parse_sides(p, &d);
    scope_close(p, mark);
    if (ok) {
        d.stage->span = parse_span(p, first);
        declare_arrays(p, &d, block);
        close_nest(p, &d, block);
    }
    for (uint32_t k = 0; !ok && d.is_let && k < d.n_elements; k++) {
        if (d.elements[k].name)
            scope_add_broken(p, d.elements[k].name, d.elements[k].span);
    }
    return ok;
}
