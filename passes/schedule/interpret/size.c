// Bounds what a kernel and its expressions may grow to.
//
// A loop that is taken apart and joined otherwise again and again gets into
// its own index: where the parts do not fold, every round multiplies it.  A
// loop that holds copies is copied with them, and loops around loops have no
// end, but a nest that text cannot express has no text.

#include "ir/ring.h"
#include "passes/schedule/interpret/interpret.h"

enum { OPERATIONS_MOST = 4096, STATEMENTS_MOST = 10000, DEEPEST = 64 };

// Return how many operations of `left` remain after an expression; below 0 if
// it has more.
static int64_t rest_after(const struct ir_expr *x, int64_t left)
{
    left -= x->n > 0;
    for (uint32_t i = 0; i < x->n && left >= 0; i++)
        left = rest_after(x->args[i], left);
    return left;
}

// Return whether a statement has an expression that is too large.
static bool is_large(struct ir_stmt *s)
{
    ir_foreach_place(place, s)
        if (rest_after(*place, OPERATIONS_MOST) < 0)
            return true;
    return false;
}

// Add the statements of a block, and all in them, to a size.
static void add_block(struct ir_block *block, int64_t depth,
                      struct interp_size *size)
{
    if (size->depth < depth)
        size->depth = depth;
    vec_foreach_value(s, block) {
        size->statements++;
        size->has_rings |= ir_rings_of(s).n > 0;
        if (!size->large && is_large(s))
            size->large = s;
        ir_foreach_block(inner, s)
            add_block(inner, depth + 1, size);
    }
}

struct interp_size interp_size_of(const struct interp *in)
{
    struct interp_size size = {0};
    add_block(&in->pass->kernel->body, 0, &size);
    return size;
}

// Check that statements stay few, and few around one another.  A kernel that
// is written beyond that may not grow further.
static bool check_statements(const struct interp *in, struct interp_size before,
                             struct span span)
{
    if (in->size.statements > STATEMENTS_MOST &&
        in->size.statements > before.statements)
        diag_error(in->pass->diags, span, D_schedule_too_large,
                   (long long)STATEMENTS_MOST, "statements");
    else if (in->size.depth > DEEPEST && in->size.depth > before.depth)
        diag_error(in->pass->diags, span, D_schedule_too_large,
                   (long long)DEEPEST, "statements around one another");
    else
        return true;
    return false;
}

// Check that no expression is too large.
static bool check_expressions(const struct interp *in,
                              const struct sched_call *c)
{
    struct pass *p = in->pass;
    const struct ir_stmt *found = in->size.large;
    if (!found)
        return true;
    diag_error(p->diags, c->span, D_index_size, sched_name_of(found),
               (long long)OPERATIONS_MOST);
    diag_note(p->diags, found->span, "`%s` is here", sched_name_of(found));
    diag_help(p->diags, "split each loop once, into all its parts, and fuse "
                        "only parts that stand side by side");
    return false;
}

bool interp_check_size(struct interp *in, const struct sched_call *c)
{
    struct interp_size before = in->size;
    in->size = interp_size_of(in);
    return check_expressions(in, c) && check_statements(in, before, c->span);
}
