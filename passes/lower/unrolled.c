// unrolled: loops marked @unroll become straight line.
//
//   for v in 0..3 @unroll { A[v] = B[v] }  =>  A[0] = B[0]
//                                              A[1] = B[1]
//                                              A[2] = B[2]
//
// So do loops that index an array in local memory, which can be in registers
// only then.  Loops whose number of iterations is not a number, that would
// become too long, or that hold arrays of their own in shared memory stay: the
// mark asks LLVM then.

#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"
#include "passes/lower/registers.h"
#include "passes/pass.h"

// What a loop would copy.
struct size {
    int64_t statements;
    bool has_shared; // an array in shared memory
};

// Count a statement; loops inside have been expanded or stay.
static void see_stmt(struct ir_stmt *s, void *context)
{
    struct size *size = context;
    size->statements += s->kind == STMT_for ? LOOP_STATEMENTS : 1;
    size->has_shared |=
        s->kind == STMT_alloc && s->u.buffer->space == SPACE_shared;
}

// Return whether a loop is to be expanded, and how often it runs.
static bool is_expanded(struct pass *p, struct ir_stmt *s, int64_t *n)
{
    struct size size = {0};
    if (s->kind != STMT_for || s->u.loop.axis != AXIS_unroll ||
        !ir_int_value(ir_for_extent(p->scratch, &s->u.loop), n))
        return false;
    ir_each_stmt(&s->u.loop.body, see_stmt, &size);
    int64_t most = EXPANDED_MOST / (size.statements + 1);
    return !size.has_shared && *n <= most;
}

// Return the iterations of a loop one after another.
static struct ir_block expand(struct pass *p, const struct ir_for *loop,
                              int64_t n)
{
    struct arena *a = p->arena;
    struct ir_block out = {0};
    for (int64_t i = 0; i < n; i++) {
        struct map vars = {.arena = p->scratch};
        struct ir_expr *steps =
            ir_mul(a, loop->step, ir_const_int(a, loop->var->type, i));
        map_set(&vars, loop->var, ir_add(a, loop->from, steps));
        struct ir_block one = ir_copy_block(a, &loop->body, &vars, NULL);
        for (size_t k = 0; k < one.n; k++)
            ir_append(a, &out, one.at[k]);
    }
    return out;
}

// Expand the loops of a block, the inner ones first; returns whether there
// was one.
static bool expand_block(struct pass *p, struct ir_block *block)
{
    bool changed = false;
    for (size_t i = 0; i < block->n;) {
        struct ir_block *inside[IR_BLOCKS_MOST];
        struct ir_stmt *s = block->at[i];
        int64_t n;
        uint32_t blocks = ir_stmt_blocks(s, inside);
        for (uint32_t k = 0; k < blocks; k++)
            changed |= expand_block(p, inside[k]);
        if (!is_expanded(p, s, &n)) {
            i++;
            continue;
        }
        struct ir_block straight = expand(p, &s->u.loop, n);
        ir_splice(p->arena, block, i, &straight);
        i += straight.n;
        changed = true;
    }
    return changed;
}

enum pass_result pass_unrolled(struct pass *p)
{
    bool changed = registers_mark(p);
    changed |= expand_block(p, &p->kernel->body);
    return changed ? PASS_CHANGED : PASS_SAME;
}
