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

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/stage.h"
#include "ir/walk.h"

#include <string.h>

// Return whether `NAME [` with the name of a new index behind it begins at `t`.
static bool is_element(const struct parser *p, const struct token *t)
{
    return t[0].kind == TOKEN_NAME && strcmp(t[1].text, "[") == 0 &&
           (strcmp(t[2].text, "]") == 0 ||
            (t[2].kind == TOKEN_NAME && !scope_find(p, t[2].text)));
}

bool define_ends_line(const struct token *t)
{
    return t->kind == TOKEN_NEWLINE || t->kind == TOKEN_END;
}

// Return whether a definition begins at the next token.
static bool is_definition(const struct parser *p)
{
    bool is_let = parse_is(p, "let");
    const struct token *t = parse_peek(p, is_let);
    bool is_tuple = strcmp(t->text, "(") == 0;
    return is_element(p, t + is_tuple);
}

struct ir_var *define_iter(struct parser *p, struct definition *d,
                           const char *name, struct span span,
                           struct ir_expr *extent, bool is_reduce)
{
    struct type type = type_scalar(TYPE_int);
    const char *inside = arena_printf(p->arena, "v%s", name);
    inside = str_name(p->names, inside);
    struct ir_var *iter = ir_var_new(p->arena, inside, type, VAR_iter, span);
    struct ir_var *loop = ir_var_new(p->arena, name, type, VAR_loop, span);
    struct ir_iter it = {iter, extent, ir_read(p->arena, loop), is_reduce};
    vec_push(p->arena, &d->iters, it);
    vec_push(p->arena, &d->loops, loop);
    return iter;
}

void define_add_iter(struct parser *p, struct definition *d, const char *name,
                     struct span span, struct ir_expr *extent, bool is_reduce)
{
    struct ir_var *iter = define_iter(p, d, name, span, extent, is_reduce);
    scope_add(p,
              (struct scope_entry){
                  .kind = ENTRY_VAR, .name = name, .span = span, .var = iter});
}

uint32_t define_dimension_of(const struct parser *p, const struct element *e,
                             uint32_t i)
{
    uint32_t d = 0;
    while (e->buffer && d < e->buffer->rank &&
           parse_position(p, e->buffer, d) != i)
        d++;
    return e->buffer ? d : i;
}

// Parse the first appearance of an index: a name, perhaps with its extent.
static bool parse_new_index(struct parser *p, struct definition *d,
                            const struct element *e, const char *name,
                            struct span span)
{
    struct ir_expr *extent = NULL;
    bool has_range = parse_take(p, "in");
    if (has_range && !d->is_let) {
        diag_error(p->diags, span, D_range_of_result, name, e->name);
        return false;
    }
    if (has_range && !(extent = define_parse_extent(p, d, name)))
        return false;
    if (e->buffer && e->n < e->buffer->rank)
        extent = e->buffer->shape[define_dimension_of(p, e, e->n)];
    define_add_iter(p, d, name, span, extent, false);
    return true;
}

// Parse the range of an index that an element of a tuple repeats; there may be
// none.
static bool parse_same_range(struct parser *p, const struct definition *d,
                             const char *name, uint32_t i)
{
    struct span span = parse_peek(p, 0)->span;
    if (!d->is_let || !parse_take(p, "in"))
        return true;
    const struct ir_expr *first = d->iters.at[i].extent;
    const struct ir_expr *extent = define_parse_extent(p, d, name);
    if (extent && first && ir_expr_equal(extent, first))
        return true;
    if (extent)
        diag_error(p->diags, span, D_tuple_indices);
    return false;
}

// Parse one subscript on the left.  The first element of a tuple declares the
// indices; the others repeat them.
static bool parse_subscript(struct parser *p, struct definition *d,
                            struct element *e)
{
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "an index");
    if (!name)
        return false;
    if (d->n_elements == 1)
        return parse_new_index(p, d, e, name, span);
    if (e->n < d->iters.n && d->loops.at[e->n]->name == name)
        return parse_same_range(p, d, name, e->n);
    diag_error(p->diags, span, D_tuple_indices);
    return false;
}

// Return whether an array has a definition, or is in this one already.
static bool is_defined(const struct parser *p, const struct definition *d,
                       const struct ir_buffer *buffer)
{
    const struct frontend *f = p->context;
    for (size_t i = 0; i < f->defined.n; i++) {
        if (f->defined.at[i] == buffer)
            return true;
    }
    for (uint32_t k = 0; k + 1 < d->n_elements; k++) {
        if (d->elements[k].buffer == buffer)
            return true;
    }
    return false;
}

bool define_find_target(struct parser *p, const struct definition *d,
                        struct element *e)
{
    const struct scope_entry *entry = scope_find(p, e->name);
    if (!entry) {
        scope_unknown(p, e->span, e->name);
        diag_help(p->diags,
                  "a result is declared behind the parameters, `-> %s: "
                  "f32[n]`; an intermediate array begins with `let`",
                  e->name);
        return false;
    }
    if (entry->kind == ENTRY_VAR)
        diag_error(p->diags, e->span, D_not_an_array, e->name);
    if (entry->kind != ENTRY_BUFFER ||
        !parse_check_writable(p, entry->buffer, e->span))
        return false;
    e->buffer = entry->buffer;
    if (!is_defined(p, d, e->buffer))
        return true;
    diag_error(p->diags, e->span, D_defined_twice, e->name);
    return false;
}

// Check that an element of a tuple has the indices of the first one, over the
// same extents.
static bool same_shape(struct parser *p, const struct definition *d,
                       const struct element *e)
{
    bool same = e->n == d->iters.n;
    for (uint32_t i = 0; same && e->buffer && i < e->n; i++)
        same = ir_expr_equal(e->buffer->shape[define_dimension_of(p, e, i)],
                             d->iters.at[i].extent);
    if (!same)
        diag_error(p->diags, e->span, D_tuple_indices);
    return same;
}

// Parse one element on the left.
static bool parse_element(struct parser *p, struct definition *d)
{
    size_t first = p->at;
    struct element *e = &d->elements[d->n_elements++];
    e->span = parse_peek(p, 0)->span;
    e->name = parse_name(p, "an array");
    if (!e->name || (!d->is_let && !define_find_target(p, d, e)) ||
        !parse_expect(p, "[", "behind the name of an array"))
        return false;
    while (!parse_is(p, "]")) {
        if (!parse_subscript(p, d, e))
            return false;
        e->n++;
        if (!parse_take(p, ","))
            break;
    }
    if (!parse_expect(p, "]", "behind the indices")) {
        diag_help(p->diags, "the left side of a definition has names as "
                            "indices: `C[i, j] = ...`");
        return false;
    }
    if (e->buffer && e->buffer->rank != e->n) {
        parse_wrong_rank(p, parse_span(p, first), e->buffer, e->n);
        return false;
    }
    return same_shape(p, d, e);
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
            e->index[define_dimension_of(p, e, i)] =
                ir_read(p->arena, d->iters.at[i].var);
    }
}

void define_arrays(struct parser *p, struct definition *d,
                   const struct type *types)
{
    set_indices(p, d);
    for (uint32_t k = 0; k < d->n_elements && types; k++) {
        struct element *e = &d->elements[k];
        if (e->buffer)
            continue;
        struct ir_expr **shape = arena_array(p->arena, struct ir_expr *, e->n);
        e->buffer = ir_buffer_new(p->arena, e->name, types[k], e->n, shape);
        e->buffer->span = e->span;
    }
}

struct ir_expr *define_load(struct parser *p, const struct definition *d,
                            uint32_t k)
{
    const struct element *e = &d->elements[k];
    return ir_at(p->arena, ir_load(p->arena, e->buffer, e->n, e->index),
                 e->span);
}

void define_store(struct parser *p, const struct definition *d, uint32_t k,
                  struct ir_block *block, struct ir_expr *value)
{
    const struct element *e = &d->elements[k];
    struct ir_stmt *s =
        ir_stmt_store(p->arena, e->buffer, e->n, e->index, value);
    s->span = span_join(e->span, value->span);
    ir_append(p->arena, block, s);
}

// Return whether `x` reads the element `e`, which is being defined.
static bool is_own_element(const struct element *e, const struct ir_expr *x)
{
    bool same = true;
    for (uint32_t i = 0; i < x->n; i++)
        same = same && ir_expr_equal(x->args[i], e->index[i]);
    return same;
}

// Return whether a result has a value so far, or would without an error.
static bool is_written(const struct parser *p, const struct ir_buffer *buffer)
{
    const struct frontend *f = p->context;
    for (size_t i = 0; i < f->failed.n; i++) {
        if (f->failed.at[i] == buffer)
            return true;
    }
    return ir_block_writes(&p->kernel->body, buffer);
}

// Return whether a load is of an array being defined, at another element.
static bool is_elsewhere(const struct definition *d, const struct ir_expr *x)
{
    for (uint32_t k = 0; k < d->n_elements; k++)
        if (x->u.buffer == d->elements[k].buffer &&
            (d->is_reduction || !is_own_element(&d->elements[k], x)))
            return true;
    return false;
}

bool define_check_reads(struct parser *p, const struct definition *d,
                        struct ir_expr *x)
{
    struct ir_expr *elsewhere = NULL, *undefined = NULL;
    ir_foreach_expr(e, x) {
        if (e->op != OP_load)
            continue;
        if (is_elsewhere(d, e))
            elsewhere = e;
        if (e->u.buffer->role == ROLE_output && !is_written(p, e->u.buffer))
            undefined = e;
    }
    if (elsewhere) {
        diag_error(p->diags, elsewhere->span, D_reads_itself,
                   elsewhere->u.buffer->name);
        return false;
    }
    if (undefined) {
        diag_error(p->diags, undefined->span, D_no_value_yet,
                   undefined->u.buffer->name);
        diag_help(p->diags,
                  "declare it as a parameter, `%s: %s[...] inout`, to pass its "
                  "values in; a sum is `sum(k in K) ...`",
                  undefined->u.buffer->name,
                  type_name(undefined->u.buffer->elem));
        return false;
    }
    return true;
}

// Parse a right side that is no reduction, behind `=` (OP_const) or `+=` ...
static bool parse_value(struct parser *p, struct definition *d, enum ir_op op)
{
    struct element *e = &d->elements[0];
    struct ir_expr *x = NULL;
    if (d->n_elements > 1) {
        diag_error(p->diags, e->span, D_tuple_without_reduction);
        return false;
    }
    if (d->is_let)
        x = parse_close(p, parse_expr(p));
    define_arrays(p, d, x ? &x->type : NULL);
    if (!d->is_let)
        x = parse_new_value(p, op, define_load(p, d, 0));
    if (!x || !define_check_reads(p, d, x))
        return false;
    define_store(p, d, 0, &d->stage->u.stage.body, x);
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

// Make the loop of a scan the innermost one: what it has so far is of one row.
static void scan_innermost(struct definition *d)
{
    struct ir_iter it = d->iters.at[d->scanned];
    struct ir_var *loop = d->loops.at[d->scanned];
    for (size_t i = d->scanned; i + 1 < d->iters.n; i++) {
        d->iters.at[i] = d->iters.at[i + 1];
        d->loops.at[i] = d->loops.at[i + 1];
    }
    d->iters.at[d->iters.n - 1] = it;
    d->loops.at[d->loops.n - 1] = loop;
}

void define_close_nest(struct parser *p, struct definition *d,
                       struct ir_block *block)
{
    struct ir_stmt *s = d->stage;
    if (d->is_scan)
        scan_innermost(d);
    vec_append(p->arena, &s->u.stage.iters, &d->iters);
    for (size_t i = d->iters.n; i-- > 0;) {
        struct ir_expr *to = ir_stage_over_loops(p->arena, &d->stage->u.stage,
                                                 d->iters.at[i].extent);
        struct ir_stmt *f =
            ir_stmt_for(p->arena, d->loops.at[i], ir_int(p->arena, 0), to,
                        ir_int(p->arena, 1), AXIS_serial);
        f->span = d->stage->span;
        ir_append(p->arena, &f->u.loop.body, s);
        s = f;
    }
    ir_append(p->arena, block, s);
}

// Parse `left = right` into the stage of `d`.
static bool parse_sides(struct parser *p, struct definition *d)
{
    enum ir_op op = OP_const;
    if (!parse_left(p, d) ||
        !(d->is_let ? parse_expect(p, "=", "between the sides of a definition")
                    : parse_assign_op(p, &op)))
        return false;
    d->stage = ir_stmt_stage(p->arena, d->elements[0].name);
    d->is_scan = op == OP_const && scan_is_next(p);
    d->is_reduction = d->is_scan || (op == OP_const && reduce_is_next(p));
    return (d->is_scan        ? scan_parse(p, d)
            : d->is_reduction ? reduce_parse(p, d)
                              : parse_value(p, d, op)) &&
           define_infer_extents(p, d);
}

// After an error: uses of an array that it would have defined are not reported.
static void give_up(struct parser *p, const struct definition *d,
                    const struct element *e)
{
    struct frontend *f = p->context;
    if (d->is_let && e->name)
        scope_add_broken(p, e->name, e->span);
    else if (e->buffer)
        vec_push(p->arena, &f->failed, e->buffer);
}

bool define_parse(struct parser *p, struct ir_block *block)
{
    struct definition d = {.lows = {.arena = p->arena}};
    size_t first = p->at;
    bool is_conditional = conditional_is_next(p);
    bool is_scatter = !is_conditional && scatter_is_next(p);
    if (!is_conditional && !is_scatter && !is_definition(p))
        return false;
    size_t mark = scope_open(p);
    bool ok = is_conditional ? conditional_parse(p, &d, block)
              : is_scatter   ? scatter_parse(p, &d, block)
                             : parse_sides(p, &d);
    scope_close(p, mark);
    if (ok) {
        d.stage->span = parse_span(p, first);
        declare_arrays(p, &d, block);
        if (d.is_scan)
            scan_declare(p, &d, block);
        define_close_nest(p, &d, block);
    }
    for (uint32_t k = 0; !ok && k < d.n_elements; k++)
        give_up(p, &d, &d.elements[k]);
    return ok;
}
