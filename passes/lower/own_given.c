// Stores of a kernel's own text to arrays that each thread has for itself.
//
//   alloc h: f32[1] in local
//   for t in 0..32 @thread.x { h[0] = X[t] }     // refused: E0720
//   for u in 0..32 @thread.x { Y[u] = h[0] }
//
// Until the threads run together there is one array for all, and one thread
// after the other stores to it. A stage stores the same value to an element,
// whichever thread runs it; what a text stores itself has to: otherwise the
// index has to depend on the thread.

#include "passes/lower/own_parts.h"

#include "ir/foreach.h"
#include "ir/walk.h"

// The walk.
struct given_walk {
    struct pass *p;
    struct divergence divergence;
    struct map around; // array -> the thread axes around its declaration
    bool failed;
};

// Return the axes that an array is declared inside of.
static axis_set axes_around(const struct given_walk *w,
                            const struct ir_buffer *b)
{
    return (axis_set)(uintptr_t)map_get(&w->around, b);
}

// Look at a store inside of loops on some thread axes.
static void check_store(struct given_walk *w, const struct ir_stmt *s,
                        axis_set around)
{
    const struct ir_buffer *b = s->u.store.buffer;
    axis_set shares = around & ~axes_around(w, b);
    for (uint32_t i = 0; i < s->u.store.n; i++)
        shares &= ~divergence_of(&w->divergence, s->u.store.index[i]);
    if (b->space != SPACE_local ||
        !(shares & divergence_of(&w->divergence, s->u.store.value)))
        return;
    w->failed = true;
    diag_error(w->p->diags, b->span, D_local_between_threads, b->name);
    diag_note(w->p->diags, s->span,
              "threads store different values to one element of it here");
    diag_help(w->p->diags,
              "give it a dimension that the loop over threads indexes, or "
              "declare it inside of that loop");
}

// Look at the stores of a block, but for those of stages.
static void walk(struct given_walk *w, struct ir_block *block, axis_set around)
{
    vec_foreach_value(s, block) {
        axis_set inside = around;
        if (w->failed || s->kind == STMT_stage)
            continue;
        if (s->kind == STMT_alloc)
            map_set(&w->around, s->u.buffer, (void *)(uintptr_t)around);
        if (s->kind == STMT_store)
            check_store(w, s, around);
        if (ir_runs_together(s))
            inside |= 1u << s->u.loop.axis;
        ir_foreach_block(inner, s)
            walk(w, inner, inside);
    }
}

bool own_check_given(struct pass *p)
{
    struct given_walk w = {.p = p, .around = {.arena = p->scratch}};
    axis_set axes = 0;
    bool any = false;
    ir_foreach_stmt(s, &p->kernel->body) {
        any |= s->kind == STMT_alloc && s->u.buffer->space == SPACE_local;
        if (ir_runs_together(s))
            axes |= 1u << s->u.loop.axis;
    }
    if (!any)
        return true;
    w.divergence = divergence_start(p->scratch, axes);
    divergence_find(&w.divergence, &p->kernel->body);
    walk(&w, &p->kernel->body, 0);
    return !w.failed;
}
