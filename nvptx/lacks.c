// What a target does otherwise than a directive says, for lack of an
// instruction: a directive does what it says, is refused, or is warned of.

#include "nvptx/emit.h"

#include "ir/walk.h"

#include <string.h>

// A search in the kernels of a target.
struct lacks {
    const struct nvptx_target *target;
    struct diag_list *diags;
};

// Return whether two diagnostics say the same of one place.
static bool is_same(const struct diag *x, const struct diag *y)
{
    bool is_there =
        x->span.source == y->span.source && x->span.from == y->span.from;
    return is_there && x->code == y->code && strcmp(x->text, y->text) == 0;
}

// Warn at a place, unless that was done already: of another variant, of
// another of the stores that one directive makes, or of another image.
static void warn(const struct lacks *l, struct span by, const char *name)
{
    struct diag_list own = {.arena = l->diags->arena};
    diag_warning(&own, by, D_async_target, name, l->target->name);
    const struct diag *new = &own.all.at[0];
    for (size_t i = 0; i < l->diags->all.n; i++) {
        if (is_same(&l->diags->all.at[i], new))
            return;
    }
    vec_push(l->diags->arena, &l->diags->all, *new);
}

// Note a store that is to go on behind its statement.
static void see_store(struct ir_stmt *s, void *context)
{
    if (s->kind != STMT_store || !s->u.store.is_async)
        return;
    bool is_written = !s->u.store.copied.source;
    warn(context, is_written ? s->span : s->u.store.copied,
         s->u.store.buffer->name);
}

void nvptx_warn_lacks(const struct ir_kernel *const *kernels, size_t n,
                      const struct nvptx_target *target,
                      struct diag_list *diags)
{
    struct lacks l = {target, diags};
    for (size_t i = 0; i < n && !nvptx_target_has(target, FEATURE_cp_async);
         i++)
        ir_each_stmt((struct ir_block *)&kernels[i]->body, see_store, &l);
}
