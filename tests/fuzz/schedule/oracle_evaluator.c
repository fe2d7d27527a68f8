// The evaluator of the loop language, on the lowered kernel.

#include "tests/fuzz/schedule/oracle.h"

#include "ir/copy.h"
#include "ir/walk.h"

enum { STEPS_MOST = 1000000, COUNTED_MOST = 2000000 };

// A kernel to be run.
struct subject {
    const struct ir_kernel *kernel;
    bool is_counted; // only how many steps it takes: what waits is left out
};

// Take what waits and what is waited for from a block and below: operations on
// mbarriers, barriers and copies.
static void leave_steps(struct ir_block *block)
{
    size_t n = 0;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        struct ir_block *inside[IR_BLOCKS_MOST];
        uint32_t blocks = ir_stmt_blocks(s, inside);
        for (uint32_t k = 0; k < blocks; k++)
            leave_steps(inside[k]);
        if (blocks || s->kind == STMT_let || s->kind == STMT_var ||
            s->kind == STMT_alloc || s->kind == STMT_assign ||
            s->kind == STMT_store)
            block->at[n++] = s;
    }
    block->n = n;
}

// Kernels with roles are left to the other oracle, as threads take turns here;
// their steps are counted.
void *fuzz_evaluator_start(const struct fuzz_subject *s, struct buf *out)
{
    struct subject *r = arena_new(s->arena, struct subject);
    struct ir_kernel *kernel = ir_copy_kernel(s->arena, s->kernel);
    (void)out;
    *r = (struct subject){.kernel = kernel};
    r->is_counted = ir_has_roles(&kernel->body);
    if (r->is_counted)
        leave_steps(&kernel->body);
    return r;
}

enum fuzz_answer fuzz_evaluator_ask(void *ready, const struct fuzz_trial *t,
                                    struct buf *out)
{
    const struct subject *s = ready;
    struct eval_result r = ir_eval(t->arena, s->kernel, t->inputs->args,
                                   s->is_counted ? COUNTED_MOST : STEPS_MOST);
    *t->is_long = r.status == EVAL_LIMIT && !s->is_counted;
    *t->is_refused =
        r.status == EVAL_REFUSED || (r.status != EVAL_DONE && s->is_counted);
    if (*t->is_long || *t->is_refused || s->is_counted)
        return FUZZ_LEFT;
    if (r.status != EVAL_DONE) {
        buf_printf(out, "fault: %s", r.text);
        return FUZZ_WRONG;
    }
    return fuzz_inputs_same(t->wanted, t->inputs, out) ? FUZZ_RIGHT
                                                       : FUZZ_WRONG;
}

void fuzz_evaluator_end(void *ready)
{
    (void)ready;
}
