// rolling_buffer -- keep what the next iteration needs, in a circular buffer.
//
//   for i { for ax in 0..3 { P[i + ax] = f(i + ax) }  C[i] = P[i] + P[i + 2] }
//     =>   rolling_buffer(P, 0)
//   for i { for ax in 0..3 { if i == 0 || ax >= 2 { P[(i + ax) % 3] = f(i + ax) } }
//           C[i] = P[i % 3] + P[(i + 2) % 3] }
//
// After compute_at: each iteration of a serial loop computes a window of the
// axis, which moves on with the loop.  The axis becomes as long as the window,
// and after the first iteration only what is new is computed.
//
// Requires:
//  1. the array has the axis                                 E0698
//  2. the stage alone writes the array, an intermediate one,
//     and a serial loop moves its window, of constant length,
//     on by less than that, without gaps, other axes
//     standing still, and it is not double-buffered; what
//     reads it does so in the window, and no condition but on
//     the element itself leaves a part of it out; blocks
//     and threads find what they or others have kept; and
//     what the loop writes is not read before, keeps its
//     values, and nothing else writes it                     E0697

#include "passes/schedule/common/move.h"
#include "passes/schedule/common/region.h"
#include "passes/schedule/depend/depend.h"

#include "ir/accesses.h"
#include "ir/affine.h"
#include "ir/build.h"
#include "ir/stage.h"
#include "passes/opt/fold.h"

// What rolls.
struct rolling {
    struct pass *pass;
    struct ir_stmt *stage, *loop;
    struct ir_buffer *array, *made;
    uint32_t axis;
    int64_t window, step;
    struct ir_expr *place; // of the element in the window
    const char *fault;
};

// Return the region of the array that one iteration of a loop accesses.
static struct sched_region region_of(const struct rolling *r,
                                     enum region_access access)
{
    struct sched_region_query q = {.pass = r->pass,
                                   .loop = r->loop,
                                   .buffer = r->array,
                                   .access = access,
                                   .across_threads = true};
    return sched_region_find(&q);
}

// Return x - y.
static struct affine difference(struct arena *a, struct ir_expr *x,
                                struct ir_expr *y)
{
    struct affine from = affine_of(a, x), sub = affine_of(a, y);
    return affine_add(a, &from, -1, &sub);
}

// Check that all reads are in the window of the iteration.
static bool reads_window(struct rolling *r, struct ir_expr *base)
{
    struct sched_region reads = region_of(r, REGION_loads);
    int64_t n;
    if (!reads.any || reads.dims[r->axis].is_whole ||
        !ir_int_value(reads.dims[r->axis].extent, &n))
        return false;
    struct affine ahead =
        difference(r->pass->arena, reads.dims[r->axis].base, base);
    return affine_is_number(&ahead) && ahead.constant >= 0 &&
           ahead.constant + n <= r->window;
}

// Find the window of one iteration of the loop, and the step by which the
// next one moves it; false if they do not overlap.
static bool overlaps(struct rolling *r, const struct sched_region *writes)
{
    struct arena *a = r->pass->arena;
    const struct sched_region_dim *dim = &writes->dims[r->axis];
    if (!writes->any || dim->is_whole || !dim->base ||
        !ir_mentions(dim->base, r->loop->u.loop.var))
        return false;
    struct affine base = affine_of(a, dim->base), rest;
    return affine_linear(a, &base, r->loop->u.loop.var, &r->step, &rest) &&
           ir_int_value(dim->extent, &r->window) && r->step >= 1 &&
           r->step < r->window;
}

// Return whether a loop moves the stage along another axis than the one that
// rolls.
static bool moves_across(const struct rolling *r, const struct ir_stmt *loop)
{
    bool moves = false;
    const struct ir_stage *stage = &r->stage->u.stage;
    struct ir_stmt *store = sched_plain_store(r->stage);
    for (uint32_t d = 0; d < r->array->rank; d++) {
        int iter = ir_stage_iter(stage, store->u.store.index[d]);
        moves |= d != r->axis &&
                 ir_mentions(stage->iters.at[iter].binding, loop->u.loop.var);
    }
    return moves;
}

// Return whether one loop around the stage lets an element be found where it
// was put: a loop inside of the one that rolls, or around it.
static bool keeps_elements(const struct rolling *r, const struct ir_stmt *loop,
                           bool is_inside, struct ir_expr *binding)
{
    enum axis_kind kind = axis_kind(loop->u.loop.axis);
    bool rolls = ir_mentions(binding, loop->u.loop.var);
    bool across = moves_across(r, loop);
    bool own = space_is_own(r->array->space) ||
               (r->array->space == SPACE_shared && kind == AXIS_BLOCK);
    if (is_inside && rolls && across)
        return false;
    if (kind != AXIS_BLOCK && kind != AXIS_THREAD && kind != AXIS_VTHREAD)
        return true;
    if (is_inside && rolls && (own || kind == AXIS_BLOCK))
        return false;
    return own || across || (kind != AXIS_BLOCK && (is_inside || !rolls));
}

// Check that what is kept for the next iteration is found there: by a block or
// thread that has the array, too, and is not overwritten by another one.
static bool check_kept(struct rolling *r, struct ir_expr *binding)
{
    bool is_inside = false, keeps = true;
    struct ir_block loops = sched_loops(r->pass, r->stage);
    for (size_t i = 0; i < loops.n; i++) {
        if (loops.at[i] != r->loop)
            keeps &= keeps_elements(r, loops.at[i], is_inside, binding);
        is_inside |= loops.at[i] == r->loop;
    }
    r->fault = "other blocks or threads compute a part of its window";
    return keeps;
}

// Return whether the loops inside of the one that rolls move the window's axis
// by the same in every run: their extents are numbers, not bounds of some.
static bool is_constant(const struct rolling *r, struct ir_expr *binding)
{
    struct ir_block loops = sched_loops(r->pass, r->stage);
    while (loops.n-- > 0 && loops.at[loops.n] != r->loop) {
        int64_t extent;
        const struct ir_for *f = &loops.at[loops.n]->u.loop;
        if (ir_mentions(binding, f->var) &&
            !ir_int_value(ir_for_extent(r->pass->arena, f), &extent))
            return false;
    }
    return true;
}

// Check the rest of what is asked of the loop.
static bool check_loop(struct rolling *r, const struct sched_region *writes,
                       struct ir_expr *binding)
{
    struct arena *a = r->pass->arena;
    const struct ir_for *f = &r->loop->u.loop;
    struct ir_expr *from = writes->dims[r->axis].base;
    r->fault =
        "the loop that moves its window does not run one iteration after "
        "another from 0";
    if (f->axis != AXIS_serial || !ir_for_counts(f))
        return false;
    r->fault = "another axis moves as well";
    for (uint32_t d = 0; d < writes->n; d++)
        if (d != r->axis && writes->dims[d].base &&
            ir_mentions(writes->dims[d].base, f->var))
            return false;
    struct affine place = difference(a, binding, from);
    r->place = affine_expr(a, &place, type_scalar(TYPE_int));
    r->fault = "its window is not equally long for all sizes";
    if (!is_constant(r, binding))
        return false;
    r->fault = "its window has gaps";
    if (!writes->dims[r->axis].is_dense)
        return false;
    r->fault = "something reads outside of the window";
    return reads_window(r, from) && check_kept(r, binding);
}

// Find the innermost loop that moves the window, and how.
static bool find_window(struct rolling *r)
{
    struct ir_block loops = sched_loops(r->pass, r->stage);
    struct ir_stmt *store = sched_plain_store(r->stage);
    const struct ir_stage *stage = &r->stage->u.stage;
    int iter = ir_stage_iter(stage, store->u.store.index[r->axis]);
    struct ir_expr *binding = stage->iters.at[iter].binding;
    r->fault = "no loop around it moves its window on, by less than its length";
    while (loops.n-- > 0) {
        r->loop = loops.at[loops.n];
        struct sched_region writes = region_of(r, REGION_stores);
        if (overlaps(r, &writes))
            return check_loop(r, &writes, binding);
    }
    return false;
}

// Return whether an expression is the same in all iterations of the loop and of
// those below it.
static bool stands_still(const struct rolling *r, const struct ir_expr *x)
{
    struct ir_block loops = sched_loops(r->pass, r->stage);
    do {
        if (ir_mentions(x, loops.at[--loops.n]->u.loop.var))
            return false;
    } while (loops.at[loops.n] != r->loop);
    return true;
}

// Return whether a condition leaves out the same elements in every iteration.
static bool is_of_element(const struct rolling *r, const struct ir_expr *x)
{
    const struct ir_stage *stage = &r->stage->u.stage;
    bool compares = x->n == 2 && x->args[0]->type.kind == TYPE_int;
    if (stands_still(r, x))
        return true;
    for (uint32_t side = 0; compares && side < 2; side++) {
        for (size_t i = 0; i < stage->iters.n; i++) {
            struct affine apart = difference(r->pass->arena, x->args[side],
                                             stage->iters.at[i].binding);
            if (affine_is_number(&apart) && stands_still(r, x->args[1 - side]))
                return true;
        }
    }
    return false;
}

// Check that the predicate leaves no part of the window out.
static bool fills_window(struct rolling *r)
{
    const struct ir_stage *stage = &r->stage->u.stage;
    r->fault = "a condition leaves a part of its window out";
    struct conditions all = fold_split(r->pass->scratch, stage->predicate);
    for (size_t i = 0; i < all.n; i++)
        if (!is_of_element(r, all.at[i]))
            return false;
    return true;
}

static bool keeps_inputs(struct rolling *r, struct ir_stmt *stage,
                         struct map *seen);

// Return whether the elements of an array keep the values that they get in the
// loop: one stage alone computes each, by iterations of its own, from what
// keeps its values.
static bool keeps_values(struct rolling *r, const struct ir_buffer *b,
                         struct map *seen)
{
    if (map_has(seen, b))
        return true;
    struct sched_uses uses = sched_uses_of(r->pass, b);
    map_set(seen, b, r);
    r->fault = "its elements are computed from what changes in the loop";
    if (uses.writers.n != 1)
        return false;
    struct ir_stmt *writer = uses.writers.at[0];
    return writer->kind == STMT_stage && sched_plain_store(writer) &&
           keeps_inputs(r, writer, seen);
}

// Return whether what a stage reads keeps its values, and is written before:
// what is kept would be computed from something else, in parts of the window
// that nobody reads yet.
static bool keeps_inputs(struct rolling *r, struct ir_stmt *stage,
                         struct map *seen)
{
    struct sched_buffers inputs = sched_inputs_of(r->pass, stage);
    vec_foreach_value(b, &inputs) {
        if (!ir_block_writes(&r->loop->u.loop.body, b))
            continue;
        r->fault = "a part of its window is computed from what is written "
                   "later";
        if (!depend_reads_written(r->pass, stage, b) ||
            !keeps_values(r, b, seen))
            return false;
    }
    return true;
}

// Check that elements are computed anew as they were: neither from what is
// written later, nor from what goes around a circle in the loop itself.
static bool stays_same(struct rolling *r)
{
    struct map seen = {.arena = r->pass->scratch};
    return keeps_inputs(r, r->stage, &seen);
}

// Check that all uses are below the loop.
static bool is_alone(struct rolling *r, const struct sched_uses *uses)
{
    r->fault = "it is used outside of the loop, too";
    for (size_t i = 0; i < uses->readers.n; i++)
        if (!sched_is_below(r->pass, uses->readers.at[i], r->loop))
            return false;
    return true;
}

// Check every precondition.
static bool check(const struct sched_call *c, struct rolling *r)
{
    int64_t axis = c->args.at[1].number;
    if (r->array && (axis < 0 || axis >= (int64_t)r->array->rank))
        return sched_refuse(c, r->stage, "computes it", D_rolling_axis,
                            r->array->name, (long long)r->array->rank,
                            (long long)axis);
    r->axis = (uint32_t)axis;
    r->fault = "it is no stage that alone computes an intermediate array";
    bool good = r->stage->kind == STMT_stage && sched_plain_store(r->stage) &&
                r->array->role == ROLE_alloc &&
                !ir_stage_reduces(&r->stage->u.stage);
    struct sched_uses uses = {0};
    if (good) {
        uses = sched_uses_of(r->pass, r->array);
        r->fault =
            "it is double-buffered: iterations alternate between its halves";
        good = !r->array->is_double && uses.writers.n == 1 && find_window(r) &&
               fills_window(r) && is_alone(r, &uses) && stays_same(r);
    }
    if (good)
        return true;
    sched_refuse(c, r->stage, "to be kept in a circle", D_rolling_window,
                 sched_name_of(r->stage), r->fault);
    diag_help(c->pass->diags,
              "compute_at the stage below a serial loop that reads "
              "overlapping parts of it");
    return false;
}

// Return indices with that of the axis counted around the circle.
static struct ir_expr **around(const struct rolling *r, uint32_t n,
                               struct ir_expr *const *index)
{
    struct arena *a = r->pass->arena;
    struct ir_expr **out = arena_array(a, struct ir_expr *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        out[i] = i == r->axis
                     ? ir_binary(a, OP_mod, index[i], ir_int(a, r->window))
                     : index[i];
    return out;
}

// Let a load go around the circle.
static struct ir_expr *roll_load(struct arena *a, struct ir_expr *x,
                                 void *context)
{
    const struct rolling *r = context;
    if (x->op != OP_load || x->u.buffer != r->array)
        return x;
    return ir_at(a, ir_load(a, r->made, x->n, around(r, x->n, x->args)),
                 x->span);
}

// Let a store go around the circle, and declare the array anew.
static void roll_stmt(const struct rolling *r, struct ir_stmt *s)
{
    if (s->kind == STMT_alloc && s->u.buffer == r->array)
        s->u.buffer = r->made;
    if (s->kind != STMT_store || s->u.store.buffer != r->array)
        return;
    s->u.store.index = around(r, s->u.store.n, s->u.store.index);
    s->u.store.buffer = r->made;
}

bool sched_rolling_buffer(struct sched_call *c)
{
    struct arena *a = c->pass->arena;
    struct rolling r = {.pass = c->pass, .stage = sched_arg(c, 0)};
    r.array = sched_stored(r.stage);
    if (!check(c, &r))
        return false;
    struct ir_stage *stage = &r.stage->u.stage;
    r.made = arena_new(a, struct ir_buffer);
    *r.made = *r.array;
    r.made->shape = arena_array(a, struct ir_expr *, r.array->rank);
    for (uint32_t i = 0; i < r.array->rank; i++)
        r.made->shape[i] =
            i == r.axis ? ir_int(a, r.window) : r.array->shape[i];
    ir_rewrite_in(a, &c->pass->kernel->body, roll_load, &r);
    ir_foreach_stmt(s, &c->pass->kernel->body)
        roll_stmt(&r, s);
    struct ir_expr *first =
        ir_binary(a, OP_eq, ir_read(a, r.loop->u.loop.var), ir_int(a, 0));
    struct ir_expr *new =
        ir_binary(a, OP_ge, r.place, ir_int(a, r.window - r.step));
    struct ir_expr *old = stage->predicate;
    struct ir_expr *wanted = ir_binary(a, OP_or, first, new);
    stage->predicate = old ? ir_binary(a, OP_and, old, wanted) : wanted;
    return true;
}
