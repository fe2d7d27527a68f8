// The ranges of indices: written, those of a shape, or taken from accesses.
//
//   let P[h in 22] = ...     h ranges over 22
//   C[i] = ...               i ranges over the shape of C
//   let e[i] = exp(X[i])     i ranges over the shape of X

#include "frontend/define.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"

struct ir_expr *define_parse_extent(struct parser *p, const char *of)
{
    const struct ir_var *iter = NULL;
    int64_t value;
    struct ir_expr *extent = parse_size(p, "an extent");
    if (!extent)
        return NULL;
    if (ir_int_value(extent, &value) && value < 0) {
        diag_error(p->diags, extent->span, D_negative_extent, (long long)value);
        return NULL;
    }
    ir_foreach_expr(x, extent)
        if (x->op == OP_var && x->u.var->kind == VAR_iter)
            iter = x->u.var;
    if (!iter)
        return extent;
    diag_error(p->diags, extent->span, D_range_varies, of);
    diag_help(p->diags, "range over the most that it can be, and choose: "
                        "`inside ? x : 0.0`");
    return NULL;
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
