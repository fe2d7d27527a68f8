// Reduces the columns of a fragment: to an element for each row, in registers.
//
//   for i in 0..16 { for j in 0..32 {             part[e] = -inf
//     stage m { m[i] = max(m[i], s[i, j]) }       for j0 { for e1 { for e0 {
//   } }                                      =>     part[e1] = max(part[e1], s[0, j0, e1 * 2 + e0])
//                                                 } } }
//                                                 part[e] = max(part[e], shuffle_xor(part[e], 1))   // .., 2
//                                                 m[0, e] = max(m[0, e], part[e])
//
// Each thread reduces the elements that it has; then those that have the rest of the row
// exchange what they found, so that all of them have the result.

#include "passes/lower/fragments.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/stage.h"
#include "passes/analysis/reducer_parts.h"

#include <math.h>

struct matrix_layout fragments_rows(const struct matrix_layout *of)
{
    struct matrix_layout out = {.n = {of->n[0], 0}, .elements = 1};
    for (uint32_t i = of->n[0]; i-- > 0;) {
        struct matrix_digit *d = &out.digit[0][i];
        *d = of->digit[0][i];
        if (d->by != MATRIX_BY_ELEMENT)
            continue;
        d->step = out.elements;
        out.elements *= d->extent;
    }
    return out;
}

bool spread_reduces(const struct spread *x)
{
    const struct ir_stage *stage = &x->stage->u.stage;
    bool found = false, stores = false;
    if (!x->like || x->like->dim[1] == FRAGMENT_NONE)
        return false;
    ir_foreach_stmt_from(s, x->stage) {
        const struct fragment *f =
            s->kind == STMT_store ? fragment_of(x->f, s->u.store.buffer) : NULL;
        stores |= f && f->dim[1] == FRAGMENT_NONE;
    }
    for (uint32_t i = 0; i < x->n; i++)
        found |=
            x->loops[i].side == 1 && x->loops[i].inside &&
            ir_stage_role(stage, x->loops[i].loop->u.loop.var) == STAGE_REDUCES;
    return found && stores;
}

// The reduction of a stage, and the parts of this thread.
struct rows {
    struct spread *x;
    struct reducer of;
    struct reducer_place part[REDUCER_ARRAYS], to[REDUCER_ARRAYS];
};

// Return the element of a row's tile that this thread is at, in a fragment with an
// element for each row.
static struct ir_expr *row_element(struct spread *x)
{
    struct arena *a = x->f->p->arena;
    struct matrix_layout rows = fragments_rows(&x->layout);
    struct ir_expr *sum = ir_int(a, 0);
    for (uint32_t i = 0; i < rows.n[0]; i++)
        if (rows.digit[0][i].by == MATRIX_BY_ELEMENT)
            sum = ir_add(a, sum,
                         ir_mul(a, spread_digit(x, 0, i),
                                ir_int(a, rows.digit[0][i].step)));
    return sum;
}

// Declare the parts.
static void declare_parts(struct rows *r, struct ir_block *out)
{
    struct spread *x = r->x;
    struct arena *a = x->f->p->arena;
    for (size_t v = 0; v < r->of.n; v++) {
        const struct ir_stmt *store = r->of.values[v].store;
        struct ir_expr **shape = arena_new(a, struct ir_expr *);
        struct ir_expr **index = arena_new(a, struct ir_expr *);
        shape[0] = ir_int(a, fragments_rows(&x->layout).elements);
        index[0] = row_element(x);
        struct ir_buffer *own =
            ir_buffer_new(a, str_name(x->f->p->names, "part"),
                          store->u.store.buffer->elem, 1, shape);
        own->space = SPACE_local;
        own->span = x->stage->span;
        ir_append(a, out, ir_stmt_from(ir_stmt_alloc(a, own), x->stage));
        r->part[v] =
            (struct reducer_place){.buffer = own, .n = 1, .index = index};
        r->to[v] = (struct reducer_place){.buffer = store->u.store.buffer,
                                          .n = store->u.store.n,
                                          .index = store->u.store.index};
    }
}

// Put loops over the elements that a thread has of the rows around statements, with
// variables of their own.
static void wrap_rows(struct rows *r, struct ir_block *block)
{
    struct spread *x = r->x;
    struct arena *a = x->f->p->arena;
    for (uint32_t i = 0; i < x->layout.n[0]; i++) {
        struct ir_var *old = x->digit[i];
        if (x->layout.digit[0][i].by != MATRIX_BY_ELEMENT)
            continue;
        struct ir_var *var =
            ir_var_new(a, old->name, old->type, VAR_loop, old->span);
        struct ir_stmt *s = ir_stmt_for(a, var, ir_int(a, 0),
                                        ir_int(a, x->layout.digit[0][i].extent),
                                        ir_int(a, 1), AXIS_unroll);
        ir_replace_in(a, block, old, ir_read(a, var));
        ir_enclose(a, block, ir_stmt_from(s, x->stage), &s->u.loop.body);
    }
}

// Append what combines two results, the second of which are the values `right`.
static void append_combine(struct rows *r, const struct reducer_place *to,
                           struct ir_expr *const *right, struct ir_block *out)
{
    struct fragments *f = r->x->f;
    struct ir_block all = reducer_combine(f->p, &r->of, to, right, NULL);
    ir_append_all(f->p->arena, out, &all);
}

// Append the exchange between the lanes that have columns of the same rows.
static void append_exchange(struct rows *r, struct ir_block *out)
{
    struct arena *a = r->x->f->p->arena;
    const struct matrix_layout *layout = &r->x->layout;
    for (uint32_t i = 0; i < layout->n[1]; i++) {
        const struct matrix_digit *d = &layout->digit[1][i];
        if (d->by != MATRIX_BY_LANE)
            continue;
        for (uint32_t k = d->step; k < d->step * d->extent; k *= 2) {
            struct ir_expr *right[REDUCER_ARRAYS];
            for (size_t v = 0; v < r->of.n; v++) {
                struct ir_expr *args[] = {reducer_read(a, &r->part[v]),
                                          ir_int(a, k)};
                struct ir_var *var = ir_var_new(
                    a, str_name(r->x->f->p->names, "other"),
                    r->part[v].buffer->elem, VAR_let, r->x->stage->span);
                ir_append(a, out,
                          ir_stmt_from(
                              ir_stmt_let(a, var,
                                          ir_call(a, OP_shuffle_xor, 2, args)),
                              r->x->stage));
                right[v] = ir_read(a, var);
            }
            append_combine(r, r->part, right, out);
        }
    }
}

// Return what an operation combines with any number without a change; NULL: nothing
// is known to be that.
static struct ir_expr *identity_of(struct arena *a, enum ir_op op,
                                   struct type type)
{
    bool is_float = type_is_float(type);
    switch ((int)op) {
    case OP_add: return ir_zero(a, type);
    case OP_mul:
        return is_float ? ir_const_float(a, type, 1) : ir_const_int(a, type, 1);
    case OP_max: return is_float ? ir_const_float(a, type, -INFINITY) : NULL;
    case OP_min: return is_float ? ir_const_float(a, type, INFINITY) : NULL;
    }
    return NULL;
}

// Find how the stage reduces, which has no init: `S[..] = S[..] + x`.
static bool find_reduction(struct arena *a, const struct ir_stage *stage,
                           struct reducer *out)
{
    const struct ir_stmt *s = stage->body.n == 1 ? stage->body.at[0] : NULL;
    if (!s || stage->has_init || s->kind != STMT_store)
        return false;
    const struct ir_expr *x = s->u.store.value;
    *out = (struct reducer){.stage = stage,
                            .block = &stage->body,
                            .kind = REDUCER_operation,
                            .n = 1,
                            .values[0].store = s};
    out->values[0].identity = identity_of(a, x->op, x->type);
    if (!out->values[0].identity)
        return false;
    size_t own = reducer_loads_own(s, x->args[0]) ? 0 : 1;
    out->values[0].operand = 1 - own;
    bool is_used = false;
    ir_foreach_expr(e, x->args[1 - own])
        is_used |= e->op == OP_load && e->u.buffer == s->u.store.buffer;
    return reducer_loads_own(s, x->args[own]) && !is_used;
}

bool spread_reduce(struct spread *x, struct ir_block *front,
                   struct ir_block *behind)
{
    struct arena *a = x->f->p->arena;
    struct ir_stage *stage = &x->stage->u.stage;
    struct rows r = {.x = x};
    struct ir_block begin = {0}, end = {0};
    struct ir_expr *right[REDUCER_ARRAYS];
    if (!find_reduction(a, stage, &r.of))
        return false;
    declare_parts(&r, front);
    for (size_t v = 0; v < r.of.n; v++) {
        ir_append(
            a, &begin,
            ir_stmt_from(reducer_write(a, &r.part[v], r.of.values[v].identity),
                         x->stage));
        right[v] = reducer_read(a, &r.part[v]);
    }
    wrap_rows(&r, &begin);
    ir_append_all(a, front, &begin);
    append_exchange(&r, &end);
    append_combine(&r, r.to, right, &end);
    wrap_rows(&r, &end);
    ir_append_all(a, behind, &end);
    stage->body = reducer_body(x->f->p, &r.of, r.part, NULL);
    return true;
}
