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

// Note a division of wide values.
static void see_division(struct ir_expr *x, void *context)
{
    struct narrowing *n = context;
    if (x->op == OP_div || x->op == OP_mod || x->op == OP_ceildiv)
        n->pays |= is_wide(n, x->args[0]) || is_wide(n, x->args[1]);
}

// Look for divisions in the expression at a place.
static void see_place(struct ir_expr **place, void *context)
{
    ir_each_expr(*place, see_division, context);
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
static void see_block(struct narrowing *n, struct ir_block *block)
{
    struct facts_mark here = facts_mark(&n->facts);
    for (size_t i = 0; i < block->n && !n->pays; i++) {
        struct ir_block *inside[IR_BLOCKS_MOST];
        struct ir_stmt *s = block->at[i];
        struct facts_mark before = facts_mark(&n->facts);
        bool is_loop = s->kind == STMT_for;
        enum axis_kind kind = is_loop ? axis_kind(s->u.loop.axis) : AXIS_SERIAL;
        bool is_bound = kind == AXIS_BLOCK || kind == AXIS_THREAD;
        if (is_loop && !is_bound)
            n->pays |= is_wide(n, s->u.loop.to);
        if (tiles_are_walked(s))
            n->pays |= is_wide(n, tiles_around(n, s));
        if (!is_bound)
            ir_stmt_exprs(s, see_place, n);
        facts_enter(&n->facts, s);
        uint32_t blocks = ir_stmt_blocks(s, inside);
        for (uint32_t k = 0; k < blocks; k++)
            see_block(n, inside[k]);
        if (s->kind != STMT_let)
            facts_leave(&n->facts, before);
    }
    facts_leave(&n->facts, here);
}

// Set *(bool *)context to false at anything but sizes.
static void see_size(struct ir_expr *x, void *context)
{
    *(bool *)context &= x->op != OP_var || x->u.var->kind == VAR_param;
}

// Guard a size, unless it follows from the guards before or varies.
static void limit(struct narrowing *n, struct ir_expr *x)
{
    bool of_sizes = ir_is_stable(x);
    ir_each_expr(x, see_size, &of_sizes);
    struct ir_expr *size = ir_cast(n->p->arena, type_scalar(TYPE_int), x);
    struct ir_expr *guard =
        ir_binary(n->p->arena, OP_le, size, ir_int(n->p->arena, size_most));
    if (!of_sizes || facts_decide(&n->limits, guard) == TRUTH_TRUE)
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

// Guard the extent of a loop, or the elements of an array.
static void see_stmt(struct ir_stmt *s, void *context)
{
    struct narrowing *n = context;
    if (s->kind == STMT_for)
        limit(n, ir_for_extent(n->p->arena, &s->u.loop));
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
    for (size_t i = 0; i < k->params.n; i++) {
        if (k->params.at[i].buffer)
            limit_array(n, k->params.at[i].buffer);
    }
    ir_each_stmt(&k->body, see_stmt, n);
}

bool analysis_narrow(struct pass *p)
{
    struct narrowing n = {.p = p};
    struct ir_kernel *k = p->kernel;
    facts_start(&n.facts, p->scratch, k);
    facts_start(&n.limits, p->scratch, k);
    see_block(&n, &k->body);
    if (!n.pays)
        return false;
    size_t guards = k->guard.n;
    limit_all(&n);
    const char *name =
        arena_printf(p->scratch, "%s%si32", k->variant, *k->variant ? "_" : "");
    k->variant = str_name(p->names, name);
    return k->guard.n > guards;
}
