// own_parts: gives each thread its part of local arrays that several loops over
// threads use: the first dimension becomes the position of the thread.
//
//   alloc E: f32[4096] in local
//   for k in 0..4 { for t in 0..256 @thread.x { for v in 0..4 {
//     E[k * 1024 + t * 4 + v] = X[k * 1024 + t * 4 + v]
//   } } }
//   for u in 0..256 @thread.x { for k in 0..4 { for v in 0..4 {
//     S[u] = S[u] + E[k * 1024 + u * 4 + v]
//   } } }
//     =>
//   alloc E: f32[256, 16] in local threads(1)
//   for k ... for t ... for v ... { E[t, k * 4 + v] = X[k * 1024 + t * 4 + v] }
//   for u ... for k ... for v ... { S[u] = S[u] + E[u, k * 4 + v] }
//
// `mapped`, which lets the threads run together, takes that dimension away: a
// thread has 16 elements of its own. Until then the meaning is that of one array
// for all.
//
// That is right if no thread reads what another one wrote. In each access the
// index of one dimension has to be (k * threads + t) * run + v, with 0 <= v <
// run, the same dimension, `threads` and `run` everywhere. Then thread t alone
// accesses the element. An array that all threads store alike needs no such
// dimension: each has a copy of it, as where a reduction leaves its result with
// all threads. Stages store the same value to an element, whichever thread runs
// them; each thread has to make all stores. Other arrays are refused (E0720,
// E0725). With loops over several thread axes there is a dimension for each. The
// blocks of a cluster count as threads here: each holds a part, too.

#include "passes/lower/own_parts.h"

#include "ir/accesses.h"
#include "ir/affine.h"
#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/text.h"
#include "ir/walk.h"

// The walk over the accesses of an array.
struct own_walk {
    struct own *o;
    struct facts facts;
    struct map values;                  // `let`s -> their values
    struct ir_stmt *around[AXIS_COUNT]; // the loop on each axis
    axis_set control;                   // that decides what runs
    bool is_within;                     // the block that declares the array
    bool measures;                      // the first walk: who holds what
    const struct ir_stmt *stmt;         // at which it is
};

bool own_report_shared(struct pass *p, const struct ir_buffer *b,
                       const struct ir_block *block, struct span at)
{
    diag_error(p->diags, at, D_local_between_threads, b->name);
    ir_foreach_stmt(s, block)
        if (ir_runs_together(s) && ir_block_uses(&s->u.loop.body, b))
            diag_note(p->diags, s->span, "`%s`, over %s, uses it",
                      s->u.loop.var->name, axis_name(s->u.loop.axis));
    return false;
}

// Report that the threads of a block would share the array, at a statement;
// returns false.
static bool report_shared(struct own *o, const struct ir_stmt *s)
{
    o->failed = true;
    own_report_shared(o->p, o->buffer, o->block,
                      s->span.source ? s->span : o->buffer->span);
    return diag_help(o->p->diags,
                     "let the same loops over threads be around all uses, or "
                     "put it into shared memory with set_scope");
}

// Report an access that is not certain to stay with what the thread holds;
// returns NULL.
static struct ir_expr **report_other(struct own_walk *w,
                                     const struct own_axis *at,
                                     struct ir_expr *const *index, uint32_t n)
{
    struct own *o = w->o;
    struct buf text = {0};
    if (o->failed)
        return NULL;
    o->failed = true;
    for (uint32_t d = 0; d < n; d++) {
        buf_text(&text, d ? ", " : "");
        ir_print_expr(&text, index[d]);
    }
    diag_error(o->p->diags, w->stmt->span, D_local_of_other, o->buffer->name,
               text.data);
    if (at->is_split)
        diag_note(o->p->diags, at->span,
                  "a thread of %s holds %lld elements in a row of each %lld in "
                  "dimension %u, as this says",
                  axis_name(at->axis), (long long)at->run,
                  (long long)(at->run * at->threads), at->dim);
    else
        diag_note(o->p->diags, o->buffer->span,
                  "no store says which elements a thread of %s holds, so each "
                  "has a copy of it: all threads have to make all stores",
                  axis_name(at->axis));
    diag_help(o->p->diags,
              "split and bind the loops of all its stages alike, or put it "
              "into shared memory with set_scope");
    buf_free(&text);
    return NULL;
}

// ---- Which threads store to it ----------------------------------------------

// Note a loop over threads that uses the array; its axis counts if it stores to
// it, `writes`.
static bool note_loop(struct own *o, struct ir_stmt *s, bool writes)
{
    int64_t n = 0;
    if (!ir_for_counts(&s->u.loop) || !ir_int_value(s->u.loop.to, &n))
        return report_shared(o, s);
    for (uint32_t i = 0; i < o->n; i++)
        if (o->axes[i].axis == s->u.loop.axis) {
            o->axes[i].threads =
                o->axes[i].threads < n ? n : o->axes[i].threads;
            return true;
        }
    if (writes)
        o->axes[o->n++] =
            (struct own_axis){.axis = s->u.loop.axis, .threads = n};
    return true;
}

// Note the loops over threads in a block, and below, that use the array, or
// those that store to it; `around` are the axes of loops around.
static bool note_loops(struct own *o, struct ir_block *block, axis_set around,
                       bool writes)
{
    vec_foreach_value(s, block) {
        axis_set axis = ir_runs_together(s) ? 1u << s->u.loop.axis : 0;
        if (!(writes ? ir_stmt_writes : ir_stmt_uses)(s, o->buffer))
            continue;
        if (writes && (axis & around))
            return report_shared(o, s);
        if (axis && !note_loop(o, s, writes))
            return false;
        ir_foreach_block(inner, s)
            if (!note_loops(o, inner, around | axis, writes))
                return false;
    }
    return true;
}

// Return the most threads that a loop of the kernel has on an axis; INT64_MAX
// if it is not known.
static int64_t most_threads(const struct own *o, enum axis axis)
{
    int64_t most = 1, n;
    ir_foreach_stmt(s, &o->p->kernel->body) {
        if (!ir_runs_together(s) ||
            axis_kind(s->u.loop.axis) != axis_kind(axis) ||
            axis_dimension(s->u.loop.axis) != axis_dimension(axis))
            continue;
        if (s->u.loop.axis != axis || !ir_int_value(s->u.loop.to, &n))
            n = INT64_MAX;
        most = most < n ? n : most;
    }
    return most;
}

// ---- Which elements a thread holds ------------------------------------------

// Split an index into parts * run * threads + t * run + rest; false if it is
// something else, or does not mention t.
static bool divide(struct own_walk *w, const struct own_axis *at, int64_t run,
                   struct ir_expr *index, struct affine *parts,
                   struct affine *rest)
{
    struct arena *a = w->o->p->arena;
    const struct ir_var *t = w->around[at->axis]->u.loop.var;
    struct affine form = affine_of(a, index), other;
    int64_t factor, all;
    if (form.failed || !affine_linear(a, &form, t, &factor, &other) ||
        factor != run || !num_mul(run, at->threads, &all))
        return false;
    struct affine by = affine_number(all);
    if (!affine_divide(a, &other, &by, parts, rest))
        return false;
    struct interval range = facts_range_of(&w->facts, rest);
    return range.lo >= 0 && range.hi < run;
}

// Learn from an access of which elements a thread of an axis holds them.
static void measure(struct own_walk *w, struct own_axis *at, uint32_t n,
                    struct ir_expr *const *index)
{
    struct arena *a = w->o->p->scratch;
    const struct ir_stmt *loop = w->around[at->axis];
    for (uint32_t d = 0; d < n && !at->is_split && loop; d++) {
        struct affine form = affine_of(a, index[d]), rest;
        int64_t factor;
        if (!affine_linear(a, &form, loop->u.loop.var, &factor, &rest) ||
            factor < 1)
            continue;
        at->is_split = true;
        at->dim = d;
        at->run = factor;
        at->span = w->stmt->span;
    }
}

// Return whether an access is to a copy that each thread has: its threads make
// all stores, to the same elements, and no others load.
static bool is_copied(const struct own_walk *w, const struct own_axis *at,
                      uint32_t n, struct ir_expr *const *index, bool writes)
{
    const struct ir_stmt *loop = w->around[at->axis];
    axis_set differ = w->control;
    if (!loop)
        return writes || most_threads(w->o, at->axis) <= at->threads;
    for (uint32_t d = 0; d < n; d++)
        differ |= divergence_of(&w->o->divergence, index[d]);
    return !writes || (ir_is_int_const(loop->u.loop.to, at->threads) &&
                       !(differ & 1u << at->axis));
}

// Turn the index of a dimension into that of the thread's part; false if the
// access is not certain to be of its part.
static bool take_part(struct own_walk *w, const struct own_axis *at, uint32_t n,
                      struct ir_expr **index)
{
    struct arena *a = w->o->p->arena;
    const struct ir_stmt *loop = w->around[at->axis];
    for (uint32_t d = 0; d < n; d++)
        if (!loop || (d != at->dim && ir_mentions(index[d], loop->u.loop.var)))
            return false;
    struct affine parts, rest;
    if (!divide(w, at, at->run, index[at->dim], &parts, &rest))
        return false;
    struct affine slot = affine_add(a, &rest, at->run, &parts);
    index[at->dim] = affine_expr(a, &slot, index[at->dim]->type);
    return !slot.failed;
}

// Return the indices of an access in the part of its thread, behind the
// positions of the thread; NULL in the first walk, and after errors.
static struct ir_expr **own_index(struct own_walk *w, uint32_t n,
                                  struct ir_expr *const *index, bool writes)
{
    struct own *o = w->o;
    struct arena *a = o->p->arena;
    uint32_t at = 0;
    struct ir_expr **out = arena_array(a, struct ir_expr *, o->n_split + n);
    for (uint32_t d = 0; d < n; d++)
        out[o->n_split + d] = ir_substitute(a, index[d], &w->values, NULL);
    for (uint32_t i = 0; i < o->n && !w->measures; i++) {
        struct own_axis *axis = &o->axes[i];
        bool stays = axis->is_split ? take_part(w, axis, n, out + o->n_split)
                                    : is_copied(w, axis, n, index, writes);
        if (!stays)
            return report_other(w, axis, index, n);
        if (axis->is_split)
            out[at++] = ir_read(a, w->around[axis->axis]->u.loop.var);
    }
    for (uint32_t i = 0; i < o->n && w->measures && writes; i++)
        measure(w, &o->axes[i], n, out);
    return w->measures ? NULL : out;
}

// ---- The walk ---------------------------------------------------------------

// Rewrite a load of the array.
static struct ir_expr *rewrite_load(struct arena *a, struct ir_expr *x,
                                    void *context)
{
    struct own_walk *w = context;
    struct own *o = w->o;
    if (x->op != OP_load || x->u.buffer != o->buffer)
        return x;
    uint32_t n = ir_index_count(x);
    struct ir_expr **index = own_index(w, n, x->args, false);
    if (!index)
        return x;
    return ir_at(a, ir_load(a, o->buffer, o->n_split + n, index), x->span);
}

// Look at what a statement itself does with the array.
static void visit(struct own_walk *w, struct ir_stmt *s)
{
    struct own *o = w->o;
    w->stmt = s;
    if (s->kind == STMT_store && s->u.store.buffer == o->buffer) {
        struct ir_expr **index =
            own_index(w, s->u.store.n, s->u.store.index, true);
        if (index) {
            s->u.store.index = index;
            s->u.store.n += o->n_split;
        }
    } else if (s->kind == STMT_copy || s->kind == STMT_matrix) {
        struct ir_access at[IR_ACCESSES_MOST];
        for (uint32_t i = ir_accesses(s, at); i-- > 0 && !o->failed;)
            if (at[i].buffer == o->buffer)
                report_shared(o, s);
    }
    ir_foreach_place(place, s)
        if (!o->failed)
            *place = ir_rewrite(o->p->arena, *place, rewrite_load, w);
}

static void walk(struct own_walk *w, struct ir_block *block);

// Go into a statement.
static void walk_inside(struct own_walk *w, struct ir_stmt *s)
{
    struct own *o = w->o;
    axis_set control = w->control;
    struct ir_stmt **at =
        s->kind == STMT_for ? &w->around[s->u.loop.axis] : NULL;
    struct ir_stmt *outer = at ? *at : NULL;
    if (at && w->is_within)
        *at = s;
    if (w->is_within)
        w->control |= divergence_of_control(&o->divergence, s);
    facts_foreach_inside(inner, &w->facts, s)
        walk(w, inner);
    if (at)
        *at = outer;
    w->control = control;
}

// Look at the statements of a block and below.
static void walk(struct own_walk *w, struct ir_block *block)
{
    struct own *o = w->o;
    bool was_within = w->is_within;
    w->is_within |= block == o->block;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        if (s->kind == STMT_let && ir_is_stable(s->u.let.value))
            map_set(
                &w->values, s->u.let.var,
                ir_substitute(o->p->arena, s->u.let.value, &w->values, NULL));
        if (ir_stmt_uses(s, o->buffer) && s->kind != STMT_alloc && !o->failed)
            visit(w, s);
        walk_inside(w, s);
    }
    w->is_within = was_within;
}

// Walk over the kernel.
static void walk_kernel(struct own *o, bool measures)
{
    struct arena *a = o->p->scratch;
    struct own_walk w = {.o = o, .values = {.arena = a}, .measures = measures};
    facts_start(&w.facts, a, o->p->kernel);
    walk(&w, &o->p->kernel->body);
}

// Give the array its new shape: the threads, then what each holds.
static void reshape(struct own *o)
{
    struct arena *a = o->p->arena;
    struct ir_buffer *b = o->buffer;
    uint32_t n = o->n_split;
    struct ir_expr **shape = arena_array(a, struct ir_expr *, n + b->rank);
    for (uint32_t d = 0; d < b->rank; d++)
        shape[n + d] = b->shape[d];
    for (uint32_t i = 0; i < o->n; i++) {
        const struct own_axis *at = &o->axes[i];
        int64_t extent = 0, all = at->run * at->threads;
        if (!at->is_split)
            continue;
        shape[b->threads++] = ir_int(a, at->threads);
        ir_int_value(shape[n + at->dim], &extent);
        shape[n + at->dim] = ir_int(a, (extent + all - 1) / all * at->run);
    }
    b->shape = shape;
    b->rank += n;
    b->strides = NULL;
    b->pitches = NULL;
}

// Give threads their parts of an array that loops over them share.
static enum pass_result part(struct pass *p, struct ir_block *block,
                             struct ir_stmt *alloc, axis_set around)
{
    struct own o = {
        .p = p, .alloc = alloc, .block = block, .buffer = alloc->u.buffer};
    axis_set axes = 0;
    if (!note_loops(&o, block, around, true))
        return PASS_FAILED;
    if (o.n == 0)
        return PASS_SAME;
    if (!note_loops(&o, block, around, false))
        return PASS_FAILED;
    for (uint32_t i = 0; i < o.n; i++)
        axes |= 1u << o.axes[i].axis;
    o.divergence = divergence_start(p->scratch, axes);
    divergence_find(&o.divergence, block);
    walk_kernel(&o, true);
    for (uint32_t i = 0; i < o.n; i++)
        o.n_split += o.axes[i].is_split;
    walk_kernel(&o, false);
    if (!o.failed && o.n_split)
        reshape(&o);
    return o.failed ? PASS_FAILED : PASS_CHANGED;
}

// Give threads their parts of the arrays of a block, inside of loops on some
// axes, and below.
static enum pass_result part_block(struct pass *p, struct ir_block *block,
                                   axis_set around)
{
    enum pass_result result = PASS_SAME;
    for (size_t i = 0; i < block->n && result != PASS_FAILED; i++) {
        struct ir_stmt *s = block->at[i];
        enum pass_result one = PASS_SAME;
        if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_local &&
            !s->u.buffer->threads)
            one = part(p, block, s, around);
        result = one != PASS_SAME ? one : result;
        axis_set inside =
            around | (s->kind == STMT_for ? 1u << s->u.loop.axis : 0);
        ir_foreach_block(inner, s) {
            if (result == PASS_FAILED)
                break;
            one = part_block(p, inner, inside);
            result = one != PASS_SAME ? one : result;
        }
    }
    return result;
}

enum pass_result pass_own_parts(struct pass *p)
{
    return part_block(p, &p->kernel->body, 0);
}
