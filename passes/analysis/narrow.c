// Whether a kernel gains from 32-bit indices, and under which guard.

#include "passes/analysis/narrow.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"
#include "passes/analysis/tiles.h"

// Leaves room for a tile beyond the end of an array.
static const int64_t size_most = (INT64_C(1) << 31) - (INT64_C(1) << 16);

// The state of the walk.
struct narrowing {
    struct pass *p;
    struct facts facts;  // of the kernel as it is
    bool pays;           // something slow was seen
    struct facts limits; // with the guards so far
};

// Return whether an index value may need more than 32 bits.
static bool is_wide(const struct narrowing *n, const struct ir_expr *x)
{
    struct interval r = facts_range(&n->facts, x);
    return type_is_index(x->type) && (r.lo < INT32_MIN || r.hi > INT32_MAX);
}

// Return whether an expression divides wide values.
static bool divides_wide(struct narrowing *n, const struct ir_expr *x)
{
    return (x->op == OP_div || x->op == OP_mod || x->op == OP_ceildiv) &&
           (is_wide(n, x->args[0]) || is_wide(n, x->args[1]));
}

// Return how many tiles the nest of a loop over blocks has.
static struct ir_expr *tiles_around(struct narrowing *n,
                                    const struct ir_stmt *loop)
{
    struct tiles t = tiles_find(n->p->scratch, n->p->kernel, loop);
    return tiles_count(n->p->arena, &t);
}

// Look for what is slow in 64 bits in a block and below.  The range of a loop
// over blocks or threads is computed by the caller.
static void find_wide(struct narrowing *n, struct ir_block *block)
{
    for (size_t i = 0; i < block->n && !n->pays; i++) {
        struct ir_stmt *s = block->at[i];
        bool is_loop = s->kind == STMT_for;
        enum axis_kind kind = is_loop ? axis_kind(s->u.loop.axis) : AXIS_SERIAL;
        bool is_bound = kind == AXIS_BLOCK || kind == AXIS_THREAD;
        if (is_loop && !is_bound)
            n->pays |= is_wide(n, s->u.loop.to);
        if (tiles_are_walked(s))
            n->pays |= is_wide(n, tiles_around(n, s));
        if (!is_bound)
            ir_foreach_expr_of(x, s)
                n->pays |= divides_wide(n, x);
        facts_foreach_inside(inner, &n->facts, s)
            find_wide(n, inner);
    }
}

// Return whether an expression has no variables but sizes.
static bool is_of_sizes(const struct ir_expr *root)
{
    ir_foreach_expr(x, root)
        if (x->op == OP_var && x->u.var->kind != VAR_param)
            return false;
    return ir_is_stable(root);
}

// Return the condition that a number of sizes has an index of 32 bits.
static struct ir_expr *limit_of(struct narrowing *n, struct ir_expr *x)
{
    struct ir_expr *size = ir_cast(n->p->arena, type_scalar(TYPE_int), x);
    return ir_binary(n->p->arena, OP_le, size, ir_int(n->p->arena, size_most));
}

// Return whether that follows from the guards so far.
static bool is_limited(struct narrowing *n, struct ir_expr *x)
{
    return facts_holds(&n->limits, limit_of(n, x));
}

// Guard a size, unless it follows from the guards before or varies.
static void limit(struct narrowing *n, struct ir_expr *x)
{
    struct ir_expr *guard = limit_of(n, x);
    if (!is_of_sizes(x) || is_limited(n, x))
        return;
    facts_assume(&n->limits, guard, true);
    vec_push(n->p->arena, &n->p->kernel->guard, guard);
}

// Guard the number of elements of an array, and of its rows before, so that
// no product of two guarded numbers overflows.
static void limit_array(struct narrowing *n, const struct ir_buffer *b)
{
    struct ir_expr *elements = ir_int(n->p->arena, 1);
    for (uint32_t i = b->rank; i-- > 0;) {
        limit(n, b->shape[i]);
        elements = ir_mul(n->p->arena, b->shape[i], elements);
        limit(n, elements);
    }
}

// Guard a product, and the product of its first factors before, so that none of
// two guarded numbers overflows.
static void limit_product(struct narrowing *n, struct ir_expr *x)
{
    if (x->op == OP_mul && !is_limited(n, x)) {
        limit_product(n, x->args[0]);
        limit_product(n, x->args[1]);
    }
    limit(n, x);
}

// Guard how often a loop runs; before, how many rows there are, if it takes several
// of them at a time.
static void limit_extent(struct narrowing *n, struct ir_expr *x)
{
    if (x->op == OP_ceildiv)
        limit_product(n, x->args[0]);
    limit_product(n, x);
}

// Guard the extent of a loop, or the elements of an array.
static void limit_stmt(struct narrowing *n, struct ir_stmt *s)
{
    if (s->kind == STMT_for)
        limit_extent(n, ir_for_extent(n->p->arena, &s->u.loop));
    else if (s->kind == STMT_alloc)
        limit_array(n, s->u.buffer);
    if (tiles_are_walked(s))
        limit(n, tiles_around(n, s));
}

// Guard every size of the kernel.
static void limit_all(struct narrowing *n)
{
    struct ir_kernel *k = n->p->kernel;
    for (size_t i = 0; i < k->params.n; i++) {
        struct ir_var *var = k->params.at[i].var;
        if (var && type_is_index(var->type))
            limit(n, ir_read(n->p->arena, var));
    }
    for (size_t i = 0; i < k->params.n; i++)
        if (k->params.at[i].buffer)
            limit_array(n, k->params.at[i].buffer);
    ir_foreach_stmt(s, &k->body)
        limit_stmt(n, s);
}

bool analysis_narrow(struct pass *p)
{
    struct narrowing n = {.p = p};
    struct ir_kernel *k = p->kernel;
    facts_start(&n.facts, p->scratch, k);
    facts_start(&n.limits, p->scratch, k);
    find_wide(&n, &k->body);
    if (!n.pays)
        return false;
    size_t guards = k->guard.n;
    limit_all(&n);
    const char *name =
        arena_printf(p->scratch, "%s%si32", k->variant, *k->variant ? "_" : "");
    k->variant = str_name(p->names, name);
    k->is_narrow = true;
    return k->guard.n > guards;
}
