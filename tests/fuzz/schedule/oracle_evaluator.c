// The evaluator of the loop language, on the lowered kernel.

#include "tests/fuzz/schedule/oracle.h"

enum { STEPS_MOST = 1000000 };

void *fuzz_evaluator_start(const struct fuzz_subject *s, struct buf *out)
{
    (void)out;
    return (void *)s->kernel;
}

bool fuzz_evaluator_holds(void *ready, const struct fuzz_trial *t,
                          struct buf *out)
{
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
