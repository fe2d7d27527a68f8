// barriers: every barrier must be reached by all threads of a block, or none;
// what the threads of a warp do at once, by all threads of the warp.
//
//   if thread.x < 32 { barrier }                 // E0702
//   if thread.x < 16 { s = warp_sum(s) }         // E0740
//   if thread.x < 64 { s = warp_sum(s) }         // whole warps
//
// A value is the same for all threads of a cluster of blocks, of a block, of each
// warpgroup, of each warp, or for none.  It differs if it comes from a position in
// the cluster or the block, an atomic, or a variable or local array that was given
// such a value, or was written where not all threads are.  An element of other
// memory is the same for all if its index is; shared memory is a block's.

#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/gpu.h"
#include "ir/walk.h"
#include "passes/pass.h"

// For whom a value is the same.
enum likeness {
    SAME_IN_CLUSTER,
    SAME_IN_BLOCK,
    SAME_IN_GROUP,
    SAME_IN_WARP,
    DIFFERENT
};

// The search in one launch.
struct divergence {
    struct pass *p;
    const struct ir_launch *launch;
    struct map different;     // variables and local arrays -> their likeness
    const struct ir_stmt *at; // innermost control around that lets threads
                              // part, or NULL
    enum likeness control;    // of all control around
    bool changed;             // something became less alike in this round
    bool failed;              // something was reported
};

// Return the less alike of two.
static enum likeness worse(enum likeness a, enum likeness b)
{
    return a > b ? a : b;
}

// Return how many threads a launch's block has.
static int64_t threads_of(const struct ir_launch *l)
{
    return (int64_t)l->block[0] * l->block[1] * l->block[2];
}

// Return how much alike a position along an axis is if it is divided by a
// number: warps are 32 threads counted along x, y and z.
static enum likeness position(const struct divergence *d, enum axis axis,
                              int64_t by)
{
    const uint32_t *block = d->launch->block;
    int64_t stride = 1;
    int dimension = axis_dimension(axis);
    if (axis_kind(axis) != AXIS_THREAD)
        return by > 0 && by % d->launch->cluster[dimension] == 0
                   ? SAME_IN_CLUSTER
                   : SAME_IN_BLOCK;
    if (block[dimension] <= by)
        return SAME_IN_CLUSTER;
    for (int i = 0; i < dimension; i++)
        stride *= block[i];
    int64_t length = stride * block[dimension];
    bool is_last = length == threads_of(d->launch);
    int64_t alike = by > 0 ? stride * by : 1;
    if (alike % GROUP_THREADS == 0 && (is_last || length % GROUP_THREADS == 0))
        return SAME_IN_GROUP;
    bool is_whole =
        alike % WARP_LANES == 0 && (is_last || length % WARP_LANES == 0);
    return is_whole ? SAME_IN_WARP : DIFFERENT;
}

// Return the position that an expression is, or is a conversion of, or NULL.
static const struct ir_expr *position_in(const struct ir_expr *x)
{
    while (x->op == OP_cast && !type_is_float(x->type))
        x = x->args[0];
    return x->op == OP_index ? x : NULL;
}

// Return how much alike `thread.x / 32`, `thread.x >> 5`, `thread.x < 32` and
// the like are; DIFFERENT if it is nothing of the kind.
static enum likeness quotient(const struct divergence *d,
                              const struct ir_expr *x)
{
    int64_t by;
    const struct ir_expr *of = x->n == 2 ? position_in(x->args[0]) : NULL;
    if (!of || !ir_int_value(x->args[1], &by))
        return DIFFERENT;
    switch ((int)x->op) {
    case OP_div:
    case OP_lt:
    case OP_ge: return position(d, of->u.axis, by);
    case OP_le:
    case OP_gt: return position(d, of->u.axis, by + 1);
    case OP_shr:
        return by < WARP_LANES ? position(d, of->u.axis, (int64_t)1 << by)
                               : SAME_IN_BLOCK;
    }
    return DIFFERENT;
}

// Return how much alike a variable or local array is.
static enum likeness known(const struct divergence *d, const void *what)
{
    return (enum likeness)(uintptr_t)map_get(&d->different, what);
}

// Return how much alike a node is, its operands aside.
static enum likeness node_likeness(const struct divergence *d,
                                   const struct ir_expr *x)
{
    unsigned flags = ir_op_info(x->op)->flags;
    if (x->op == OP_index)
        return position(d, x->u.axis, 1);
    if (x->op == OP_var)
        return known(d, x->u.var);
    if (flags & OP_WRITES)
        return DIFFERENT;
    if (!(flags & OP_READS))
        return SAME_IN_CLUSTER;
    bool is_shared = x->u.buffer->space == SPACE_shared;
    return worse(is_shared ? SAME_IN_BLOCK : SAME_IN_CLUSTER,
                 known(d, x->u.buffer));
}

// Return how much alike an expression is.
static enum likeness likeness(const struct divergence *d,
                              const struct ir_expr *x)
{
    enum likeness r = node_likeness(d, x);
    if (quotient(d, x) != DIFFERENT)
        return quotient(d, x);
    for (uint32_t i = 0; i < x->n; i++)
        r = worse(r, likeness(d, x->args[i]));
    if (!(ir_op_info(x->op)->flags & OP_TOGETHER) || r <= SAME_IN_BLOCK)
        return r;
    bool moves = x->op == OP_shuffle_up || x->op == OP_shuffle_down ||
                 x->op == OP_shuffle_xor || x->op == OP_match_any;
    bool is_one = x->op != OP_shuffle || likeness(d, x->args[1]) != DIFFERENT;
    return moves || !is_one ? r : SAME_IN_WARP;
}

// Note how much alike a variable or array is.
static void spread(struct divergence *d, const void *what, enum likeness how)
{
    if (how <= known(d, what))
        return;
    map_set(&d->different, what, (void *)(uintptr_t)how);
    d->changed = true;
}

// Look at a store to a local array.
static void spread_store(struct divergence *d, const struct ir_stmt *s)
{
    enum likeness how = worse(d->control, likeness(d, s->u.store.value));
    for (uint32_t i = 0; i < s->u.store.n; i++)
        how = worse(how, likeness(d, s->u.store.index[i]));
    if (space_is_own(s->u.store.buffer->space))
        spread(d, s->u.store.buffer, how);
}

// Point at where threads part.
static void note_control(struct divergence *d)
{
    bool is_loop = d->at->kind == STMT_for;
    diag_note(d->p->diags,
              is_loop ? d->at->u.loop.to->span : d->at->u.branch.cond->span,
              is_loop ? "threads leave the loop here at different times"
                      : "threads part here");
    d->failed = true;
}

// Report a statement that not every thread reaches that has to.
static void check_meeting(struct divergence *d, const struct ir_stmt *s)
{
    uint32_t threads = s->kind == STMT_sync ? sync_threads(s->u.sync.kind) : 0;
    bool is_part = s->kind == STMT_sync && sync_is_of_cluster(s->u.sync.kind);
    bool of_cluster = is_part || (s->kind == STMT_barrier && s->u.of_cluster);
    if ((s->kind == STMT_barrier || is_part) &&
        d->control > (of_cluster ? SAME_IN_CLUSTER : SAME_IN_BLOCK))
        diag_error(d->p->diags, s->span, D_barrier_divergent,
                   of_cluster ? "cluster" : "block");
    else if (threads && d->control > (threads == GROUP_THREADS ? SAME_IN_GROUP
                                                               : SAME_IN_WARP))
        diag_error(d->p->diags, s->span, D_collective_divergent,
                   threads == GROUP_THREADS ? "warpgroup" : "warp",
                   sync_spelling(s->u.sync.kind));
    else if (threads == GROUP_THREADS && threads_of(d->launch) % GROUP_THREADS)
        diag_error(d->p->diags, s->span, D_collective_lanes,
                   sync_spelling(s->u.sync.kind),
                   (long long)threads_of(d->launch));
    else
        return;
    d->failed = true;
    if (d->at)
        note_control(d);
}

// Return whether an operation reads only lanes that the last warp of a block
// has, though it has fewer than 32.
static bool stays_inside(const struct ir_expr *x, int64_t lanes)
{
    int64_t by;
    if (x->op == OP_shuffle_up)
        return true;
    if (x->n < 2 || !ir_int_value(x->args[1], &by) || by < 0 ||
        by >= WARP_LANES)
        return false;
    if (x->op == OP_shuffle)
        return by < lanes;
    int64_t span = 1;
    while (span <= by)
        span *= 2;
    return x->op == OP_shuffle_xor && lanes % span == 0;
}

// Report an operation that threads of a warp cannot do at once here.
static void check_together(struct divergence *d, struct ir_expr *x)
{
    const char *name = ir_op_info(x->op)->spelling;
    int64_t lanes = threads_of(d->launch) % WARP_LANES;
    if (!(ir_op_info(x->op)->flags & OP_TOGETHER))
        return;
    if (d->control > SAME_IN_WARP) {
        diag_error(d->p->diags, x->span, D_collective_divergent, "warp", name);
        note_control(d);
    } else if (lanes && !stays_inside(x, lanes)) {
        diag_error(d->p->diags, x->span, D_collective_lanes, name,
                   (long long)threads_of(d->launch));
        d->failed = true;
    }
}

// Return how much alike the way through a loop or branch is.
static enum likeness way(const struct divergence *d, const struct ir_stmt *s)
{
    if (s->kind == STMT_if)
        return likeness(d, s->u.branch.cond);
    if (s->kind != STMT_for)
        return SAME_IN_CLUSTER;
    enum likeness ends =
        worse(likeness(d, s->u.loop.from), likeness(d, s->u.loop.to));
    return worse(ends, likeness(d, s->u.loop.step));
}

// Spread what a statement makes differ.
static void spread_stmt(struct divergence *d, const struct ir_stmt *s)
{
    bool assigns =
        s->kind == STMT_let || s->kind == STMT_var || s->kind == STMT_assign;
    if (s->kind == STMT_for)
        spread(d, s->u.loop.var, d->control);
    if (assigns)
        spread(d, s->u.let.var, worse(d->control, likeness(d, s->u.let.value)));
    if (s->kind == STMT_store)
        spread_store(d, s);
}

// Walk a block: spread what differs, or, if `report`, report what not all
// threads reach.
static void walk(struct divergence *d, struct ir_block *block, bool report)
{
    vec_foreach_value(s, block) {
        struct divergence around = *d;
        if (report) {
            check_meeting(d, s);
            ir_foreach_expr_of(x, s)
                check_together(d, x);
        }
        enum likeness how = way(d, s);
        if (how > d->control) {
            d->at = s;
            d->control = how;
        }
        spread_stmt(d, s);
        ir_foreach_block(inner, s)
            walk(d, inner, report);
        d->at = around.at;
        d->control = around.control;
    }
}

enum pass_result pass_barriers(struct pass *p)
{
    bool failed = false;
    vec_foreach_value(s, &p->kernel->body) {
        if (s->kind != STMT_launch)
            continue;
        struct divergence d = {.p = p,
                               .launch = &s->u.launch,
                               .different = {.arena = p->scratch},
                               .changed = true};
        while (d.changed) {
            d.changed = false;
            walk(&d, &s->u.launch.body, false);
        }
        walk(&d, &s->u.launch.body, true);
        failed |= d.failed;
    }
    return failed ? PASS_FAILED : PASS_SAME;
}
