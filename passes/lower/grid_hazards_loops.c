// grid_hazards_loops: refuses loops of a launch on the same grid axis, one after the other, whose
// blocks would have to wait for each other.
//
//   for i in 0..8 @block.y {
//     for b in 0..4 @block.x { W[i, b] = A[i, b] }
//     for c in 0..4 @block.x { C[i, c] = W[i, 3 - c] }     E0710
//   }
//
// Each block runs its iteration of both loops, and waits for no other block. So
// an element that one loop writes and the other accesses has to belong to the
// same iteration of both. It does if an index is n * b + x in one and n * c + y
// in the other, with x and y in a range of n. Each block has its own shared
// memory; there, the rule holds for what one loop writes and another only
// reads, unless all blocks write it (E0885).
// An array of the cluster is one for its blocks, which wait for each other.

#include "ir/accesses.h"
#include "ir/affine.h"
#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/lower/accesses.h"
#include "passes/lower/mapping.h"

// An index in terms of a loop over blocks: factor * iteration + rest.
struct stripe {
    int64_t factor; // 0: not of this form
    struct interval rest;
};

// An access to global or shared memory.
struct access {
    const struct conflict_access *access;
    struct ir_stmt *loops[AXIS_COUNT];  // around, on axes of the grid
    struct stripe *stripes[AXIS_COUNT]; // for each dimension
};

// The walk over a launch.
struct walk {
    struct mapping *m;
    struct arena *arena;
    struct facts facts;
    struct map values; // what lets stand for
    struct ir_stmt *loops[AXIS_COUNT];
    uint32_t counts[AXIS_COUNT]; // loops on each axis with several blocks
    struct VEC(struct access) accesses;
};

// Return whether a loop is over several blocks.
static bool is_grid(const struct walk *w, const struct ir_stmt *s)
{
    return ir_is_over(s, AXIS_BLOCK) &&
           !ir_is_int_const(w->m->extent[s->u.loop.axis], 1);
}

// Return an index in terms of a loop.
static struct stripe stripe_of(struct walk *w, struct ir_expr *index,
                               const struct ir_stmt *loop)
{
    struct stripe r = {0};
    struct affine form = affine_of(w->arena, index), rest;
    if (affine_linear(w->arena, &form, loop->u.loop.var, &r.factor, &rest))
        r.rest = facts_range_of(&w->facts, &rest);
    else
        r.factor = 0;
    return r;
}

// Note the accesses of a statement.
static void note(struct walk *w, struct ir_stmt *s)
{
    struct accesses all = accesses_of(w->arena, s, &w->values, NULL, NULL);
    vec_foreach_value(access, &all) {
        uint32_t rank = access->buffer->rank;
        struct access x = {.access = access};
        if ((access->buffer->space != SPACE_global &&
             access->buffer->space != SPACE_shared) ||
            access->buffer->of_cluster)
            continue;
        for (int a = 0; a < AXIS_COUNT; a++) {
            if (!w->loops[a] || w->counts[a] < 2)
                continue;
            x.loops[a] = w->loops[a];
            x.stripes[a] = arena_array(w->arena, struct stripe, rank);
            for (uint32_t d = 0; d < rank; d++)
                x.stripes[a][d] = stripe_of(w, access->index[d], w->loops[a]);
        }
        vec_push(w->arena, &w->accesses, x);
    }
}

// Walk the statements of a block.
static void walk_block(struct walk *w, struct ir_block *block)
{
    struct facts_mark here = facts_mark(&w->facts);
    vec_foreach_value(s, block) {
        struct ir_stmt **loop =
            is_grid(w, s) ? &w->loops[s->u.loop.axis] : NULL;
        struct ir_stmt *outer = loop ? *loop : NULL;
        note(w, s);
        if (loop)
            *loop = s;
        facts_foreach_inside(inner, &w->facts, s)
            walk_block(w, inner);
        if (loop)
            *loop = outer;
        if (s->kind == STMT_let)
            map_set(&w->values, s->u.let.var,
                    ir_substitute(w->arena, s->u.let.value, &w->values, NULL));
    }
    facts_leave(&w->facts, here);
}

// Return whether two accesses are to one element only in the same iteration of
// their loops on an axis.
static bool keep_apart(const struct access *x, const struct access *y, int axis)
{
    for (uint32_t d = 0; d < x->access->buffer->rank; d++) {
        struct stripe a = x->stripes[axis][d], b = y->stripes[axis][d];
        int64_t lo = a.rest.lo < b.rest.lo ? a.rest.lo : b.rest.lo;
        int64_t hi = a.rest.hi > b.rest.hi ? a.rest.hi : b.rest.hi;
        int64_t n = a.factor < 0 ? -a.factor : a.factor, width;
        if (n && a.factor == b.factor && num_sub(hi, lo, &width) && width < n)
            return true;
    }
    return false;
}

// Return whether all blocks make an access, to the same elements.
static bool is_by_all(const struct walk *w, const struct access *x, int axis)
{
    const struct ir_for *loop = &x->loops[axis]->u.loop;
    return !ir_any_mentions(x->access->buffer->rank, x->access->index,
                            loop->var) &&
           ir_expr_equal(loop->to, w->m->extent[axis]);
}

// Return whether it is no matter to the blocks of `y` that those of `x`, on
// an axis in another loop, have shared memory of their own.
static bool is_own(const struct walk *w, const struct access *x,
                   const struct access *y, int axis)
{
    const struct ir_buffer *b = y->access->buffer;
    return b->space == SPACE_shared &&
           (!x->access->writes || is_by_all(w, x, axis) ||
            ir_block_writes(&y->loops[axis]->u.loop.body, b));
}

// Check two accesses to an array; reports E0710 and E0885.
static void check(struct walk *w, const struct access *x,
                  const struct access *y)
{
    for (int i = 0; i < AXIS_COUNT && !w->m->failed; i++) {
        if (!x->loops[i] || !y->loops[i] || x->loops[i] == y->loops[i] ||
            keep_apart(x, y, i) || is_own(w, x, y, i))
            continue;
        w->m->failed = true;
        diag_error(w->m->p->diags, y->access->stmt->span,
                   y->access->buffer->space == SPACE_shared ? D_blocks_own
                                                            : D_blocks_share,
                   y->access->buffer->name);
        diag_label(w->m->p->diags, "%s in one loop on %s",
                   y->access->writes ? "written" : "read",
                   axis_name((enum axis)i));
        diag_note(w->m->p->diags, x->access->stmt->span, "%s in another one",
                  x->access->writes ? "written" : "read");
    }
}

// Check a launch: loops on one axis of the grid share no element.
static void check_launch(struct mapping *m)
{
    struct walk w = {.m = m, .arena = m->p->scratch};
    bool has_several = false;
    w.values.arena = w.arena;
    ir_foreach_stmt(s, &m->launch->body)
        if (is_grid(&w, s))
            w.counts[s->u.loop.axis]++;
    for (int i = 0; i < AXIS_COUNT; i++)
        has_several |= w.counts[i] > 1;
    if (!has_several)
        return;
    facts_start(&w.facts, w.arena, m->p->kernel);
    walk_block(&w, &m->launch->body);
    for (size_t i = 0; i < w.accesses.n; i++) {
        const struct access *x = &w.accesses.at[i];
        for (size_t k = i + 1; k < w.accesses.n && !m->failed; k++) {
            const struct access *y = &w.accesses.at[k];
            bool writes = x->access->writes || y->access->writes;
            bool atomic = x->access->is_atomic && y->access->is_atomic;
            if (x->access->buffer == y->access->buffer && writes && !atomic)
                check(&w, x, y);
        }
    }
}

enum pass_result pass_grid_hazards_loops(struct pass *p)
{
    return mapping_each(p, check_launch) ? PASS_SAME : PASS_FAILED;
}
