// grid_hazards: refuses launches whose blocks would have to wait for each other.
//
//   for i in 0..64 { W[i] = A[i]                block 0 alone
//                    S[i] = W[i] }              every block: E0710
//   for b in 0..64 @block.x { C[b] = S[63 - b] }
//
// On an axis of the grid, a statement runs on the blocks of the loop around it.
// Without a loop, it runs on block 0 alone if it writes global memory
// (single_writer.c), else on every block. Blocks do not wait for each other. So
// all statements that access an array that the launch writes have to run on the
// same blocks.

#include "ir/build.h"
#include "ir/walk.h"
#include "passes/lower/accesses.h"
#include "passes/lower/mapping.h"

// Which blocks make an access.
struct access {
    const struct conflict_access *access;
    axis_set loops; // axes of the grid with a loop around it
    axis_set first; // axes on which block 0 alone makes it
};

// The walk over a launch.
struct walk {
    struct arena *arena;
    axis_set grid; // axes on which it has several blocks
    struct map none;
    struct map written; // arrays to the first access that writes them
    struct VEC(struct access) accesses;
};

// Note the accesses of a statement to global memory.
static void note(struct walk *w, struct ir_stmt *s, axis_set loops)
{
    struct accesses all = accesses_of(w->arena, s, &w->none, NULL, NULL);
    bool is_first =
        s->kind == STMT_eval ||
        (s->kind == STMT_store && s->u.store.buffer->space == SPACE_global);
    axis_set first = is_first ? w->grid & ~loops : 0;
    for (size_t i = 0; i < all.n; i++) {
        const struct ir_buffer *b = all.at[i]->buffer;
        struct access *x = arena_new(w->arena, struct access);
        *x = (struct access){all.at[i], loops, first};
        if (b->space != SPACE_global)
            continue;
        vec_push(w->arena, &w->accesses, *x);
        if (all.at[i]->writes && !map_has(&w->written, b))
            map_set(&w->written, b, x);
    }
}

// Walk the statements of a block, in loops over some axes of the grid.
static void walk_block(struct walk *w, struct ir_block *block, axis_set loops)
{
    vec_foreach_value(s, block) {
        axis_set inner = loops;
        note(w, s, loops);
        if (s->kind == STMT_for)
            inner |= w->grid & 1u << s->u.loop.axis;
        ir_foreach_block(below, s)
            walk_block(w, below, inner);
    }
}

// Return in words which blocks make an access on an axis.
static const char *blocks_of(const struct access *x, axis_set axis)
{
    return x->loops & axis   ? "the block of an iteration"
           : x->first & axis ? "the first block alone"
                             : "every block";
}

// Report two accesses to an array, of which the first one writes.
static void report(struct mapping *m, const struct access *x,
                   const struct access *y)
{
    axis_set differs = (x->loops ^ y->loops) | (x->first ^ y->first);
    enum axis axis = AXIS_block_x;
    while (!(differs & 1u << axis))
        axis++;
    m->failed = true;
    diag_error(m->p->diags, y->access->stmt->span, D_blocks_share,
               y->access->buffer->name);
    diag_label(m->p->diags, "by %s on %s", blocks_of(y, 1u << axis),
               axis_name(axis));
    diag_note(m->p->diags, x->access->stmt->span, "written by %s on %s",
              blocks_of(x, 1u << axis), axis_name(axis));
}

// Check a launch: statements that access an array run on the same blocks.
static void check_launch(struct mapping *m)
{
    struct walk w = {.arena = m->p->scratch};
    w.none.arena = w.written.arena = w.arena;
    for (int i = 0; i < AXIS_COUNT; i++)
        if (axis_kind((enum axis)i) == AXIS_BLOCK && m->extent[i] &&
            !ir_is_int_const(m->extent[i], 1))
            w.grid |= 1u << i;
    if (w.grid)
        walk_block(&w, &m->launch->body, 0);
    for (size_t i = 0; i < w.accesses.n && !m->failed; i++) {
        const struct access *y = &w.accesses.at[i];
        const struct access *x = map_get(&w.written, y->access->buffer);
        if (x && (x->loops != y->loops || x->first != y->first))
            report(m, x, y);
    }
}

enum pass_result pass_grid_hazards(struct pass *p)
{
    return mapping_each(p, check_launch) ? PASS_SAME : PASS_FAILED;
}
