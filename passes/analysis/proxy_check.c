// proxy_check: refuses TMA copies from arrays in global memory that threads of
// the same launch write. TMA sees such writes only from the next launch on.
//
//   launch f { W[block.x] = A[block.x]
//              tma_load S[0] = W_map[0] signals full[0] }   // E0856
//
// Within a launch, the writing thread would need a proxy fence, and the copying
// thread would have to wait for it; `fence_async` is for shared memory alone.

#include "ir/accesses.h"
#include "ir/walk.h"
#include "passes/pass.h"

// The search in one launch.
struct search {
    struct pass *p;
    struct ir_launch *launch;
    bool failed;
};

// Where an array is written by a thread.
struct writing {
    const struct ir_buffer *array;
    struct span span; // of the first place; none: nowhere
};

// Note a store.
static void see_store(struct ir_stmt *s, void *context)
{
    struct writing *w = context;
    if (!w->span.source && s->kind == STMT_store &&
        s->u.store.buffer == w->array)
        w->span = s->span;
}

// Note an atomic.
static void see_atomic(struct ir_expr *x, void *context)
{
    struct writing *w = context;
    if (!w->span.source && ir_op_info(x->op)->flags & OP_WRITES &&
        x->u.buffer == w->array)
        w->span = x->span;
}

// Report a load by TMA from what threads of the launch write.
static void see_load(struct ir_stmt *s, void *context)
{
    struct search *search = context;
    if (s->kind != STMT_copy || !s->u.copy.is_load || search->failed)
        return;
    struct writing w = {.array = ir_copy_source(&s->u.copy)};
    ir_each_stmt(&search->launch->body, see_store, &w);
    ir_each_expr_in(&search->launch->body, see_atomic, &w);
    if (!w.span.source)
        return;
    search->failed = true;
    diag_error(search->p->diags, s->span, D_proxies_meet, w.array->name);
    diag_note(search->p->diags, w.span, "written here");
    diag_help(search->p->diags, "keep the two in nests of their own on top of "
                                "the kernel, which become launches");
}

enum pass_result pass_proxy_check(struct pass *p)
{
    struct search search = {.p = p};
    struct ir_block *body = &p->kernel->body;
    for (size_t i = 0; i < body->n; i++) {
        if (body->at[i]->kind != STMT_launch)
            continue;
        search.launch = &body->at[i]->u.launch;
        ir_each_stmt(&search.launch->body, see_load, &search);
    }
    return search.failed ? PASS_FAILED : PASS_SAME;
}
