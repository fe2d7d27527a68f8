// The least architecture that a kernel's own statements ask for.
//
//   matrix mma_m16n8k16_f16_f32 ...     sm_80
//
// Kernels that are definitions ask for nothing here: their schedules do.

#include "ir/matrix.h"
#include "ir/walk.h"
#include "nvptx/emit.h"

#include <string.h>

// An architecture, and whether it lacks something.
struct least {
    const struct nvptx_target *target;
    bool lacks;
};

// Ask for a feature.
static void ask(struct least *l, enum feature f)
{
    l->lacks |= !nvptx_target_has(l->target, f);
}

// Look at a statement.
static void see_stmt(struct ir_stmt *s, void *context)
{
    struct least *l = context;
    if (s->kind == STMT_matrix)
        l->lacks |=
            !nvptx_target_in(l->target, matrix_info(s->u.matrix.op).set);
    if (s->kind == STMT_copy)
        ask(l, FEATURE_tensor);
    if (s->kind == STMT_sync && (s->u.sync.kind == SYNC_registers_up ||
                                 s->u.sync.kind == SYNC_registers_down))
        ask(l, FEATURE_registers);
    if (s->kind == STMT_for && axis_kind(s->u.loop.axis) == AXIS_BLOCK &&
        strncmp(axis_name(s->u.loop.axis), "cluster", 7) == 0)
        ask(l, FEATURE_cluster);
}

// Look at an expression.
static void see_expr(struct ir_expr *x, void *context)
{
    if (strncmp(ir_op_info(x->op)->spelling, "mbarrier", 8) == 0)
        ask(context, FEATURE_mbarrier);
}

// Return whether an architecture has all that a kernel's own statements use.
static bool has_all(struct ir_kernel *kernel, const struct nvptx_target *target)
{
    struct least l = {.target = target};
    ir_each_stmt(&kernel->body, see_stmt, &l);
    ir_each_expr_in(&kernel->body, see_expr, &l);
    return !l.lacks;
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
