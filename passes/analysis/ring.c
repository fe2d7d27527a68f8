// What a software-pipelined loop may fill ahead of its use.

#include "passes/analysis/ring.h"

#include "ir/accesses.h"
#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/analysis/region.h"
#include "passes/opt/fold.h"

// A look at a loop.
struct look {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct ir_path path; // down to the loop
    struct ring ring;
};

// Say why a loop has no ring.  Returns false.
static bool refuse(struct look *l, struct ir_stmt *at, const char *fault)
{
    l->ring.fault = fault;
    l->ring.at = at;
    return false;
}

// Return one statement as a block.
static struct ir_block only(struct ir_stmt **s)
{
    return (struct ir_block){.at = s, .n = 1};
}

// Return whether a statement uses an array.
static bool uses(struct ir_stmt *s, const struct ir_buffer *b)
{
    struct ir_block one = only(&s);
    return ir_block_reads(&one, b) || ir_block_writes(&one, b);
}

// What a statement of the body does.
struct content {
    struct ir_block *body; // of the loop
    bool fills;            // so far it does nothing but fill
    bool has_stage;
};

// Note what keeps an expression from being computed ahead: what the loop
// changes.
static void see_input(struct ir_expr *x, void *context)
{
    struct content *c = context;
    unsigned flags = ir_op_info(x->op)->flags;
    if (flags & OP_READS)
        c->fills &= !ir_block_writes(c->body, x->u.buffer);
    c->fills &= !(flags & (OP_WRITES | OP_TOGETHER));
    c->fills &= x->op != OP_var || x->u.var->kind != VAR_mutable;
}

// Note what a statement is.
static void see_stmt(struct ir_stmt *s, void *context)
{
    struct content *c = context;
    switch (s->kind) {
    case STMT_stage:
        c->has_stage = true;
        c->fills &= !s->u.stage.has_init;
        return;
    case STMT_store:
        c->fills &= s->u.store.buffer->space == SPACE_shared &&
                    s->u.store.buffer->role == ROLE_alloc;
        return;
    case STMT_for:
    case STMT_if:
    case STMT_let: return;
    default: c->fills = false;
    }
}

bool ring_is_fill(struct ir_block *body, struct ir_stmt *s)
{
    struct content c = {body, true, false};
    struct ir_block one = only(&s);
    ir_each_stmt(&one, see_stmt, &c);
    if (c.fills && c.has_stage)
        ir_each_expr_in(&one, see_input, &c);
    return c.fills && c.has_stage;
}

// Add the array of a store to the ring.
static void see_array(struct ir_stmt *s, void *context)
{
    struct look *l = context;
    if (s->kind != STMT_store)
        return;
    for (size_t i = 0; i < l->ring.arrays.n; i++) {
        if (l->ring.arrays.at[i] == s->u.store.buffer)
            return;
    }
    vec_push(l->arena, &l->ring.arrays, s->u.store.buffer);
}

// Find what fills, and the arrays.
static bool find_fills(struct look *l)
{
    struct ir_block *body = &l->ring.loop->u.loop.body;
    for (size_t i = 0; i < body->n; i++) {
        struct ir_stmt *s = body->at[i];
        struct ir_block one = only(&s);
        if (!ring_is_fill(body, s))
            continue;
        vec_push(l->arena, &l->ring.fills, s);
        ir_each_stmt(&one, see_array, l);
    }
    if (l->ring.fills.n)
        return true;
    return refuse(l, l->ring.loop,
                  "no stage in it only fills shared memory from what the loop "
                  "does not change");
}

// Return a statement out of the loop that uses an array, or NULL.
static struct ir_stmt *user_outside(const struct look *l,
                                    const struct ir_buffer *b)
{
    for (uint32_t i = 0; i < l->path.n; i++) {
        const struct ir_block *block = l->path.blocks[i];
        for (size_t k = 0; k < block->n; k++) {
            struct ir_stmt *s = block->at[k];
            if (s != l->path.stmts[i] && s->kind != STMT_alloc && uses(s, b))
                return s;
        }
    }
    return NULL;
}

// Set *(struct ir_buffer **)context to an array in two halves that is stored.
static void see_double(struct ir_stmt *s, void *context)
{
    if (s->kind == STMT_store && s->u.store.buffer->is_double &&
        s->u.store.buffer->space == SPACE_shared)
        *(struct ir_buffer **)context = s->u.store.buffer;
}

// Return whether a statement of a block fills an array in two halves for
// others: ahead of them, too, and so before what it reads has come.
static bool fills_half(const struct ir_block *body, struct ir_stmt *s)
{
    struct ir_buffer *half = NULL;
    struct ir_block one = only(&s);
    bool is_used = false;
    ir_each_stmt(&one, see_double, &half);
    for (size_t i = 0; i < body->n && half; i++)
        is_used |= body->at[i] != s && uses(body->at[i], half);
    return is_used;
}

// Check who uses an array, and in which order.
static bool check_users(struct look *l, const struct ir_buffer *b)
{
    const struct ir_block *body = &l->ring.loop->u.loop.body;
    struct ir_stmt *other = user_outside(l, b), *user = NULL;
    if (other)
        return refuse(l, other, "what the loop fills is used outside of it");
    for (size_t i = 0; i < body->n; i++) {
        struct ir_stmt *s = body->at[i];
        struct ir_block one = only(&s);
        if (ring_has_fill(&l->ring, s) && user && uses(s, b))
            return refuse(
                l, user,
                "it uses an array that is filled only later in the loop");
        if (ring_has_fill(&l->ring, s))
            continue;
        if (ir_block_writes(&one, b))
            return refuse(l, s, "it writes an array that is filled ahead, too");
        if (!ir_block_reads(&one, b))
            continue;
        user = s;
        if (fills_half(body, s))
            return refuse(
                l, s, "it fills from there an array that is double buffered");
    }
    return true;
}

// Set *(bool *)context where what a statement stores may leave something as
// it was: a condition that is more than a bound.
static void see_partial(struct ir_stmt *s, void *context)
{
    bool *is_partial = context;
    struct conditions all = {0};
    struct arena scratch = {0};
    *is_partial |= s->kind == STMT_if;
    if (s->kind == STMT_stage && s->u.stage.predicate)
        fold_split(&scratch, s->u.stage.predicate, &all);
    for (size_t i = 0; i < all.n; i++) {
        enum ir_op op = all.at[i]->op;
        *is_partial |= op != OP_lt && op != OP_le && op != OP_gt && op != OP_ge;
    }
    arena_reset(&scratch);
}

bool ring_covers(struct arena *a, struct ir_kernel *kernel,
                 const struct ir_path *path, struct ir_buffer *const *arrays,
                 size_t n)
{
    struct map fixed = {.arena = a};
    for (uint32_t i = 0; i < path->n; i++) {
        struct ir_stmt *s = path->stmts[i];
        enum axis_kind kind =
            s->kind == STMT_for ? axis_kind(s->u.loop.axis) : AXIS_THREAD;
        if (kind != AXIS_THREAD && kind != AXIS_VTHREAD)
            map_set(&fixed, s->u.loop.var, ir_read(a, s->u.loop.var));
    }
    struct region_question q = {.arena = a,
                                .scratch = a,
                                .kernel = kernel,
                                .within = path->stmts[path->n - 1],
                                .access = REGION_loads,
                                .fixed = &fixed};
    struct region *read = region_find_each(&q, arrays, n);
    q.access = REGION_stores;
    q.whole_tiles = true;
    struct region *written = region_find_each(&q, arrays, n);
    bool covers = true;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t d = 0; d < read[i].rank && read[i].is_touched; d++)
            covers &= region_covers(a, &written[i].dims[d], &read[i].dims[d]);
    }
    return covers;
}

// Check that each iteration fills what it reads of every array.
static bool check_covers(struct look *l)
{
    for (size_t i = 0; i < l->ring.arrays.n; i++) {
        struct ir_buffer *b = l->ring.arrays.at[i];
        if (!ring_covers(l->arena, l->kernel, &l->path, &b, 1))
            return refuse(l, l->ring.fills.at[0],
                          arena_printf(l->arena,
                                       "an iteration may read elements of `%s` "
                                       "that it does not fill",
                                       b->name));
    }
    return true;
}

// Check the arrays.
static bool check_arrays(struct look *l)
{
    for (size_t i = 0; i < l->ring.fills.n; i++) {
        bool is_partial = false;
        struct ir_block one = only(&l->ring.fills.at[i]);
        ir_each_stmt(&one, see_partial, &is_partial);
        if (is_partial)
            return refuse(l, l->ring.fills.at[i],
                          "it fills only some elements, under a condition");
    }
    for (size_t i = 0; i < l->ring.arrays.n; i++) {
        const struct ir_buffer *b = l->ring.arrays.at[i];
        if (b->is_double)
            return refuse(l, l->ring.fills.at[0],
                          "what it fills is double buffered already");
        if (!check_users(l, b))
            return false;
    }
    return check_covers(l);
}

// Check that no statement that fills uses a name that the body declares.
static bool check_names(struct look *l)
{
    const struct ir_block *body = &l->ring.loop->u.loop.body;
    for (size_t i = 0; i < body->n; i++) {
        struct ir_stmt *s = body->at[i];
        for (size_t k = 0; k < l->ring.fills.n && s->kind == STMT_let; k++) {
            struct ir_block one = only(&l->ring.fills.at[k]);
            if (ir_uses_declared(&one, s))
                return refuse(l, s,
                              "the stages that fill use a `let` of the loop");
        }
    }
    return true;
}

// Set *(struct ir_stmt **)context to a barrier of the program.
static void see_barrier(struct ir_stmt *s, void *context)
{
    if (s->kind == STMT_barrier)
        *(struct ir_stmt **)context = s;
}

// Return a barrier of the launch that the loop is in, or NULL.
static struct ir_stmt *find_barrier(const struct look *l)
{
    struct ir_block launch = {.at = &l->path.stmts[0], .n = 1};
    struct ir_stmt *barrier = NULL;
    ir_each_stmt(&launch, see_barrier, &barrier);
    return barrier;
}

// Check the loop itself.
static bool check_loop(struct look *l)
{
    struct ir_stmt *s = l->ring.loop, *barrier = find_barrier(l);
    const struct ir_for *loop = &s->u.loop;
    enum axis_kind kind = axis_kind(loop->axis);
    if (kind != AXIS_SERIAL && kind != AXIS_UNROLL)
        return refuse(l, s, "its iterations do not run one after another");
    if (!ir_is_int_const(loop->from, 0) || !ir_is_int_const(loop->step, 1))
        return refuse(l, s, "it does not count from 0 in steps of 1");
    if (!ir_is_stable(loop->to))
        return refuse(l, s, "its end depends on memory");
    return !barrier ||
           refuse(l, barrier, "the program has barriers of its own");
}

struct ring ring_find(struct arena *a, struct ir_kernel *kernel,
                      struct ir_stmt *loop)
{
    struct look l = {.arena = a, .kernel = kernel, .ring = {.loop = loop}};
    ir_find(a, &kernel->body, loop, &l.path);
    if (check_loop(&l) && find_fills(&l) && check_names(&l))
        check_arrays(&l);
    return l.ring;
}

bool ring_has_fill(const struct ring *ring, const struct ir_stmt *s)
{
    for (size_t i = 0; i < ring->fills.n; i++) {
        if (ring->fills.at[i] == s)
            return true;
    }
    return false;
}

int64_t ring_slots(const struct ir_stmt *loop)
{
    return ir_loop_mark_value(loop, "pipeline");
}
