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

// Return where threads of a launch write an array first; none: nowhere.
static struct span written_at(const struct ir_launch *launch,
                              const struct ir_buffer *array)
{
    ir_foreach_stmt(s, &launch->body)
        if (s->kind == STMT_store && s->u.store.buffer == array)
            return s->span;
    ir_foreach_expr_in(x, &launch->body)
        if (ir_op_info(x->op)->flags & OP_WRITES && x->u.buffer == array)
            return x->span;
    return (struct span){0};
}

// Report the first load by TMA from what threads of the launch write.
static bool check_launch(struct pass *p, const struct ir_launch *launch)
{
    ir_foreach_stmt(s, &launch->body) {
        if (!ir_is_tma_copy(s) || !s->u.copy.is_load)
            continue;
        const struct ir_buffer *array = ir_copy_source(&s->u.copy);
        struct span at = written_at(launch, array);
        if (!at.source)
            continue;
        diag_error(p->diags, s->span, D_proxy_conflict, array->name);
        diag_note(p->diags, at, "written here");
        diag_help(p->diags, "keep the two in nests of their own on top of the "
                            "kernel, which become launches");
        return false;
    }
    return true;
}

enum pass_result pass_proxy_check(struct pass *p)
{
    struct ir_block *body = &p->kernel->body;
    for (size_t i = 0; i < body->n; i++)
        if (body->at[i]->kind == STMT_launch &&
            !check_launch(p, &body->at[i]->u.launch))
            return PASS_FAILED;
    return PASS_SAME;
}
