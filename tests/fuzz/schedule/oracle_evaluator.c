// The evaluator of the loop language, on the lowered kernel.

#include "tests/fuzz/schedule/oracle.h"

#include "ir/walk.h"

enum { STEPS_MOST = 1000000 };

// Note an array of mbarriers at which roles wait for each other.
static void see_roles(struct ir_stmt *s, void *context)
{
    *(bool *)context |= s->kind == STMT_alloc && s->u.buffer->is_ordered;
}

// Kernels with roles are left to the other oracle: here threads take turns.
void *fuzz_evaluator_start(const struct fuzz_subject *s, struct buf *out)
{
    bool has_roles = false;
    struct ir_kernel *kernel = (struct ir_kernel *)s->kernel;
    (void)out;
    ir_each_stmt(&kernel->body, see_roles, &has_roles);
    return has_roles ? NULL : kernel;
}

bool fuzz_evaluator_holds(void *ready, const struct fuzz_trial *t,
                          struct buf *out)
{
    if (!ready)
        return true;
    struct eval_result r =
        ir_eval(t->arena, ready, t->inputs->args, STEPS_MOST);
    *t->is_long = r.status == EVAL_LIMIT;
    if (*t->is_long)
        return true;
    if (r.status != EVAL_DONE) {
        buf_printf(out, "fault: %s", r.text);
        return false;
    }
    return fuzz_inputs_same(t->wanted, t->inputs, out);
}

void fuzz_evaluator_end(void *ready)
{
    (void)ready;
}
