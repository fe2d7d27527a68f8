// What the elements of a scan load once: for what is combined, and for what is
// stored once all in front is known.
//
//   own[k] = X[k] > 0 ? 1 : 0                 kept[k] = X[k]
//   ...                                  =>   own[k] = kept[k] > 0 ? 1 : 0
//   if X[k] > 0 { Y[own[k] - 1] = X[k] }      ...
//                               if kept[k] > 0 { Y[own[k] - 1] = kept[k] }
//
// That is a load that the operands always do, of an array to which no element
// is stored.

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "passes/lower/scans.h"

// Return whether the elements of a scan do a load, too.
static bool is_again(const struct scanning *c, const struct ir_expr *load)
{
    ir_foreach_expr_in(x, &c->scan.elements)
        if (ir_expr_equal(x, load))
            return true;
    return false;
}

// Return whether a load is kept already.
static bool is_kept(const struct scanning *c, const struct ir_expr *load)
{
    for (uint32_t k = 0; k < c->n_kept; k++)
        if (ir_expr_equal(c->kept[k].load, load))
            return true;
    return false;
}

// Find the loads that an expression always does; those inside of their indices
// are left to them.
static void find_in(struct scanning *c, struct ir_expr *x)
{
    bool is_lazy = ir_op_info(x->op)->flags & OP_LAZY;
    bool fits =
        c->n_kept < SCAN_KEPT && c->held * (c->n_kept + 2) <= SCAN_HELD_MOST;
    if (x->op == OP_load) {
        if (fits && !ir_block_writes(&c->scan.elements, x->u.buffer) &&
            is_again(c, x) && !is_kept(c, x))
            c->kept[c->n_kept++].load = x;
        return;
    }
    for (uint32_t i = 0; i < (is_lazy ? 1 : x->n); i++)
        find_in(c, x->args[i]);
}

void kept_find(struct scanning *c)
{
    for (size_t v = 0; v < c->scan.reducer.n; v++)
        find_in(c, reducer_operand(&c->scan.reducer, v));
}

// Return whether an expression loads nothing but what is kept.
static bool is_of_kept(const struct scanning *c, struct ir_expr *x)
{
    ir_foreach_expr(load, x)
        if (load->op == OP_load && !is_kept(c, load))
            return false;
    return true;
}

bool kept_is_all(const struct scanning *c)
{
    bool all = c->n_kept && ir_has(&c->scan.elements, STMT_if);
    for (size_t v = 0; v < c->scan.reducer.n && all; v++)
        all = is_of_kept(c, reducer_operand(&c->scan.reducer, v));
    return all;
}

// The element of what is kept that takes the place of a load.
struct reading {
    const struct scanning *c;
    struct ir_expr *const *index;
};

// Return a load, or what is kept of it.
static struct ir_expr *read_load(struct arena *a, struct ir_expr *x,
                                 void *context)
{
    const struct reading *r = context;
    for (uint32_t k = 0; x->op == OP_load && k < r->c->n_kept; k++) {
        const struct scan_kept *kept = &r->c->kept[k];
        if (ir_expr_equal(kept->load, x))
            return ir_load(a, kept->array, kept->array->rank,
                           (struct ir_expr **)r->index);
    }
    return x;
}

struct ir_expr *kept_read(const struct scanning *c, struct ir_expr *x,
                          struct ir_expr *const *index)
{
    struct reading r = {c, index};
    return ir_rewrite(c->pass->arena, x, read_load, &r);
}

void kept_read_in(const struct scanning *c, struct ir_block *block,
                  struct ir_expr *const *index)
{
    struct reading r = {c, index};
    ir_rewrite_in(c->pass->arena, block, read_load, &r);
}
