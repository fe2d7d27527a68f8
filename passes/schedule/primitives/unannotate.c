// unannotate -- remove a hint, a note or another mark from a loop or a stage.
//
//   for i in 0..n @hint(4) { ... }   =>   unannotate(i, hint)
//   for i in 0..n { ... }
//
// `unannotate(k, ring)` takes the ring of a loop: it is no longer pipelined.
//
// Requires:
//  1. it has a hint of that name                           E0684
//  2. it is a loop or a stage, not the store of an array   E0640

#include "ir/marks.h"
#include "passes/schedule/prim.h"

#include "ir/ring.h"

#include <string.h>

// Remove a mark of that name from a list; false if there is none.
static bool remove_mark(struct ir_attrs *attrs, const char *name)
{
    for (size_t i = 0; i < attrs->n; i++) {
        if (strcmp(attrs->at[i].name, name) != 0)
            continue;
        memmove(attrs->at + i, attrs->at + i + 1,
                (attrs->n - i - 1) * sizeof *attrs->at);
        attrs->n--;
        return true;
    }
    return false;
}

// Remove the rings of a loop, if that is what the name means and it has one.
static bool remove_ring(struct ir_stmt *s, const char *name)
{
    bool found = strcmp(name, "ring") == 0 && ir_rings_of(s).n;
    if (found)
        s->u.loop.rings = (struct ir_rings){0};
    return found;
}

bool sched_unannotate(struct sched_call *c)
{
    struct ir_stmt *s = sched_arg(c, 0);
    const char *key = c->args.at[1].key;
    struct ir_attrs *attrs = ir_attrs_of(s);
    if (!attrs)
        return sched_refuse(c, s, "not a stage", D_annotate_store,
                            sched_name_of(s));
    if (remove_ring(s, key) || remove_mark(attrs, key))
        return true;
    return sched_refuse(c, s, "not annotated so", D_unannotate_missing,
                        sched_name_of(s), key);
}
