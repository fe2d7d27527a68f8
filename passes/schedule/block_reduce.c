// Shares each reduction among the threads of a block.
//
//   for i @block.x {
//     for j in 0..n { stage S(vi = i, reduce vj = j) {
//         init { S[vi] = 0 }
//         S[vi] = S[vi] + X[vi, vj]
//     } }
//   }
//     =>
//   for i @block.x {
//     alloc S_part: f32[256] in shared
//     for t in 0..256 @thread.x {
//       var S_own: f32 = 0
//       for j in t..n step 256 { S_own = S_own + X[i, j] }
//       S_part[t] = S_own
//       barrier
//       for k in 0..8 {
//         let half = 128 >> k
//         if t < half { S_part[t] = S_part[t] + S_part[t + half] }
//         barrier
//       }
//       if t == 0 { S[i] = S_part[0] }
//     }
//   }
//
// This is for reductions along rows of memory, which a thread for each row
// would read with gaps.  The operations may be done in any order, and their
// order does not depend on anything but the size.

#include "passes/schedule/block_reduce.h"

#include "ir/affine.h"
#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"

enum {
    THREADS = 256,        // of a block
    THREADS_ALONE = 1024, // of the only one
    THREADS_LEAST = 32,   // rows up to this length are left to one thread
    LONG_ROW = 128,       // and rows of unknown length up to this one
};

// Note a variable other than a parameter.
static void see_local(struct ir_expr *x, void *context)
{
    *(bool *)context |= x->op == OP_var && x->u.var->kind != VAR_param;
}

// Return whether a loop is serial, counts from 0 in steps of 1, and ends at
// what the parameters say.
static bool is_plain_loop(const struct ir_for *f)
{
    bool varies = !ir_is_pure(f->to, true);
    ir_each_expr(f->to, see_local, &varies);
    return !varies && f->axis == AXIS_serial && f->attrs.n == 0 &&
           ir_is_int_const(f->from, 0) && ir_is_int_const(f->step, 1);
}

// Find the loops and the stage of a nest of nothing else.
static bool find_loops(struct pass *p, struct ir_stmt *nest,
                       struct block_reduction *r)
{
    struct VEC(struct ir_stmt *) loops = {0};
    for (; nest->kind == STMT_for; nest = nest->u.loop.body.at[0]) {
        if (nest->u.loop.body.n != 1 || !is_plain_loop(&nest->u.loop))
            return false;
        vec_push(p->scratch, &loops, nest);
    }
    r->loops = loops.at;
    r->n = loops.n;
    r->stage = nest;
    if (nest->kind != STMT_stage || nest->u.stage.attrs.n ||
        !sched_is_unscheduled(&nest->u.stage, loops.at, loops.n))
        return false;
    for (size_t i = 0; i < r->n; i++) {
        bool reduces = nest->u.stage.iters.at[i].is_reduce;
        if (!reduces && r->elements != i)
            return false;
        r->elements += !reduces;
    }
    return r->elements < r->n;
}

// Return whether a block is one store to the stage's own element.
static bool is_own_store(const struct block_reduction *r,
                         const struct ir_block *block)
{
    const struct ir_stmt *s = block->n == 1 ? block->at[0] : NULL;
    return s && s->kind == STMT_store && !s->u.store.buffer->strides &&
           s->u.store.buffer->space == SPACE_global &&
           s->u.store.n == r->elements &&
           sched_is_own_index(&r->stage->u.stage, s->u.store.n,
                              s->u.store.index);
}

// Return whether starting from a constant once or once in each thread is the
// same: the operation takes it as its identity, or takes it once only.
static bool can_repeat(enum ir_op op, const struct ir_expr *start)
{
    if (op == OP_min || op == OP_max || op == OP_or || op == OP_and)
        return true;
    double value = type_is_float(start->type) ? start->u.f : (double)start->u.i;
    return (op == OP_add && value == 0) || (op == OP_mul && value == 1);
}

// What a stage adds to an element: the context of see_read.
struct operand {
    const struct block_reduction *reduction;
    struct pass *pass;
    const struct ir_buffer *result;
    bool along;  // some load is contiguous in the innermost loop
    bool across; // some load is contiguous in a loop over elements
    bool again;  // some load is from the result
};

// Return whether the indices of a load mention what the stage reduces.
static bool is_reduced(const struct block_reduction *r,
                       const struct ir_expr *load)
{
    for (size_t i = r->elements; i < r->n; i++) {
        if (ir_mentions(load, r->stage->u.stage.iters.at[i].var))
            return true;
    }
    return false;
}

// Return whether the next number of a loop is the next element of a load.
static bool is_next(const struct operand *o, const struct ir_expr *load,
                    size_t loop)
{
    const struct ir_buffer *b = load->u.buffer;
    struct arena *a = o->pass->scratch;
    uint32_t last = load->n - 1;
    struct affine form = affine_of(a, load->args[last]), rest;
    int64_t factor;
    return (!b->strides || ir_is_int_const(b->strides[last], 1)) &&
           affine_linear(a, &form,
                         o->reduction->stage->u.stage.iters.at[loop].var,
                         &factor, &rest) &&
           factor == 1;
}

// Check a load of what the stage adds.
static void see_read(struct ir_expr *x, void *context)
{
    struct operand *o = context;
    const struct block_reduction *r = o->reduction;
    if (x->op != OP_load)
        return;
    o->again |= x->u.buffer == o->result;
    if (x->n == 0 || !is_reduced(r, x))
        return;
    for (size_t i = 0; i < r->elements; i++)
        o->across |= is_next(o, x, i);
    o->along |= is_next(o, x, r->n - 1);
}

// Return which operand of the stage's value is its own element so far; -1 if
// none is.
static int own_operand(const struct block_reduction *r,
                       const struct ir_stmt *store)
{
    const struct ir_expr *value = store->u.store.value;
    for (int i = 0; value->n == 2 && i < 2; i++) {
        const struct ir_expr *x = value->args[i];
        if (x->op == OP_load && x->u.buffer == store->u.store.buffer &&
            sched_is_own_index(&r->stage->u.stage, x->n, x->args))
            return i;
    }
    return -1;
}

// Return whether the stage combines its element with something that is
// contiguous in the innermost loop, by an operation that allows any order.
static bool is_reduction(struct pass *p, const struct block_reduction *r)
{
    const struct ir_stage *stage = &r->stage->u.stage;
    if (!is_own_store(r, &stage->body) || !stage->has_init ||
        !is_own_store(r, &stage->init))
        return false;
    const struct ir_stmt *store = stage->body.at[0], *init = stage->init.at[0];
    const struct ir_expr *value = store->u.store.value;
    int own = own_operand(r, store);
    if (own < 0 || init->u.store.buffer != store->u.store.buffer ||
        !ir_is_const(init->u.store.value) ||
        !can_repeat(value->op, init->u.store.value) ||
        !ir_is_pure(value, false))
        return false;
    struct operand o = {r, p, store->u.store.buffer, false, false, false};
    ir_each_expr(value->args[1 - own], see_read, &o);
    return o.along && !o.across && !o.again;
}

// Return how many iterations loops have, or `unknown`.
static int64_t count(struct ir_stmt *const *loops, size_t n, int64_t unknown)
{
    int64_t total = 1, extent;
    for (size_t i = 0; i < n; i++) {
        if (!ir_int_value(loops[i]->u.loop.to, &extent) ||
            !num_mul(total, extent, &total))
            return unknown;
    }
    return total;
}

// Add to the kernel's guard, once, that there is much to reduce.
static void guard_length(struct pass *p, const struct block_reduction *r)
{
    struct ir_expr *length = ir_int(p->arena, 1);
    for (size_t i = r->elements; i < r->n; i++)
        length = ir_mul(p->arena, length, r->loops[i]->u.loop.to);
    struct ir_expr *is_long =
        ir_binary(p->arena, OP_gt, length, ir_int(p->arena, LONG_ROW));
    struct ir_conditions *guard = &p->kernel->guard;
    for (size_t i = 0; i < guard->n; i++) {
        if (ir_expr_equal(guard->at[i], is_long))
            return;
    }
    vec_push(p->arena, guard, is_long);
}

bool block_reduce_find(struct pass *p, struct ir_stmt *nest, bool long_rows,
                       struct block_reduction *out)
{
    struct block_reduction r = {0};
    if (!find_loops(p, nest, &r) || !is_reduction(p, &r) ||
        count(r.loops, r.elements, 1) > axis_most(AXIS_block_x))
        return false;
    bool alone = count(r.loops, r.elements, 2) <= 1;
    int64_t length = count(r.loops + r.elements, r.n - r.elements,
                           long_rows || alone ? INT64_MAX : 0);
    if (length == INT64_MAX && !alone)
        guard_length(p, &r);
    *out = r;
    return length > THREADS_LEAST;
}

// The reduction while it is rewritten.
struct rewrite {
    struct pass *pass;
    const struct ir_stmt *store; // of the stage
    struct span span;            // of the stage
    struct map values;           // of the stage's variables
    int64_t threads;             // a power of two
    struct ir_buffer *part;      // what each thread has reduced
    struct ir_var *thread;       // the number of the thread
};

// Append a statement that stands for the stage.
static struct ir_stmt *add(const struct rewrite *w, struct ir_block *to,
                           struct ir_stmt *s)
{
    s->span = w->span;
    ir_append(w->pass->arena, to, s);
    return s;
}

// Make a variable.
static struct ir_var *new_var(const struct rewrite *w, const char *name,
                              struct type type, enum var_kind kind)
{
    return ir_var_new(w->pass->arena, str_name(w->pass->names, name), type,
                      kind, w->span);
}

// Let the stage's variables `from` to `to` stand for their bindings; those
// that are computed get a `let`.
static void bind_iters(struct rewrite *w, const struct ir_stage *stage,
                       size_t from, size_t to, struct ir_block *block)
{
    for (size_t i = from; i < to; i++) {
        const struct ir_iter *it = &stage->iters.at[i];
        struct ir_expr *value = it->binding;
        if (value->n) {
            struct ir_var *var =
                new_var(w, it->var->name, it->var->type, VAR_let);
            add(w, block, ir_stmt_let(w->pass->arena, var, value));
            value = ir_read(w->pass->arena, var);
        }
        map_set(&w->values, it->var, value);
    }
}

// Return what the stage's operation makes of two values, of which `own` takes
// the place of its element and `other`, unless NULL, that of the other operand.
// An operation that may not evaluate its second operand gets `own` there, so
// that loads need not wait for one another.
static struct ir_expr *combine(const struct rewrite *w,
                               const struct block_reduction *r,
                               struct ir_expr *own, struct ir_expr *other)
{
    struct arena *a = w->pass->arena;
    const struct ir_expr *value = w->store->u.store.value;
    int was = own_operand(r, w->store);
    int at = ir_op_info(value->op)->flags & OP_LAZY ? 1 : was;
    struct ir_expr *args[2];
    if (!other)
        other = ir_substitute(a, value->args[1 - was], &w->values, NULL);
    args[at] = own;
    args[1 - at] = other;
    return ir_with_args(a, value, args);
}

// Return a thread's part.
static struct ir_expr *load_part(const struct rewrite *w,
                                 struct ir_expr *thread)
{
    return ir_load(w->pass->arena, w->part, 1, &thread);
}

// Let each thread reduce its share: every so many elements of the innermost
// loop.
static void add_share(struct rewrite *w, const struct block_reduction *r,
                      struct ir_block *to)
{
    struct arena *a = w->pass->arena;
    const struct ir_stage *stage = &r->stage->u.stage;
    struct ir_expr *thread = ir_read(a, w->thread);
    struct ir_for *innermost = &r->loops[r->n - 1]->u.loop;
    const char *name = arena_printf(w->pass->scratch, "%s_own", stage->name);
    struct ir_var *own = new_var(w, name, w->part->elem, VAR_mutable);
    add(w, to, ir_stmt_let(a, own, stage->init.at[0]->u.store.value));
    innermost->from = thread;
    innermost->step = ir_int(a, w->threads);
    innermost->body = (struct ir_block){0};
    bind_iters(w, stage, r->elements, stage->iters.n, &innermost->body);
    add(w, &innermost->body,
        ir_stmt_assign(a, own, combine(w, r, ir_read(a, own), NULL)));
    ir_append(a, to, r->loops[r->elements]);
    add(w, to, ir_stmt_store(a, w->part, 1, &thread, ir_read(a, own)));
    add(w, to, ir_stmt_barrier(a));
}

// Combine the parts of one half of the threads with those of the other until
// one is left.
static void add_tree(const struct rewrite *w, const struct block_reduction *r,
                     struct ir_block *to)
{
    struct arena *a = w->pass->arena;
    struct type type = type_scalar(TYPE_int);
    struct ir_var *step = new_var(w, "k", type, VAR_loop);
    struct ir_var *half = new_var(w, "half", type, VAR_let);
    struct ir_expr *thread = ir_read(a, w->thread), *size = ir_read(a, half);
    struct ir_expr *other = load_part(w, ir_add(a, thread, size));
    struct ir_expr *both = combine(w, r, load_part(w, thread), other);
    int64_t steps = 0;
    while (1 << steps < w->threads)
        steps++;
    struct ir_stmt *loop =
        add(w, to, sched_new_loop(w->pass, step, ir_int(a, steps), w->span));
    struct ir_block *body = &loop->u.loop.body;
    add(w, body,
        ir_stmt_let(
            a, half,
            ir_binary(a, OP_shr, ir_int(a, w->threads / 2), ir_read(a, step))));
    struct ir_stmt *branch =
        add(w, body, ir_stmt_if(a, ir_binary(a, OP_lt, thread, size)));
    add(w, &branch->u.branch.then, ir_stmt_store(a, w->part, 1, &thread, both));
    add(w, body, ir_stmt_barrier(a));
}

// Let the first thread store the element.
static void add_store(const struct rewrite *w, struct ir_block *to)
{
    struct arena *a = w->pass->arena;
    struct ir_expr *zero = ir_int(a, 0);
    struct ir_stmt *branch = add(
        w, to, ir_stmt_if(a, ir_binary(a, OP_eq, ir_read(a, w->thread), zero)));
    uint32_t n = w->store->u.store.n;
    struct ir_expr **index = arena_array(a, struct ir_expr *, n);
    for (uint32_t i = 0; i < n; i++)
        index[i] =
            ir_substitute(a, w->store->u.store.index[i], &w->values, NULL);
    add(w, &branch->u.branch.then,
        ir_stmt_store(a, w->store->u.store.buffer, n, index,
                      load_part(w, zero)));
}

// Fuse the innermost loop with the one around it as long as it is known to
// have too few iterations for the threads.
static bool fuse_short(struct sched_call *c, struct block_reduction *r,
                       int64_t threads)
{
    while (r->n - r->elements > 1 &&
           count(&r->loops[r->n - 1], 1, threads) < threads) {
        struct sched_call fuse = sched_call_to(c, PRIM_fuse);
        sched_add_loop(&fuse, r->loops[r->n - 2]);
        sched_add_loop(&fuse, r->loops[r->n - 1]);
        if (!sched_run(&fuse))
            return false;
        r->loops[--r->n - 1] = fuse.results.at[0].stmt;
    }
    return true;
}

// Return how many threads share the innermost loop: no more than it has
// iterations.
static int64_t choose_threads(const struct block_reduction *r, int64_t most)
{
    int64_t extent = count(&r->loops[r->n - 1], 1, most);
    int64_t threads = THREADS_LEAST;
    while (threads < extent && threads < most)
        threads *= 2;
    return threads;
}

// Make the array of the threads' parts.
static struct ir_buffer *new_part(struct pass *p, const struct ir_buffer *of,
                                  int64_t threads)
{
    const char *name = arena_printf(p->scratch, "%s_part", of->name);
    struct ir_expr **shape = arena_array(p->arena, struct ir_expr *, 1);
    shape[0] = ir_int(p->arena, threads);
    struct ir_buffer *b =
        ir_buffer_new(p->arena, str_name(p->names, name), of->elem, 1, shape);
    b->space = SPACE_shared;
    b->span = of->span;
    return b;
}

bool block_reduce_spread(struct sched_call *c,
                         const struct block_reduction *reduction)
{
    struct pass *p = c->pass;
    struct block_reduction r = *reduction;
    struct ir_stage *stage = &r.stage->u.stage;
    bool alone = count(r.loops, r.elements, 2) <= 1;
    int64_t most = alone ? THREADS_ALONE : THREADS;
    if (!fuse_short(c, &r, most))
        return false;
    struct rewrite w = {.pass = p, .store = stage->body.at[0]};
    w.span = r.stage->span;
    w.values.arena = p->scratch;
    w.threads = choose_threads(&r, most);
    w.part = new_part(p, w.store->u.store.buffer, w.threads);
    w.thread = new_var(&w, "t", type_scalar(TYPE_int), VAR_loop);
    struct ir_path path = sched_path(p, r.loops[r.elements]);
    struct ir_block out = {0};
    bind_iters(&w, stage, 0, r.elements, &out);
    add(&w, &out, ir_stmt_alloc(p->arena, w.part));
    struct ir_stmt *threads =
        add(&w, &out,
            sched_new_loop(p, w.thread, ir_int(p->arena, w.threads), w.span));
    threads->u.loop.axis = AXIS_thread_x;
    add_share(&w, &r, &threads->u.loop.body);
    add_tree(&w, &r, &threads->u.loop.body);
    add_store(&w, &threads->u.loop.body);
    ir_splice(p->arena, path.blocks[path.n - 1], path.index[path.n - 1], &out);
    return true;
}
