// vthreads: moves loops over virtual threads inward and unrolls them there.
//
//   for v in 0..2 @vthread.x {                alloc T: f32[2, 4] in local
//     alloc T: f32[4] in local                for k in 0..K {
//     for k in 0..K {                           for v in 0..2 @unroll {
//       stage T(vi in 4 = i) { ... }     =>       stage T(vi in 4 = i) { ... }
//       barrier                                 }
//     }                                         barrier
//   }                                         }
//
// One thread then runs each statement for all of them, one after another, and
// each has its own part of the arrays declared inside.  The iterations are
// independent, so any order of them is good.  Statements that do not depend
// on the loop run once.  What follows a scalar that changes or depends on
// memory stays together with it.

#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/layout.h"
#include "ir/walk.h"
#include "passes/pass.h"

// A loop that is spread.
struct spreading {
    struct pass *p;
    const struct ir_stmt *loop;
    struct map arrays; // arrays declared inside to those with a part for each
};

// Declare an array with a part for each virtual thread instead of one.
static void spread_alloc(struct spreading *x, struct ir_stmt *s)
{
    struct arena *a = x->p->arena;
    if (s->kind != STMT_alloc)
        return;
    const struct ir_buffer *old = s->u.buffer;
    struct ir_buffer *b = arena_new(a, struct ir_buffer);
    *b = *old;
    layout_stack(a, b, ir_for_extent(a, &x->loop->u.loop));
    map_set(&x->arrays, old, b);
    s->u.buffer = b;
}

// Return the operands of an access with the number of the virtual thread in
// front.
static struct ir_expr **with_number(struct spreading *x, uint32_t n,
                                    struct ir_expr *const *args)
{
    struct arena *a = x->p->arena;
    const struct ir_for *f = &x->loop->u.loop;
    struct ir_expr **r = arena_array(a, struct ir_expr *, (size_t)n + 1);
    r[0] =
        ir_binary(a, OP_div, ir_sub(a, ir_read(a, f->var), f->from), f->step);
    for (uint32_t i = 0; i < n; i++)
        r[i + 1] = args[i];
    return r;
}

// Let a read or an atomic use the part of its virtual thread.
static struct ir_expr *use_part(struct arena *a, struct ir_expr *e,
                                void *context)
{
    struct spreading *x = context;
    bool accesses = ir_op_info(e->op)->flags & (OP_READS | OP_WRITES);
    struct ir_buffer *b = accesses ? map_get(&x->arrays, e->u.buffer) : NULL;
    if (!b)
        return e;
    struct ir_expr *r = arena_new(a, struct ir_expr);
    *r = *e;
    r->u.buffer = b;
    r->args = with_number(x, e->n, e->args);
    r->n = e->n + 1;
    return r;
}

// Let a store use the part of its virtual thread.
static void spread_store(struct spreading *x, struct ir_stmt *s)
{
    struct ir_buffer *b =
        s->kind == STMT_store ? map_get(&x->arrays, s->u.store.buffer) : NULL;
    if (!b)
        return;
    s->u.store.index = with_number(x, s->u.store.n, s->u.store.index);
    s->u.store.n++;
    s->u.store.buffer = b;
}

// Let a copy by TMA use the part of its virtual thread.
static void spread_copy(struct spreading *x, struct ir_stmt *s)
{
    struct ir_place *near = &s->u.copy.near;
    struct ir_buffer *b =
        s->kind == STMT_copy ? map_get(&x->arrays, near->buffer) : NULL;
    if (!b)
        return;
    near->index = with_number(x, near->n, near->index);
    near->n++;
    near->buffer = b;
}

// What a statement depends on.
struct use {
    bool found;  // the variable, or an atomic
    bool memory; // an element of an array
};

// Return what an expression depends on.
static struct use use_of(const struct spreading *x, struct ir_expr *e)
{
    unsigned flags = ir_flags(e);
    struct use u = {ir_mentions(e, x->loop->u.loop.var) || flags & OP_WRITES,
                    flags & (OP_READS | OP_WRITES)};
    ir_foreach_expr(y, e)
        u.memory |= y->op == OP_var && y->u.var->kind == VAR_mutable;
    return u;
}

// Return whether a statement does something of its own in each virtual
// thread.
static bool depends(const struct spreading *x, struct ir_stmt *s)
{
    return ir_stmt_mentions(s, x->loop->u.loop.var) ||
           ir_flags_in(ir_alone(s)) & OP_WRITES;
}

// Return statements from `from` on, in an unrolled loop over the virtual
// threads.
static struct ir_stmt *wrap(const struct spreading *x,
                            const struct ir_block *block, size_t from,
                            size_t to)
{
    struct arena *a = x->p->arena;
    const struct ir_for *old = &x->loop->u.loop;
    struct ir_stmt *s =
        ir_stmt_for(a, old->var, old->from, old->to, old->step, AXIS_unroll);
    ir_stmt_from(s, x->loop);
    for (size_t i = from; i < to; i++)
        ir_append(a, &s->u.loop.body, block->at[i]);
    return ir_copy_stmt(a, s, NULL, NULL);
}

// Return whether the loop can move into a loop or a branch.
static bool can_enter(const struct spreading *x, struct ir_stmt *s)
{
    if (s->kind == STMT_if) {
        struct use u = use_of(x, s->u.branch.cond);
        return !u.found && !u.memory;
    }
    if (s->kind != STMT_for || axis_kind(s->u.loop.axis) == AXIS_VECTOR)
        return false;
    struct use from = use_of(x, s->u.loop.from), to = use_of(x, s->u.loop.to);
    return !from.found && !from.memory && !to.found && !to.memory;
}

// Move the loop into the statements of a block.
static void spread(struct spreading *x, struct ir_block *block)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        bool is_let = s->kind == STMT_let || s->kind == STMT_var;
        struct use u = is_let ? use_of(x, s->u.let.value) : (struct use){0};
        if (s->kind == STMT_var || u.memory) {
            s = wrap(x, block, i, block->n);
            block->n = i;
            ir_append(x->p->arena, block, s);
        } else if (is_let && u.found) {
            ir_expand_let(x->p->arena, block, i--);
        } else if (can_enter(x, s)) {
            ir_foreach_block(inner, s)
                spread(x, inner);
        } else if (depends(x, s) && s->kind != STMT_alloc) {
            block->at[i] = wrap(x, block, i, i + 1);
        }
    }
}

// Spread the loops over virtual threads of a block, the inner ones first.
static bool spread_block(struct pass *p, struct ir_block *block)
{
    bool changed = false;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        ir_foreach_block(inner, s)
            changed |= spread_block(p, inner);
        if (!ir_is_over(s, AXIS_VTHREAD))
            continue;
        struct spreading x = {p, s, {.arena = p->scratch}};
        ir_foreach_stmt(t, &s->u.loop.body)
            spread_alloc(&x, t);
        ir_rewrite_in(p->arena, &s->u.loop.body, use_part, &x);
        ir_foreach_stmt(t, &s->u.loop.body)
            spread_store(&x, t);
        ir_foreach_stmt(t, &s->u.loop.body)
            spread_copy(&x, t);
        spread(&x, &s->u.loop.body);
        struct ir_block body = s->u.loop.body;
        ir_splice(p->arena, block, i, &body);
        i += body.n - 1;
        changed = true;
    }
    return changed;
}

enum pass_result pass_vthreads(struct pass *p)
{
    return spread_block(p, &p->kernel->body) ? PASS_CHANGED : PASS_SAME;
}
