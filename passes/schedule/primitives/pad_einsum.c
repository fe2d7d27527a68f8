// pad_einsum -- pad a contraction to multiples, so that no loop has a tail.
//
//   for i in 0..m { for k in 0..n { C[i] = C[i] + A[i, k] * B[k] } }
//     =>   A_pad, B_pad, C_crop = pad_einsum(C, 16, 4)      mp, np: multiples
//   for ax0 in 0..mp { for ax1 in 0..np {
//     A_pad[ax0, ax1] = ax0 < m && ax1 < n ? A[ax0, ax1] : 0 } }
//   for ax0 in 0..np { B_pad[ax0] = ax0 < n ? B[ax0] : 0 }
//   for i in 0..mp { for k in 0..np { C_pad[i] = C_pad[i] + A_pad[i, k] * B_pad[k] } }
//   for ax0 in 0..m { C[ax0] = C_pad[ax0] }
//
// One multiple for each iteration variable, 1 where there is nothing to pad;
// an array that does not grow is read as it is.  An index that is no iteration
// variable, as h + r of a window, stays; what it is made of has the multiple 1.
// The results are the stages that pad, in the order in which the stage reads
// their arrays, and the one that crops.  What is added in a padded part of a
// sum is a product with a 0 that pads; if its other factor has infinities or
// NaN there, so has the result.
//
// Requires:
//  1. the stage stores one element of its own, adds a product to it if it
//     is a reduction, indexes what it reads with the iteration variables
//     that are padded, and is not scheduled yet                  E0695
//  2. a factor is padded in each part of the sum                 E0695
//  3. a multiple of at least 1 for each iteration variable       E0696

#include "passes/schedule/common/stage_nest.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/stage.h"
#include "passes/schedule/common/operands.h"

// What is padded.
struct padding {
    const struct sched_call *call;
    struct pass *pass;
    struct ir_stmt *stage, *store;
    struct ir_path path;
    struct ir_expr **extents; // of the iteration variables, padded
    struct VEC(const struct ir_expr *) loads; // one of each place
    struct VEC(struct ir_buffer *) copies;    // padded, of each; or NULL
    const char *fault;
};

// Return the number of an iteration variable that an index is, or -1.
static int iter_at(const struct padding *d, const struct ir_expr *x)
{
    return ir_stage_iter(&d->stage->u.stage, x);
}

// Return the multiple of an iteration variable.
static int64_t multiple(const struct sched_call *c, int iter)
{
    return c->args.at[iter + 1].number;
}

// Return whether an iteration variable that is padded is in an index, and is not the
// whole of it.
static bool is_padded_in(const struct padding *d, const struct ir_expr *index)
{
    const struct ir_stage *stage = &d->stage->u.stage;
    for (size_t i = 0; i < stage->iters.n && i + 1 < d->call->args.n; i++)
        if (multiple(d->call, (int)i) > 1 &&
            ir_mentions(index, stage->iters.at[i].var))
            return iter_at(d, index) < 0;
    return false;
}

// Return whether a dimension that has this index grows.
static bool grows_at(const struct padding *d, const struct ir_expr *index)
{
    int iter = iter_at(d, index);
    return iter >= 0 && multiple(d->call, iter) > 1;
}

// Return whether an expression loads something.
static bool loads(const struct ir_expr *root)
{
    ir_foreach_expr(x, root)
        if (x->op == OP_load)
            return true;
    return false;
}

// Return why an operation may have no value on elements that pad, or NULL.
static const char *partial_fault(const struct ir_expr *x)
{
    bool divides = x->op == OP_div || x->op == OP_mod || x->op == OP_ceildiv;
    bool shifts = x->op == OP_shl || x->op == OP_shr;
    if (divides && type_is_integer(x->type))
        return "it divides, perhaps by a 0 that pads";
    if (shifts && !ir_is_const(x->args[1]))
        return "it shifts, perhaps by more bits than there are";
    if (x->op != OP_cast || !type_is_index(x->type))
        return NULL;
    struct type from = x->args[0]->type;
    unsigned room = type_bits(x->type) - !type_is_signed(from);
    bool holds = type_is_integer(from) && type_bits(from) <= room;
    return holds ? NULL : "it converts to an index, which might not hold it";
}

// Return whether an operation has the same operands where something is padded.
static bool stays(const struct padding *d, const struct ir_expr *root)
{
    const struct ir_stage *stage = &d->stage->u.stage;
    for (size_t i = 0; i < stage->iters.n && i + 1 < d->call->args.n; i++)
        if (multiple(d->call, (int)i) > 1 &&
            ir_mentions(root, stage->iters.at[i].var))
            return false;
    return !loads(root);
}

// Note what is read, and check its indices.
static void take_load(struct padding *d, struct ir_expr *x)
{
    const char *partial = partial_fault(x);
    if (partial && !stays(d, x))
        d->fault = partial;
    for (uint32_t i = 1; i < x->n && (ir_op_info(x->op)->flags & OP_LAZY); i++)
        if (loads(x->args[i]))
            d->fault = "a condition decides on what it reads";
    if (x->op != OP_load)
        return;
    if (x->u.buffer == d->store->u.store.buffer) {
        if (!ir_all_equal(x->n, x->args, d->store->u.store.index))
            d->fault = "it reads another element of its own array";
        if (!d->stage->u.stage.has_init)
            d->fault = "it reads elements that it has not written";
        return;
    }
    if (x->type.kind == TYPE_bool)
        d->fault = "it reads truth values";
    for (uint32_t i = 0; i < x->n; i++)
        if (is_padded_in(d, x->args[i]))
            d->fault = "what is padded is only a part of an index";
    vec_foreach_value(y, &d->loads)
        if (ir_expr_equal(x, y))
            return;
    vec_push(d->pass->scratch, &d->loads, x);
}

// Return whether a product has a factor that is 0 wherever an iteration
// variable is in its padded part.
static bool has_zero(const struct padding *d, const struct ir_expr *x, int iter)
{
    if (x->op == OP_mul)
        return has_zero(d, x->args[0], iter) || has_zero(d, x->args[1], iter);
    if (x->op == OP_cast)
        return has_zero(d, x->args[0], iter);
    for (uint32_t i = 0; x->op == OP_load && i < x->n; i++)
        if (iter_at(d, x->args[i]) == iter)
            return true;
    return false;
}

// Return what the stage adds to its element, or NULL.
static const struct ir_expr *addend(const struct padding *d)
{
    const struct ir_expr *x = d->store->u.store.value;
    for (uint32_t i = 0; x->op == OP_add && i < 2; i++) {
        const struct ir_expr *own = x->args[i];
        if (own->op == OP_load && own->u.buffer == d->store->u.store.buffer)
            return x->args[1 - i];
    }
    return NULL;
}

// Check that the loops are the iteration variables, in full.
static bool is_unscheduled(struct padding *d)
{
    const struct ir_stage *stage = &d->stage->u.stage;
    struct ir_block loops = sched_loops(d->pass, d->stage);
    d->path = sched_path(d->pass, d->stage);
    if (loops.n + 1 != d->path.n ||
        !sched_is_unscheduled(stage, loops.at, loops.n))
        return false;
    for (size_t i = 0; i < loops.n; i++) {
        const struct ir_for *f = &loops.at[i]->u.loop;
        if (f->axis != AXIS_serial || ir_loop_is_marked(f) || f->body.n != 1)
            return false;
    }
    return true;
}

// Check that padding adds nothing to a sum.
static bool adds_nothing(const struct sched_call *c, const struct padding *d)
{
    const struct ir_stage *stage = &d->stage->u.stage;
    for (size_t i = 0; i < stage->iters.n; i++) {
        const struct ir_expr *x = addend(d);
        if (stage->iters.at[i].is_reduce && multiple(c, (int)i) > 1 &&
            (!x || !has_zero(d, x, (int)i)))
            return false;
    }
    return true;
}

// Return whether the indices of the store are the iteration variables that
// are not the reduction's, each once.
static bool has_own_element(const struct padding *d)
{
    const struct ir_stage *stage = &d->stage->u.stage;
    uint32_t n = d->store->u.store.n;
    return n == ir_stage_selecting(stage) &&
           ir_stage_owns(stage, n, d->store->u.store.index);
}

// Check the form of the stage.
static bool check_shape(struct padding *d)
{
    struct ir_stage *stage = &d->stage->u.stage;
    d->fault = "it is no stage of one store to an element of its own";
    if (d->stage->kind != STMT_stage || stage->body.n != 1)
        return false;
    d->store = stage->body.at[0];
    if (d->store->kind != STMT_store ||
        ir_stage_reduces(stage) != stage->has_init)
        return false;
    if (!has_own_element(d))
        return false;
    d->fault = "it is scheduled already";
    if (!is_unscheduled(d))
        return false;
    d->fault = NULL;
    ir_foreach_expr_in(x, &stage->body)
        take_load(d, x);
    ir_foreach_expr_in(x, &stage->init)
        if (x->op == OP_load && !d->fault)
            d->fault = "its init reads";
    return !d->fault;
}

// Check every precondition.
static bool check(const struct sched_call *c, struct padding *d)
{
    bool good = check_shape(d);
    size_t n = good ? d->stage->u.stage.iters.n : 0;
    for (size_t i = 1; good && i < c->args.n; i++) {
        if (c->args.n == n + 1 && c->args.at[i].number >= 1)
            continue;
        return sched_refuse(c, d->stage, "to be padded", D_einsum_multiples,
                            sched_name_of(d->stage), (long long)n);
    }
    if (good && !adds_nothing(c, d)) {
        d->fault = "what it adds is no product with a 0 that pads";
        good = false;
    }
    if (good)
        return true;
    return sched_refuse(c, d->stage, "to be padded", D_einsum_shape,
                        sched_name_of(d->stage), d->fault);
}

// Declare the padded form of an array that is accessed at some indices.
static struct ir_buffer *padded(struct padding *d, struct ir_buffer *old,
                                struct ir_expr *const *index)
{
    struct arena *a = d->pass->arena;
    const char *name = arena_printf(d->pass->scratch, "%s_pad", old->name);
    struct ir_buffer *b = sched_new_buffer(d->pass, name, old, SPACE_global);
    b->shape = arena_array(a, struct ir_expr *, old->rank + 1);
    for (uint32_t i = 0; i < old->rank; i++) {
        int iter = iter_at(d, index[i]);
        b->shape[i] = iter < 0 ? old->shape[i] : d->extents[iter];
    }
    return b;
}

// Put a stage before or behind the nest, in loops over its extents.
static void put(struct sched_call *c, struct padding *d, struct ir_stmt *stage,
                bool behind)
{
    struct sched_region_dim *region =
        stage_nest_region(d->pass, &stage->u.stage);
    struct sched_place place =
        sched_place_of(d->pass, d->path.stmts[0], behind);
    stage_nest_put(d->pass, stage, &place, region);
    sched_result(c, VALUE_stage, stage);
}

// Copy an array to its padded form, if that differs.  Returns it, or NULL.
static struct ir_buffer *pad_input(struct sched_call *c, struct padding *d,
                                   const struct ir_expr *load)
{
    struct arena *a = d->pass->arena;
    bool grows = false;
    for (uint32_t i = 0; i < load->n; i++)
        grows |= grows_at(d, load->args[i]);
    if (!grows)
        return NULL;
    struct ir_buffer *from = load->u.buffer, *to = padded(d, from, load->args);
    struct ir_stmt *stage =
        stage_nest_copy(d->pass, to->name, from, to, d->stage->span);
    struct ir_stmt *store = stage->u.stage.body.at[0];
    struct ir_expr *inside = ir_bool(a, true);
    for (uint32_t i = 0; i < from->rank; i++) {
        struct ir_iter *it = &stage->u.stage.iters.at[i];
        it->extent = to->shape[i];
        if (!grows_at(d, load->args[i]))
            continue;
        int iter = iter_at(d, load->args[i]);
        struct ir_expr *end = d->stage->u.stage.iters.at[iter].extent;
        inside = ir_binary(a, OP_and, inside,
                           ir_binary(a, OP_lt, ir_read(a, it->var), end));
    }
    store->u.store.value =
        ir_select(a, inside, store->u.store.value, ir_zero(a, from->elem));
    put(c, d, stage, false);
    return to;
}

// Let the nest compute the padded result `to`.
static void pad_nest(struct padding *d, struct ir_buffer *to)
{
    struct map result = {.arena = d->pass->scratch};
    struct ir_stage *stage = &d->stage->u.stage;
    for (size_t i = 0; i < stage->iters.n; i++) {
        stage->iters.at[i].extent = d->extents[i];
        d->path.stmts[i]->u.loop.to = d->extents[i];
    }
    map_set(&result, d->store->u.store.buffer, to);
    for (size_t i = 0; i < d->loads.n; i++)
        if (d->copies.at[i])
            operands_replace(d->pass->arena, d->stage, d->loads.at[i],
                             d->copies.at[i]);
    ir_substitute_in(d->pass->arena, ir_alone(d->path.stmts[0]), NULL, &result);
}

bool sched_pad_einsum(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct padding d = {.call = c, .pass = p, .stage = sched_arg(c, 0)};
    if (!check(c, &d))
        return false;
    const struct ir_stage *stage = &d.stage->u.stage;
    d.extents = arena_array(p->arena, struct ir_expr *, stage->iters.n);
    for (size_t i = 0; i < stage->iters.n; i++) {
        struct ir_expr *by = ir_int(p->arena, multiple(c, (int)i));
        struct ir_expr *n =
            ir_binary(p->arena, OP_ceildiv, stage->iters.at[i].extent, by);
        d.extents[i] = multiple(c, (int)i) > 1 ? ir_mul(p->arena, n, by)
                                               : stage->iters.at[i].extent;
    }
    sched_hoist_arrays(p);
    struct ir_buffer *result = d.store->u.store.buffer;
    struct ir_buffer *to = padded(&d, result, d.store->u.store.index);
    for (size_t i = 0; i < d.loads.n; i++)
        vec_push(p->scratch, &d.copies, pad_input(c, &d, d.loads.at[i]));
    const char *name = arena_printf(p->scratch, "%s_crop", result->name);
    struct ir_stmt *crop = stage_nest_copy(p, name, to, result, d.stage->span);
    for (uint32_t i = 0; i < to->rank; i++) {
        int iter = iter_at(&d, d.store->u.store.index[i]);
        crop->u.stage.iters.at[i].extent = stage->iters.at[iter].extent;
    }
    pad_nest(&d, to);
    put(c, &d, crop, true);
    return true;
}
