// What a target does otherwise than a directive says, for lack of an
// instruction: a directive does what it says, is refused, or is warned of.

#include "nvptx/emit.h"

#include "ir/accesses.h"
#include "ir/walk.h"

#include <string.h>

// Return whether two diagnostics say the same of one place.
static bool is_same(const struct diag *x, const struct diag *y)
{
    bool is_there =
        x->span.source == y->span.source && x->span.from == y->span.from;
    return is_there && x->code == y->code && strcmp(x->text, y->text) == 0;
}

// Warn at a place, unless that was done already: of another variant, of
// another of the copies that one directive makes, or of another image.
static void warn(struct diag_list *diags, const struct nvptx_target *target,
                 struct span by, const char *name)
{
    struct diag_list own = {.arena = diags->arena};
    diag_warning(&own, by, D_async_target, name, target->name);
    const struct diag *new = &own.all.at[0];
    for (size_t i = 0; i < diags->all.n; i++) {
        if (is_same(&diags->all.at[i], new))
            return;
    }
    vec_push(diags->arena, &diags->all, *new);
}

// Warn of the copies of a kernel that each thread is to make behind their
// statements.
static void warn_copies(const struct ir_kernel *kernel,
                        const struct nvptx_target *target,
                        struct diag_list *diags)
{
    ir_foreach_stmt(s, &kernel->body) {
        if (!ir_is_thread_copy(s))
            continue;
        const struct ir_copy *copy = &s->u.copy;
        warn(diags, target, copy->copied.source ? copy->copied : s->span,
             copy->near.buffer->name);
    }
}

void nvptx_warn_lacks(const struct ir_kernel *const *kernels, size_t n,
                      const struct nvptx_target *target,
                      struct diag_list *diags)
{
    for (size_t i = 0; i < n && !nvptx_target_has(target, FEATURE_cp_async);
         i++)
        warn_copies(kernels[i], target, diags);
}
