// annotate -- attach a hint to a loop or a stage.
//
//   for i in 0..n { ... }   =>   annotate(i, hint, 4)
//   for i in 0..n @hint(4) { ... }
//
// Requires:
//  1. it has no hint of that name                          E0633
//  2. it is a loop or a stage, not the store of an array   E0640

#include "passes/schedule/prim.h"

bool sched_annotate(struct sched_call *c)
{
    struct ir_stmt *s = sched_arg(c, 0);
    struct ir_attr new = {c->args.at[1].key, c->args.at[2].number, NULL};
    if (s->kind != STMT_for && s->kind != STMT_stage) {
        diag_error(c->pass->diags, c->span, D_annotate_store, sched_name_of(s));
        return sched_blame_one(c, s, "not a stage");
    }
    struct ir_attr *at =
        s->kind == STMT_for ? s->u.loop.attrs.at : s->u.stage.attrs.at;
    size_t n = s->kind == STMT_for ? s->u.loop.attrs.n : s->u.stage.attrs.n;
    for (size_t i = 0; i < n; i++) {
        if (at[i].name != new.name)
            continue;
        diag_error(c->pass->diags, c->span, D_annotate_twice, sched_name_of(s),
                   new.name, (long long)at[i].value);
        return sched_blame_one(c, s, "annotated");
    }
    if (s->kind == STMT_for)
        vec_push(c->pass->arena, &s->u.loop.attrs, new);
    else
        vec_push(c->pass->arena, &s->u.stage.attrs, new);
    return true;
}
