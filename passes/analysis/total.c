// Whether an expression may be evaluated where nobody asked for it.

#include "passes/analysis/facts.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"

// Return whether what is known, `x >= 0`, is of the form y * z - w - 1 >= 0 with
// no factor that may be negative: then y is not 0. A loop over 0..B * C says so
// of B and C.
static bool says_positive(const struct facts *f, const struct affine *x,
                          const struct ir_expr *y)
{
    bool any = false;
    vec_foreach(t, &x->terms) {
        bool has = false;
        for (uint32_t i = 0; i < t->n; i++) {
            has |= ir_expr_equal(t->atoms[i], y);
            if (facts_range(f, t->atoms[i]).lo < 0)
                return false;
        }
        if (t->factor > 0 && !has)
            return false;
        any |= t->factor > 0;
    }
    return any && x->constant < 0;
}

// Return whether an integer is at least 1 by its range or what is known of it;
// also that the launch has a block.
static bool is_positive(const struct facts *f, const struct ir_expr *y)
{
    bool found = facts_range(f, y).lo > 0;
    for (size_t i = 0; i < f->known.n && !found; i++)
        found = says_positive(f, &f->known.at[i], y);
    for (int d = 0; d < 3 && f->launch && !found; d++) {
        struct affine some = affine_of(f->arena, f->launch->grid[d]);
        affine_offset(&some, -1);
        found = says_positive(f, &some, y);
    }
    return found;
}

// Return whether an expression is a quotient that is not defined for all that is
// known of its operands.
static bool is_partial(const struct facts *f, const struct ir_expr *x)
{
    bool divides = x->op == OP_div || x->op == OP_mod || x->op == OP_ceildiv;
    if (!divides || !type_is_integer(x->type))
        return false;
    if (!is_positive(f, x->args[1]))
        return true;
    if (x->op != OP_ceildiv)
        return false;
    struct affine whole = affine_of(f->arena, x->args[0]);
    return !facts_nonnegative(f, &whole);
}

bool facts_is_total(const struct facts *f, const struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        if (is_partial(f, e))
            return false;
    return true;
}

bool facts_is_within(const struct facts *f, struct ir_expr *index,
                     struct ir_expr *extent)
{
    struct affine x = affine_of(f->arena, index);
    struct affine room = affine_of(f->arena, extent);
    room = affine_add(f->arena, &room, -1, &x);
    affine_offset(&room, -1);
    return ir_is_stable(index) && facts_nonnegative(f, &x) &&
           facts_nonnegative(f, &room);
}

// Return whether an operation may fault: one of integers that is not defined for
// all operands, or a read that is not proved to lie in its array.
static bool may_fault(const struct facts *f, struct ir_expr *x)
{
    unsigned flags = ir_op_info(x->op)->flags;
    bool divides = x->op == OP_div || x->op == OP_mod || x->op == OP_ceildiv;
    bool shifts = x->op == OP_shl || x->op == OP_shr;
    bool is_open = (divides || shifts) && type_is_integer(x->type) &&
                   !ir_is_const(x->args[1]);
    if ((is_open && (shifts || !is_positive(f, x->args[1]))) ||
        (flags & (OP_WRITES | OP_TOGETHER)) || x->type.lanes > 1 ||
        (type_is_index(x->type) && !ir_is_stable(x)))
        return true;
    for (uint32_t d = 0; x->op == OP_load && d < x->n; d++)
        if (!facts_is_within(f, x->args[d], x->u.buffer->shape[d]))
            return true;
    return false;
}

bool facts_is_safe(const struct facts *f, struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        if (may_fault(f, e))
            return false;
    return true;
}
