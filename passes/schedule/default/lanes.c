// How many consecutive elements of a nest a thread can take at once.
//
//   for i { for j { stage C { C[i, j] = A[i, j] + b[j] } } }   4 of f32
//
// All accesses are to the same element as the store, or to rows of other arrays
// whose lengths hold whole vectors.

#include "passes/schedule/default/lanes.h"

#include "ir/accesses.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"
#include "passes/schedule/common/move.h"

enum { VECTOR_BYTES = 16, LANES_MOST = 16 };

// What the accesses of a stage allow.
struct contiguity {
    struct pass *p;
    struct ir_stmt *nest, *own; // and the statement of the stage
    const struct ir_stage *stage;
    const struct ir_stmt *store;
    size_t bytes; // of the largest element
    int64_t lanes;
    struct facts facts;
    bool has_rows; // some access is to rows of another array
    bool broken;   // some access is not to consecutive elements
};

// Return whether an expression mentions an iteration variable.
static bool mentions_iter(const struct ir_stage *stage, const struct ir_expr *x)
{
    for (size_t i = 0; i < stage->iters.n; i++)
        if (ir_mentions(x, stage->iters.at[i].var))
            return true;
    return false;
}

// Return whether a load is at the index of the store, in an array of the
// same shape.
static bool is_aligned_with(const struct ir_expr *load,
                            const struct ir_stmt *store)
{
    const struct ir_buffer *a = load->u.buffer, *b = store->u.store.buffer;
    return a->rank == b->rank && !a->strides &&
           ir_all_equal(a->rank, load->args, store->u.store.index) &&
           ir_all_equal(a->rank, a->shape, b->shape);
}

// Return whether vectors never reach over the end of a row.
static bool has_whole_rows(const struct contiguity *c,
                           const struct ir_buffer *b)
{
    struct affine row = affine_of(c->facts.arena, b->shape[b->rank - 1]);
    return facts_multiple(&c->facts, &row, c->lanes);
}

// Return whether a load takes whole vectors from rows of an array, whose
// length is a multiple of them.
static bool is_row(const struct contiguity *c, const struct ir_expr *load)
{
    uint32_t last = load->n - 1;
    const struct ir_buffer *b = load->u.buffer;
    const struct ir_var *v = c->stage->iters.at[c->stage->iters.n - 1].var;
    return !b->strides && !ir_any_mentions(last, load->args, v) &&
           load->args[last]->op == OP_var && load->args[last]->u.var == v &&
           has_whole_rows(c, b);
}

// Check a node of the stage's value.
static void check_node(struct contiguity *c, struct ir_expr *x)
{
    unsigned flags = ir_op_info(x->op)->flags;
    if (flags & (OP_LAZY | OP_WRITES))
        c->broken = true;
    if (x->op != OP_load)
        return;
    bool moves = false;
    for (uint32_t i = 0; i < x->n; i++)
        moves |= mentions_iter(c->stage, x->args[i]);
    if (!moves || is_aligned_with(x, c->store))
        return;
    c->has_rows = true;
    c->broken |= !is_row(c, x);
}

// Return whether a statement stores to its stage's iteration variables.
static bool is_plain_store(const struct ir_stage *stage,
                           const struct ir_stmt *s)
{
    return s->kind == STMT_store && !s->u.store.buffer->strides &&
           s->u.store.n == stage->iters.n &&
           sched_is_own_index(stage, s->u.store.n, s->u.store.index);
}

// Return whether nothing but a nest uses the arrays of its stage.
static bool is_alone(const struct contiguity *c)
{
    struct pass *p = c->p;
    struct ir_block body = p->kernel->body;
    struct sched_buffers used = sched_inputs_of(p, c->own);
    vec_push(p->scratch, &used, c->store->u.store.buffer);
    for (size_t i = 0; i < body.n; i++)
        for (size_t k = 0; k < used.n && body.at[i] != c->nest; k++)
            if (ir_stmt_uses(body.at[i], used.at[k]))
                return false;
    return true;
}

// Return whether the elements of a stage lie in one run, or in rows of whole
// vectors: pass `collapse` sees the run where no other nest has rows of it.
static bool is_run(const struct contiguity *c)
{
    const struct ir_buffer *b = c->store->u.store.buffer;
    return b->rank <= 1 || has_whole_rows(c, b) ||
           (!c->has_rows && is_alone(c));
}

// Return the elements of 16 bytes that a thread can take over all loops of a
// stage; 1 for no vector.
static int64_t choose(struct pass *p, struct ir_stmt *const *loops, size_t n,
                      struct ir_stmt *own)
{
    struct ir_stage *stage = &own->u.stage;
    struct ir_stmt *store = stage->body.at[0];
    if (stage->body.n != 1 || !sched_is_unscheduled(stage, loops, n) ||
        !is_plain_store(stage, store))
        return 1;
    struct contiguity c = {
        .p = p, .nest = loops[0], .own = own, .stage = stage, .store = store};
    c.bytes = type_bytes(store->u.store.buffer->elem);
    ir_foreach_expr(e, store->u.store.value)
        if (e->op == OP_load && type_bytes(e->u.buffer->elem) > c.bytes)
            c.bytes = type_bytes(e->u.buffer->elem);
    c.lanes = VECTOR_BYTES / (int64_t)c.bytes;
    c.lanes = c.lanes > LANES_MOST ? LANES_MOST : c.lanes;
    facts_start(&c.facts, p->scratch, p->kernel);
    ir_foreach_expr(x, store->u.store.value)
        check_node(&c, x);
    return c.broken || c.lanes < 2 || !is_run(&c) ? 1 : c.lanes;
}

int64_t lanes_allowed(struct pass *p, struct ir_stmt *const *loops, size_t n)
{
    int64_t least = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const struct ir_block *body = &loops[i]->u.loop.body;
        if (body->n != 1 || body->at[0] != loops[i + 1])
            return 0;
    }
    for (size_t i = 0; n && i < loops[n - 1]->u.loop.body.n; i++) {
        struct ir_stmt *own = loops[n - 1]->u.loop.body.at[i];
        if (own->kind != STMT_stage || own->u.stage.has_init)
            return 0;
        int64_t lanes = choose(p, loops, n, own);
        least = i && least < lanes ? least : lanes;
    }
    return least;
}
