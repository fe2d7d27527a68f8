// unannotate -- remove a hint from a loop or a stage.
//
//   for i in 0..n @hint(4) { ... }   =>   unannotate(i, hint)
//   for i in 0..n { ... }
//
// Requires:
//  1. it has a hint of that name                           E0684
//  2. it is a loop or a stage, not the store of an array   E0640

#include "passes/schedule/prim.h"

#include <string.h>

// Remove a hint of that name from a list; false if there is none.
static bool remove_hint(struct ir_attr *at, size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++) {
        if (at[i].name != name)
            continue;
        memmove(at + i, at + i + 1, (*n - i - 1) * sizeof *at);
        --*n;
        return true;
    }
    return false;
}

bool sched_unannotate(struct sched_call *c)
{
    struct ir_stmt *s = sched_arg(c, 0);
    const char *key = c->args.at[1].key;
    if (s->kind != STMT_for && s->kind != STMT_stage) {
        diag_error(c->pass->diags, c->span, D_annotate_store, sched_name_of(s));
        return sched_blame_one(c, s, "not a stage");
    }
    bool found =
        s->kind == STMT_for
            ? remove_hint(s->u.loop.attrs.at, &s->u.loop.attrs.n, key)
            : remove_hint(s->u.stage.attrs.at, &s->u.stage.attrs.n, key);
    if (found)
        return true;
    diag_error(c->pass->diags, c->span, D_unannotate_missing, sched_name_of(s),
               key);
    return sched_blame_one(c, s, "not annotated so");
}
