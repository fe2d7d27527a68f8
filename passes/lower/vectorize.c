// vectorize: lowers loops marked @vector to vector loads, arithmetic and
// stores.
//
//   for v in 0..4 @vector {
//     if i * 4 + v < n { C[i * 4 + v] = A[i * 4 + v] + s }
//   }                                                                    =>
//   if i * 4 + 3 < n {
//     C[ramp(i * 4, 4)] = A[ramp(i * 4, 4)] + broadcast(s, 4)
//   } else if i * 4 < n {
//     for v in 0..4 { if i * 4 + v < n { C[i * 4 + v] = A[i * 4 + v] + s } }
//   }
//
// A loop that cannot be vectorized is unrolled instead, with a warning if a
// directive asked for it.
//
// A loop marked @whole has a guard, and gets a version without it:
//
//   for v in 0..4 @whole(1) { if i * 4 + v < n { s = s + A[i * 4 + v] } }  =>
//   if i * 4 + 3 < n { for v in 0..4 { s = s + A[i * 4 + v] } }
//   else if i * 4 < n {
//     for v in 0..4 { if i * 4 + v < n { s = s + A[i * 4 + v] } } }
//
// A loop marked @dp4a is a sum, whose four products become one operation:
//
//   for k in 0..4 @dp4a(1) {
//     s = s + i32(A[i * 4 + k]) * i32(B[i * 4 + k])
//   }                                                                    =>
//   s = dp4a(A[ramp(i * 4, 4)], B[ramp(i * 4, 4)], s)
//
// Where that cannot be, it is an error.

#include "ir/build.h"
#include "ir/marks.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "passes/lower/vectorize_body.h"

// Return whether a number of lanes is one that memory has instructions for.
static bool is_power(int64_t n)
{
    return n >= 2 && n <= 16 && (n & (n - 1)) == 0;
}

// Return whether the loop was reported already, in another variant.
static bool is_reported(const struct pass *p, struct span directive)
{
    vec_foreach(d, &p->diags->all)
        if (d->code == D_vector_scalar && d->span.source == directive.source &&
            d->span.from == directive.from)
            return true;
    return false;
}

// Say how rows of an array could be whole vectors.
static void help_rows(const struct vectorizer *w)
{
    const struct ir_buffer *b = w->fault.array;
    struct buf row = {0};
    if (b->rank < 2)
        return;
    ir_print_expr(&row, b->shape[b->rank - 1]);
    diag_help(w->p->diags, "let rows be whole vectors: `where %s %% %u == 0`",
              row.data, w->lanes);
    buf_free(&row);
}

// Warn of a loop that a directive vectorizes, and that reaches memory element
// by element.
static void report(const struct vectorizer *w, bool is_vectorized)
{
    const struct vectorize_fault *fault = &w->fault;
    struct diag_list *diags = w->p->diags;
    if (!w->stmt->by.source || (is_vectorized && !fault->array) ||
        is_reported(w->p, w->stmt->by))
        return;
    diag_warning(diags, w->stmt->by, D_vector_scalar, w->stmt->u.loop.var->name,
                 !fault->array ? "nothing in it has a vector's form"
                 : fault->is_aligned
                     ? "it is not proved that its lanes are neighbours"
                     : "it is not proved that its vectors are aligned");
    if (!fault->array)
        return;
    diag_note(diags, fault->span, "elements of `%s`, one by one",
              fault->array->name);
    help_rows(w);
}

// Return whether a loop is marked for dp4a.
static bool is_dot(const struct ir_stmt *s)
{
    return ir_attr_get(s, MARK_dp4a) != NULL;
}

// Report that a loop marked for dp4a is none.
static size_t refuse_dot(const struct vectorizer *w)
{
    const struct ir_stmt *s = w->stmt;
    diag_error(w->p->diags, s->by.source ? s->by : s->span, D_not_a_product,
               "dp4a",
               "its loop has become another one, or has a condition that is no "
               "comparison of indices");
    return 1;
}

// Put vectors in place of the loop at `at`, or mark it for unrolling.
// Returns how many statements are in its place.
static size_t lower_loop(struct pass *p, struct facts *f,
                         struct ir_block *block, size_t at)
{
    struct ir_block out = {0};
    int64_t n;
    struct vectorizer w = {.p = p,
                           .facts = f,
                           .stmt = block->at[at],
                           .is_dot = is_dot(block->at[at])};
    struct ir_for *loop = &w.stmt->u.loop;
    bool known = ir_int_value(ir_for_extent(p->arena, loop), &n);
    w.lanes = known && is_power(n) ? (unsigned)n : 0;
    bool fits = w.is_dot ? vectorize_has_steps(&w) : w.lanes > 0;
    bool is_vectorized = fits && vectorize_body(&w, &out);
    if (w.is_dot && !is_vectorized)
        return refuse_dot(&w);
    report(&w, is_vectorized);
    if (!is_vectorized) {
        loop->axis = AXIS_unroll;
        return 1;
    }
    ir_splice(p->arena, block, at, &out);
    return out.n;
}

// Put two versions in place of a loop marked @whole at `at`, if there is a guard.
// Returns how many statements are in its place.
static size_t lower_whole(struct pass *p, struct facts *f,
                          struct ir_block *block, size_t at)
{
    struct ir_block out = {0};
    struct vectorizer w = {.p = p, .facts = f, .stmt = block->at[at]};
    int64_t n;
    ir_attr_remove(w.stmt, MARK_whole);
    if (!ir_int_value(ir_for_extent(p->arena, &w.stmt->u.loop), &n) || n < 1 ||
        n > UINT16_MAX)
        return 1;
    w.lanes = (unsigned)n;
    if (vectorize_whole(&w, &out))
        ir_splice(p->arena, block, at, &out);
    return 1;
}

// Lower the vector loops of a block, the inner ones first; returns whether
// there was one.
static bool lower_block(struct pass *p, struct facts *f, struct ir_block *block)
{
    bool changed = false;
    for (size_t i = 0; i < block->n;) {
        struct ir_stmt *s = block->at[i];
        facts_foreach_inside(inner, f, s)
            changed |= lower_block(p, f, inner);
        if (ir_attr_get(s, MARK_whole)) {
            i += lower_whole(p, f, block, i);
            changed = true;
        } else if (is_dot(s) ||
                   (s->kind == STMT_for && s->u.loop.axis == AXIS_vector)) {
            i += lower_loop(p, f, block, i);
            changed = true;
        } else {
            i++;
        }
    }
    return changed;
}

enum pass_result pass_vectorize(struct pass *p)
{
    struct facts facts;
    int errors = p->diags->errors;
    facts_start(&facts, p->scratch, p->kernel);
    bool changed = lower_block(p, &facts, &p->kernel->body);
    if (p->diags->errors > errors)
        return PASS_FAILED;
    return changed ? PASS_CHANGED : PASS_SAME;
}
