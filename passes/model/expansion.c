// Which loops LLVM expands.
//
//   for i in 0..8 { copy X[(i * 16 + thread.x) / w ...] if ... }
//                                 32 operations each: too long, it stays a loop
//
// LLVM expands a loop if all of its iterations together are short.  What does not differ
// from one to the next is computed before, and sums and products of an address become
// part of it: these count nothing.

#include "passes/model/expansion.h"

#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/walk.h"

#include <math.h>

// Iterations of a loop, and operations of all of them: ptxas was given loops of 4 times 30
// operations as straight code, and of 8 times 30 as loops.
enum { TRIPS_MOST = 16, OPERATIONS_MOST = 200 };

// Part of an expression.
struct part {
    bool differs; // from one iteration to the next
    double operations;
};

// Return whether an operation takes no instruction where the loop is expanded.
static bool is_free(const struct ir_expr *x, bool in_index)
{
    bool is_linear = x->op == OP_add || x->op == OP_sub || x->op == OP_mul;
    return x->op == OP_cast || x->op == OP_ramp || x->op == OP_broadcast ||
           (in_index && is_linear);
}

// Return what is known of an expression; `differing` has the variables that differ.
static struct part part_of(const struct map *differing, const struct ir_expr *x,
                           bool in_index)
{
    struct part r = {x->op == OP_var && map_has(differing, x->u.var), 0};
    bool accesses = ir_op_info(x->op)->flags & (OP_READS | OP_WRITES);
    uint32_t indices = accesses ? ir_index_count(x) : 0;
    for (uint32_t i = 0; i < x->n; i++) {
        struct part one =
            part_of(differing, x->args[i], in_index || i < indices);
        r.differs |= one.differs;
        r.operations += one.operations;
    }
    if (r.differs && x->n && !is_free(x, in_index))
        r.operations++;
    return r;
}

// Return the operations of a value and an index that differ.
static double count(const struct map *differing, const struct ir_expr *x,
                    bool in_index)
{
    return x ? part_of(differing, x, in_index).operations : 0;
}

static double size_of_block(struct map *differing, const struct ir_block *b);

// Return the operations of all iterations of a loop; INFINITY: it is not expanded.
static double size_of_loop(struct map *differing, const struct ir_for *loop)
{
    int64_t from, to, step;
    if (!ir_int_value(loop->from, &from) || !ir_int_value(loop->to, &to) ||
        !ir_int_value(loop->step, &step) || to - from > TRIPS_MOST * step)
        return INFINITY;
    map_set(differing, loop->var, loop->var);
    double trips = ceil((double)(to - from) / (double)step);
    return trips > 0 ? trips * size_of_block(differing, &loop->body) : 0;
}

// Return the operations of an assignment, and note whether the variable differs.
static double size_of_let(struct map *differing, const struct ir_stmt *s)
{
    struct part p = part_of(differing, s->u.let.value, false);
    if (p.differs || s->kind != STMT_let)
        map_set(differing, s->u.let.var, s->u.let.var);
    return p.operations;
}

// Return the operations of a statement.
static double size_of(struct map *differing, const struct ir_stmt *s)
{
    double sum = 1;
    switch ((int)s->kind) {
    case STMT_for: return size_of_loop(differing, &s->u.loop);
    case STMT_if:
        return count(differing, s->u.branch.cond, false) +
               size_of_block(differing, &s->u.branch.then) +
               size_of_block(differing, &s->u.branch.otherwise);
    case STMT_let:
    case STMT_var:
    case STMT_assign: return size_of_let(differing, s);
    case STMT_store:
        for (uint32_t i = 0; i < s->u.store.n; i++)
            sum += count(differing, s->u.store.index[i], true);
        return sum + count(differing, s->u.store.value, false);
    case STMT_eval: return count(differing, s->u.value, false);
    case STMT_copy: return sum + count(differing, s->u.copy.where, false);
    default: return ir_is_meeting(s) ? INFINITY : sum;
    }
}

// Return the operations of a block.
static double size_of_block(struct map *differing, const struct ir_block *b)
{
    double sum = 0;
    for (size_t i = 0; i < b->n; i++)
        sum += size_of(differing, b->at[i]);
    return sum;
}

bool expansion_is_whole(struct arena *a, const struct ir_for *loop,
                        double trips)
{
    struct map differing = {.arena = a};
    return trips <= TRIPS_MOST &&
           size_of_loop(&differing, loop) <= OPERATIONS_MOST;
}
