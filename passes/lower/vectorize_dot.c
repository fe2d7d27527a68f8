// The loop of a dp4a: its four iterations as one statement.

#include "passes/analysis/dot.h"
#include "passes/lower/vectorize_body.h"

#include "ir/build.h"
#include "ir/walk.h"

// Return whether a statement writes another element in each iteration.
static bool moves(const struct vectorizer *w, const struct ir_stmt *s)
{
    for (uint32_t i = 0; s->kind == STMT_store && i < s->u.store.n; i++)
        if (vectorize_varies(w, s->u.store.index[i]))
            return true;
    return false;
}

bool vectorize_has_steps(const struct vectorizer *w)
{
    return w->lanes == DOT_STEPS && vectorize_loop_of(w)->axis == AXIS_serial;
}

bool vectorize_is_sum(const struct ir_block *body)
{
    const struct ir_stmt *sum = NULL;
    ir_foreach_stmt(s, body) {
        if (s->kind != STMT_store && s->kind != STMT_assign)
            continue;
        if (sum)
            return false;
        sum = s;
    }
    return sum && dot_is_read_once(sum, body);
}

bool vectorize_dot(struct vectorizer *w, struct ir_stmt *s,
                   struct ir_block *out)
{
    struct dot dot;
    struct arena *a = w->p->arena;
    if (dot_match(a, s, &dot) || moves(w, s))
        return false;
    struct ir_expr **value =
        s->kind == STMT_store ? &s->u.store.value : &s->u.let.value;
    struct ir_expr *args[] = {vectorize_expr(w, dot.a),
                              vectorize_expr(w, dot.b), dot.old};
    *value = ir_at(a, ir_call(a, OP_dp4a, 3, args), (*value)->span);
    ir_append(a, out, s);
    return true;
}
