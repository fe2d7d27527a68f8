// barriers: every barrier must be reached by all threads of a block, or none.
//
//   if thread.x < 32 { barrier }      // E0702
//
// A value is divergent if threads of one block may see it differ: it comes
// from a position in the block, an atomic, or a variable or local array that
// was given such a value, or was written where not all threads are.  An
// element of other memory is the same for all if its index is.

#include "ir/base/map.h"
#include "ir/walk.h"
#include "passes/pass.h"

// The search in one launch.
struct divergence {
    struct pass *p;
    const struct ir_launch *launch;
    struct map divergent;     // variables and local arrays -> non-NULL
    const struct ir_stmt *at; // innermost divergent control around, or NULL
    bool changed;             // something became divergent in this round
    bool failed;              // a barrier was reported
};

// What is asked about an expression.
struct question {
    const struct divergence *d;
    bool is_divergent;
};

// Look for a source of divergence.
static void see_source(struct ir_expr *x, void *context)
{
    struct question *q = context;
    unsigned flags = ir_op_info(x->op)->flags;
    if (x->op == OP_index)
        q->is_divergent |= axis_kind(x->u.axis) == AXIS_THREAD &&
                           q->d->launch->block[axis_dimension(x->u.axis)] > 1;
    if (x->op == OP_var)
        q->is_divergent |= map_has(&q->d->divergent, x->u.var);
    if (flags & OP_READS)
        q->is_divergent |=
            (flags & OP_WRITES) || map_has(&q->d->divergent, x->u.buffer);
}

// Return whether threads may see an expression differ.
static bool is_divergent(const struct divergence *d, const struct ir_expr *x)
{
    struct question q = {.d = d};
    ir_each_expr((struct ir_expr *)x, see_source, &q);
    return q.is_divergent;
}

// Note that a variable or array is divergent.
static void spread(struct divergence *d, const void *what)
{
    if (map_has(&d->divergent, what))
        return;
    map_set(&d->divergent, what, d);
    d->changed = true;
}

// Look at a store to a local array.
static void see_store(struct divergence *d, const struct ir_stmt *s)
{
    bool divergent = d->at || is_divergent(d, s->u.store.value);
    for (uint32_t i = 0; i < s->u.store.n; i++)
        divergent |= is_divergent(d, s->u.store.index[i]);
    if (divergent && s->u.store.buffer->space == SPACE_local)
        spread(d, s->u.store.buffer);
}

// Report a barrier under divergent control.
static void see_barrier(struct divergence *d, const struct ir_stmt *s)
{
    bool is_loop = d->at->kind == STMT_for;
    diag_error(d->p->diags, s->span, D_barrier_divergent);
    diag_note(d->p->diags,
              is_loop ? d->at->u.loop.to->span : d->at->u.branch.cond->span,
              is_loop ? "threads leave the loop here at different times"
                      : "threads part here");
    d->failed = true;
}

// Return whether a loop or branch lets threads part.
static bool parts(const struct divergence *d, const struct ir_stmt *s)
{
    if (s->kind == STMT_if)
        return is_divergent(d, s->u.branch.cond);
    return s->kind == STMT_for &&
           (is_divergent(d, s->u.loop.from) || is_divergent(d, s->u.loop.to) ||
            is_divergent(d, s->u.loop.step));
}

// Walk a block: spread divergence, or, if `report`, report barriers.
static void walk(struct divergence *d, struct ir_block *block, bool report)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        struct ir_block *inside[IR_BLOCKS_MOST];
        const struct ir_stmt *around = d->at;
        bool assigns = s->kind == STMT_let || s->kind == STMT_var ||
                       s->kind == STMT_assign;
        if (parts(d, s))
            d->at = s;
        if (s->kind == STMT_for && d->at == s)
            spread(d, s->u.loop.var);
        if (assigns && (d->at || is_divergent(d, s->u.let.value)))
            spread(d, s->u.let.var);
        if (s->kind == STMT_store)
            see_store(d, s);
        if (s->kind == STMT_barrier && report && d->at)
            see_barrier(d, s);
        uint32_t n = ir_stmt_blocks(s, inside);
        for (uint32_t k = 0; k < n; k++)
            walk(d, inside[k], report);
        d->at = around;
    }
}

enum pass_result pass_barriers(struct pass *p)
{
    bool failed = false;
    for (size_t i = 0; i < p->kernel->body.n; i++) {
        struct ir_stmt *s = p->kernel->body.at[i];
        if (s->kind != STMT_launch)
            continue;
        struct divergence d = {.p = p,
                               .launch = &s->u.launch,
                               .divergent = {.arena = p->scratch},
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
