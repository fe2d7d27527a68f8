// mapped: lowers the loops of launches over blocks and threads to positions.
//
//   launch f grid(ceildiv(n, 256), 1, 1) block(256, 1, 1) {
//     for b in 0..ceildiv(n, 256) @block.x {
//       for t in 0..100 @thread.x { A[b * 256 + t] = 1 }
//     }
//   }                                                                   =>
//   launch f grid(ceildiv(n, 256), 1, 1) block(256, 1, 1) {
//     if thread.x < 100 { A[block.x * 256 + thread.x] = 1 }
//   }
//
// Arrays of threads lose the dimensions that are positions: E[t, 3], where E is
// f32[256, 16] in local threads(1), becomes E[3] of f32[16].

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/lower/mapping.h"

static void map_block(struct mapping *m, struct ir_block *block);

// Put the body of a bound loop in its place; returns how many statements that
// made.
static size_t map_loop(struct mapping *m, struct ir_block *block, size_t at)
{
    struct arena *a = m->p->arena;
    struct ir_stmt *s = block->at[at];
    struct ir_for *loop = &s->u.loop;
    struct ir_expr *index = ir_at(a, mapping_position(m, loop->axis), s->span);
    struct ir_expr *value = ir_add(a, loop->from, ir_mul(a, index, loop->step));
    struct ir_expr *extent = map_get(&m->loop_extents, s);
    struct ir_stmt *around = m->around[loop->axis];
    struct ir_expr *there =
        around ? map_get(&m->loop_extents, around) : m->extent[loop->axis];
    m->around[loop->axis] = s;
    map_block(m, &loop->body);
    m->around[loop->axis] = around;
    ir_replace_in(a, &loop->body, loop->var, value);
    struct ir_block body = loop->body;
    if (!ir_expr_equal(extent, there)) {
        struct ir_stmt *branch =
            ir_stmt_if(a, ir_binary(a, OP_lt, index, extent));
        ir_stmt_from(branch, s);
        ir_enclose(a, &body, branch, &branch->u.branch.then);
    }
    ir_splice(a, block, at, &body);
    return body.n;
}

// Map the loops of a block and below.
static void map_block(struct mapping *m, struct ir_block *block)
{
    for (size_t i = 0; i < block->n;) {
        struct ir_stmt *s = block->at[i];
        if (s->kind == STMT_for && is_bound(&s->u.loop)) {
            i += map_loop(m, block, i);
            continue;
        }
        ir_foreach_block(inner, s)
            map_block(m, inner);
        i++;
    }
}

// Leave the positions of the thread out of the indices of a load.
static struct ir_expr *leave_positions(struct arena *a, struct ir_expr *x,
                                       void *unused)
{
    (void)unused;
    uint32_t k = x->op == OP_load ? x->u.buffer->threads : 0;
    if (!k)
        return x;
    return ir_at(a, ir_load(a, x->u.buffer, x->n - k, x->args + k), x->span);
}

// Take away the dimensions of arrays that are positions of the thread: each has
// its own arrays from here on.
static void drop_positions(struct pass *p, struct ir_block *block)
{
    ir_rewrite_in(p->arena, block, leave_positions, NULL);
    ir_foreach_stmt(s, block) {
        if (s->kind != STMT_store)
            continue;
        s->u.store.index += s->u.store.buffer->threads;
        s->u.store.n -= s->u.store.buffer->threads;
    }
    ir_foreach_stmt(t, block) {
        if (t->kind != STMT_alloc)
            continue;
        t->u.buffer->shape += t->u.buffer->threads;
        t->u.buffer->rank -= t->u.buffer->threads;
        t->u.buffer->threads = 0;
    }
}

// Map the loops of a launch.
static void map_launch(struct mapping *m)
{
    map_block(m, &m->launch->body);
    drop_positions(m->p, &m->launch->body);
}

enum pass_result pass_mapped(struct pass *p)
{
    return mapping_each(p, map_launch) ? PASS_CHANGED : PASS_FAILED;
}
