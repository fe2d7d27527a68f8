// The least architecture that a kernel's own statements ask for.
//
//   matrix mma_m16n8k16_f16_f32 ...     sm_80
//
// Kernels that are definitions ask for nothing here: their schedules do.

#include "ir/accesses.h"
#include "ir/matrix.h"
#include "ir/walk.h"
#include "nvptx/emit.h"

#include <string.h>

// Return whether an architecture has what a statement itself asks for.
static bool has_stmt(const struct nvptx_target *target, const struct ir_stmt *s)
{
    if (s->kind == STMT_matrix)
        return nvptx_target_in(target, matrix_info(s->u.matrix.op).set);
    if (ir_is_tma_copy(s))
        return nvptx_target_has(target, FEATURE_tensor);
    if (s->kind == STMT_sync && (s->u.sync.kind == SYNC_registers_up ||
                                 s->u.sync.kind == SYNC_registers_down))
        return nvptx_target_has(target, FEATURE_registers);
    if (s->kind == STMT_for && axis_is_cluster(s->u.loop.axis))
        return nvptx_target_has(target, FEATURE_cluster);
    return true;
}

// Return whether an architecture has all that a kernel's own statements use.
static bool has_all(struct ir_kernel *kernel, const struct nvptx_target *target)
{
    ir_foreach_stmt(s, &kernel->body)
        if (!has_stmt(target, s))
            return false;
    if (nvptx_target_has(target, FEATURE_mbarrier))
        return true;
    ir_foreach_expr_in(x, &kernel->body)
        if (strncmp(ir_op_info(x->op)->spelling, "mbarrier", 8) == 0)
            return false;
    return true;
}

const struct nvptx_target *nvptx_target_least(struct ir_kernel *kernel,
                                              const struct nvptx_target *from)
{
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n);
    if (has_all(kernel, from))
        return from;
    for (size_t i = 0; i < n; i++) {
        if (!all[i].kind && all[i].number > from->number &&
            has_all(kernel, &all[i]))
            return &all[i];
    }
    return NULL;
}
