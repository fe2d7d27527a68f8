// The ranges of indices: written, those of a shape, or taken from accesses.
//
//   let P[h in 22] = ...     h ranges over 22
//   sum(k in low..high) ...  k ranges from low to high: it is low + vk, with vk
//                            in 0..high - low
//   C[i] = ...               i ranges over the shape of C
//   let e[i] = exp(X[i])     i ranges over the shape of X

#include "frontend/define.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"

// Return an iteration variable of a definition that an expression mentions, of
// a reduction or of any kind; NULL if there is none.
static const struct ir_iter *mentioned(const struct definition *d,
                                       const struct ir_expr *x, bool any)
{
    vec_foreach(it, &d->iters)
        if ((any || it->is_reduce) && ir_mentions(x, it->var))
            return it;
    return NULL;
}

// Return the name of an index in the text.
static const char *name_of(const struct definition *d, const struct ir_iter *it)
{
    return d->loops.at[it - d->iters.at]->name;
}

// Report an extent that is negative whatever the sizes.
static bool check_sign(struct parser *p, const struct ir_expr *extent)
{
    int64_t value;
    if (!ir_int_value(extent, &value) || value >= 0)
        return true;
    diag_error(p->diags, extent->span, D_negative_extent, (long long)value);
    return false;
}

struct ir_expr *define_parse_extent(struct parser *p,
                                    const struct definition *d, const char *of)
{
    struct ir_expr *extent = parse_size(p, "an extent");
    if (!extent || !check_sign(p, extent))
        return NULL;
    const struct ir_iter *by = mentioned(d, extent, true);
    if (!by)
        return extent;
    diag_error(p->diags, extent->span, D_range_varies, of, name_of(d, by));
    diag_help(p->diags, "range over the most that it can be, and choose: "
                        "`inside ? x : 0.0`");
    return NULL;
}

// Check that a bound of a reduction's range depends on no more than the
// element: on indices on the left, and on what the caller passes.
static bool check_bound(struct parser *p, const struct definition *d,
                        const char *of, const struct ir_expr *bound)
{
    const struct ir_iter *by = mentioned(d, bound, false);
    if (by) {
        diag_error(p->diags, bound->span, D_range_varies, of, name_of(d, by));
        diag_help(p->diags,
                  "a range may depend on the indices on the left: reduce over "
                  "`%s` in a `let` of its own, then over `%s`",
                  of, name_of(d, by));
        return false;
    }
    ir_foreach_expr(x, bound) {
        if (x->op != OP_load || x->u.buffer->role == ROLE_input)
            continue;
        diag_error(p->diags, x->span, D_range_computed, of, x->u.buffer->name);
        diag_note(p->diags, x->u.buffer->span, "`%s` is declared here",
                  x->u.buffer->name);
        diag_help(p->diags, "compute `%s` in a kernel in front, and pass it",
                  x->u.buffer->name);
        return false;
    }
    return true;
}

bool define_parse_range(struct parser *p, const struct definition *d,
                        const char *of, struct ir_expr **low,
                        struct ir_expr **extent)
{
    size_t first = p->at;
    *low = NULL;
    *extent = parse_size(p, "an extent");
    if (*extent && parse_take(p, "..")) {
        *low = *extent;
        *extent = parse_size(p, "the end of a range");
    }
    if (!*extent || !check_bound(p, d, of, *extent) ||
        (*low && !check_bound(p, d, of, *low)))
        return false;
    if (*low)
        *extent = ir_at(p->arena, ir_sub(p->arena, *extent, *low),
                        parse_span(p, first));
    return check_sign(p, *extent);
}

// A search for the extent of an iteration variable.
struct extent_search {
    const struct ir_var *var;
    struct ir_expr *access; // the first one with a dimension indexed by it
    struct ir_expr *extent; // of that dimension
    struct ir_expr *other;  // an access whose dimension has another extent
};

// Take the extent of each dimension that the variable indexes alone; those of
// the arrays being defined are not known yet.
static void take_extents(struct extent_search *s, struct ir_expr *x)
{
    for (uint32_t i = 0; x->op == OP_load && i < x->n; i++) {
        struct ir_expr *extent = x->u.buffer->shape[i];
        if (x->args[i]->op != OP_var || x->args[i]->u.var != s->var || !extent)
            continue;
        if (!s->extent) {
            s->access = x;
            s->extent = extent;
        } else if (!ir_expr_equal(s->extent, extent)) {
            s->other = x;
        }
    }
}

// Report an index whose range does not follow from the accesses.
static bool no_range(struct parser *p, const struct extent_search *s,
                     const struct ir_var *loop)
{
    if (s->extent) {
        diag_error(p->diags, s->other->span, D_two_ranges, loop->name);
        diag_note(p->diags, s->access->span, "the other range is from here");
    } else {
        diag_error(p->diags, s->var->span, D_no_range, loop->name);
    }
    diag_help(p->diags, "write its extent: `%s in n`", loop->name);
    return false;
}

bool define_infer_extents(struct parser *p, struct definition *d)
{
    for (size_t i = 0; i < d->iters.n; i++) {
        struct ir_iter *it = &d->iters.at[i];
        struct extent_search s = {.var = it->var};
        if (it->extent)
            continue;
        ir_foreach_expr_in(x, &d->stage->u.stage.body)
            take_extents(&s, x);
        if (!s.extent || s.other)
            return no_range(p, &s, d->loops.at[i]);
        it->extent = s.extent;
    }
    return true;
}
