// Whether a system has a solution, and sizes with which it has one: a hint where to
// look, no proof.

#include "passes/proof/system.h"

enum { SEARCHES_MOST = 8 }; // of a launch: each is long

bool system_is_spent(const struct system *s)
{
    return s->questions >= s->most;
}

bool system_is_possible(struct system *s)
{
    if (system_is_spent(s))
        return true;
    s->questions++;
    return linear_is_possible(&s->linear);
}

bool system_may_be_less(struct system *s, const struct sum *x,
                        const struct sum *y)
{
    size_t n = s->linear.rows.n;
    linear_require(&s->linear, y, x, -1);
    bool may = system_is_possible(s);
    s->linear.rows.n = n;
    return may;
}

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
