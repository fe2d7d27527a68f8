// Where an array of stages is declared, and which region of it is used there.

#include "passes/lower/placing.h"

#include "ir/accesses.h"
#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/analysis/region.h"

#include <stdlib.h>

bool placing_is_threads(const struct ir_stmt *s)
{
    return ir_is_over(s, AXIS_THREAD) || ir_is_over(s, AXIS_VTHREAD);
}

bool placing_is_sequential(const struct ir_stmt *s)
{
    return s->kind == STMT_for && !ir_is_over(s, AXIS_BLOCK) &&
           !placing_is_threads(s);
}

// Return the only block of a loop or branch that uses the array; NULL if there
// is none or the statement itself uses it.
static struct ir_block *only_user(struct ir_stmt *s, const struct ir_buffer *b)
{
    struct ir_block *found = NULL;
    if (s->kind != STMT_for && s->kind != STMT_if)
        return NULL;
    ir_foreach_block(inner, s) {
        if (!ir_block_uses(inner, b))
            continue;
        if (found)
            return NULL;
        found = inner;
    }
    return ir_stmt_itself(s, b, ACCESS_reads | ACCESS_writes) ? NULL : found;
}

void placing_find_common(struct placing *x)
{
    struct ir_block *block = &x->p->kernel->body;
    while (block) {
        struct ir_stmt *only = NULL;
        size_t n = 0;
        vec_push(x->p->scratch, &x->common.blocks, block);
        for (size_t i = 0; i < block->n; i++) {
            if (!ir_stmt_uses(block->at[i], x->buffer))
                continue;
            only = block->at[i];
            n++;
        }
        block = n == 1 ? only_user(only, x->buffer) : NULL;
        if (block)
            vec_push(x->p->scratch, &x->common.stmts, only);
    }
}

// Fix the loops around all accesses as far as the array's space allows.
static void find_fixed(struct placing *x)
{
    bool is_local = space_is_own(x->buffer->space);
    vec_foreach_value(s, &x->common.stmts)
        if (s->kind == STMT_for && (is_local || !placing_is_threads(s)))
            map_set(&x->fixed, s->u.loop.var,
                    ir_read(x->p->arena, s->u.loop.var));
}

// Return the loop of the way down that a variable belongs to, if its
// iterations run one after another; NULL otherwise.
static struct ir_stmt *sequential_loop(const struct placing *x,
                                       const struct ir_var *var)
{
    vec_foreach_value(s, &x->common.stmts)
        if (placing_is_sequential(s) && s->u.loop.var == var)
            return s;
    return NULL;
}

// Return how far the base of a dimension moves with a step of a loop that is
// one of its terms, and over all its iterations.
static bool reach_of(const struct placing *x, const struct affine_term *t,
                     int64_t *step, int64_t *reach)
{
    struct ir_stmt *s = t->n == 1 && t->atoms[0]->op == OP_var
                            ? sequential_loop(x, t->atoms[0]->u.var)
                            : NULL;
    int64_t by, n;
    if (!s || !ir_int_value(s->u.loop.step, &by) ||
        !num_mul(llabs(t->factor), by, step))
        return false;
    struct ir_expr *extent = ir_for_extent(x->p->scratch, &s->u.loop);
    n = facts_range(&x->facts, extent).hi;
    if (n == INT64_MAX || !num_mul(*step, n > 0 ? n - 1 : 0, reach))
        *reach = INT64_MAX;
    return true;
}

// Return whether the parts of a dimension that two iterations of a loop access
// never meet, whatever the other loops do.
static bool is_apart(const struct placing *x, const struct region_dim *dim,
                     const struct ir_var *var)
{
    int64_t step = 0, other, reach, extent = region_extent(dim);
    vec_foreach(t, &dim->base.terms) {
        if (t->n == 1 && t->atoms[0]->op == OP_var && t->atoms[0]->u.var == var)
            reach_of(x, t, &step, &reach);
        else if (ir_mentions(t->atoms[0], var))
            return false;
    }
    vec_foreach(t, &dim->base.terms) {
        if (t->n == 1 && t->atoms[0]->op == OP_var && t->atoms[0]->u.var == var)
            continue;
        bool moves = reach_of(x, t, &other, &reach);
        for (size_t k = 0; k < x->common.stmts.n && !moves; k++) {
            const struct ir_stmt *s = x->common.stmts.at[k];
            if (placing_is_sequential(s) &&
                ir_any_mentions(t->n, t->atoms, s->u.loop.var))
                return false;
        }
        if (moves && other <= step && !num_add(extent, reach, &extent))
            return false;
        if (moves && other == step)
            return false;
    }
    return extent > 0 && step >= extent;
}

// Return whether a statement stores to all of the region.
static bool stores_all(const struct placing *x, const struct ir_stmt *s)
{
    struct region_question q = placing_question(x);
    q.within = s;
    q.access = REGION_stores;
    q.whole_tiles = true;
    struct region own = region_find(&q);
    for (uint32_t d = 0; d < x->region.rank; d++)
        if (!region_covers(x->p->scratch, &own.dims[d], &x->region.dims[d]))
            return false;
    return true;
}

// Return whether the block with all accesses begins with a stage that writes
// the region that is accessed and does not read it.
static bool is_refreshed(const struct placing *x)
{
    const struct ir_block *block = x->common.blocks.at[x->common.stmts.n];
    vec_foreach_value(s, block)
        if (ir_stmt_uses(s, x->buffer))
            return !region_is_partial(s) &&
                   ir_stages_use(ir_alone(s), x->buffer) &&
                   !ir_stmt_reads(s, x->buffer) && stores_all(x, s);
    return false;
}

bool placing_base_mentions(const struct region_dim *dim,
                           const struct ir_var *var)
{
    vec_foreach(t, &dim->base.terms)
        if (dim->is_known && ir_any_mentions(t->n, t->atoms, var))
            return true;
    return false;
}

// How the parts of the array that a loop's iterations access lie.
enum parts { PARTS_SAME, PARTS_MEET, PARTS_APART };

// Return how those of a fixed loop lie.
static enum parts parts_of(const struct placing *x, const struct ir_stmt *s)
{
    enum parts parts = PARTS_SAME;
    for (uint32_t d = 0; d < x->region.rank; d++) {
        const struct region_dim *dim = &x->region.dims[d];
        if (!placing_base_mentions(dim, s->u.loop.var))
            continue;
        if (is_apart(x, dim, s->u.loop.var))
            return PARTS_APART;
        parts = PARTS_MEET;
    }
    return parts;
}

// Return whether a loop further out comes to the parts of a loop again.
static bool is_revisited(const struct placing *x, const struct ir_stmt *s)
{
    for (size_t i = 0; x->common.stmts.at[i] != s; i++) {
        struct ir_stmt *outer = x->common.stmts.at[i];
        if (!placing_is_sequential(outer) ||
            ir_is_int_const(ir_for_extent(x->p->scratch, &outer->u.loop), 1))
            continue;
        if (!map_get(&x->fixed, outer->u.loop.var) ||
            parts_of(x, outer) != PARTS_APART)
            return true;
    }
    return false;
}

// Return whether a loop's iterations access different parts of the array, and
// a later one, or the same one of a later run of the loop, may read what an
// earlier one wrote.
static bool is_carrying(const struct placing *x, const struct ir_stmt *s)
{
    if (!placing_is_sequential(s) || !map_get(&x->fixed, s->u.loop.var))
        return false;
    enum parts parts = parts_of(x, s);
    return parts != PARTS_SAME && (parts == PARTS_MEET || is_revisited(x, s)) &&
           !is_refreshed(x);
}

bool placing_is_anew(const struct placing *x, const struct ir_stmt *s)
{
    return !placing_is_sequential(s) || parts_of(x, s) == PARTS_APART ||
           ir_is_int_const(ir_for_extent(x->p->scratch, &s->u.loop), 1) ||
           is_refreshed(x);
}

// Return a fixed loop that is carrying, or NULL.
static struct ir_stmt *carrying_loop(const struct placing *x)
{
    for (size_t i = 0; i < x->common.stmts.n; i++)
        if (is_carrying(x, x->common.stmts.at[i]))
            return x->common.stmts.at[i];
    return NULL;
}

struct region_question placing_question(const struct placing *x)
{
    return (struct region_question){.arena = x->p->arena,
                                    .scratch = x->p->scratch,
                                    .kernel = x->p->kernel,
                                    .buffer = x->buffer,
                                    .fixed = &x->fixed};
}

// Find the region of an array that it needs at one time.
static void find_region(struct placing *x)
{
    struct ir_stmt *carrying = NULL;
    do {
        struct map fixed = {.arena = x->p->scratch};
        for (size_t i = 0; i < x->fixed.cap && carrying; i++) {
            const void *key = x->fixed.keys[i];
            if (key && key != carrying->u.loop.var)
                map_set(&fixed, key, x->fixed.values[i]);
        }
        if (carrying)
            x->fixed = fixed;
        struct region_question q = placing_question(x);
        x->region = region_find(&q);
        carrying = carrying_loop(x);
    } while (carrying);
}

void placing_find(struct placing *x)
{
    x->fixed.arena = x->p->scratch;
    facts_start(&x->facts, x->p->scratch, x->p->kernel);
    placing_find_common(x);
    find_fixed(x);
    find_region(x);
}
