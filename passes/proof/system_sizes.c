// Sizes with which a system has a solution: a hint where to look, no proof.

#include "passes/proof/system.h"

enum { SEARCHES_MOST = 8 }; // of a launch: each is long

struct proof_values system_sizes(struct system *s, struct arena *a)
{
    const struct ir_kernel *k = s->program->kernel;
    int64_t *values = arena_array(a, int64_t, UNKNOWNS_MOST + 1);
    struct proof_values out = {0};
    if (s->searches++ >= SEARCHES_MOST || !linear_example(&s->linear, values))
        return out;
    vec_foreach(leaf, &s->leaves) {
        for (size_t p = 0; p < k->params.n && leaf->expr->op == OP_var; p++) {
            if (k->params.at[p].var == leaf->expr->u.var)
                vec_push(a, &out,
                         (struct proof_value){leaf->expr->u.var,
                                              values[leaf->unknown]});
        }
    }
    return out;
}
