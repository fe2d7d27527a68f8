// The least architecture that a kernel's own statements ask for.
//
//   matrix mma_m16n8k16_f16_f32 ...     sm_80
//
// Kernels that are definitions ask for nothing here: their schedules do.

#include "ir/matrix.h"
#include "ir/walk.h"
#include "nvptx/nvptx.h"

#include <string.h>

// The features that statements of a kernel's text may use.
enum { MBARRIER_NUMBER = 90, TENSOR_NUMBER = 90, CLUSTER_NUMBER = 90 };

// What is asked for so far.
struct least {
    unsigned number;
    bool is_own; // an instruction of one architecture, with its suffix
};

// Ask for a compute capability.
static void ask(struct least *l, unsigned number)
{
    if (l->number < number)
        l->number = number;
}

// Look at a statement.
static void see_stmt(struct ir_stmt *s, void *context)
{
    struct least *l = context;
    if (s->kind == STMT_matrix) {
        struct matrix_info info = matrix_info(s->u.matrix.op);
        ask(l, info.sm);
        l->is_own |= info.kind == MATRIX_WGMMA;
    }
    if (s->kind == STMT_copy)
        ask(l, TENSOR_NUMBER);
    if (s->kind == STMT_for && axis_kind(s->u.loop.axis) == AXIS_BLOCK &&
        strncmp(axis_name(s->u.loop.axis), "cluster", 7) == 0)
        ask(l, CLUSTER_NUMBER);
}

// Look at an expression.
static void see_expr(struct ir_expr *x, void *context)
{
    if (strncmp(ir_op_info(x->op)->spelling, "mbarrier", 8) == 0)
        ask(context, MBARRIER_NUMBER);
}

const struct nvptx_target *nvptx_target_least(struct ir_kernel *kernel,
                                              const struct nvptx_target *from)
{
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n);
    struct least l = {.number = from->number};
    ir_each_stmt(&kernel->body, see_stmt, &l);
    ir_each_expr_in(&kernel->body, see_expr, &l);
    if (l.number == from->number && !l.is_own)
        return from;
    for (size_t i = 0; i < n && !l.is_own; i++) {
        if (!all[i].kind && all[i].number >= l.number)
            return &all[i];
    }
    return NULL;
}
