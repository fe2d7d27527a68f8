// annotate -- attach a hint, or a note of your own, to a loop or a stage.
//
//   for i in 0..n { ... }   =>   annotate(i, unroll, 4)
//   for i in 0..n @unroll(4) { ... }
//
// The name is that of a mark of ir/marks.def, hints above all; the passes that
// consume the marks of primitives ask again whether they may. Any other name is
// a note: it is kept, with its number, and has no effect.
//
// Requires:
//  1. it has no hint or note of that name                  E0633
//  2. it is a loop or a stage, not the store of an array   E0640
//  3. a mark takes the number, is for a loop or for a
//     stage, and is not one that passes or definitions set E0672

#include "ir/marks.h"
#include "passes/schedule/prim.h"

#include <string.h>

// Return a mark of that name, or NULL.
static const struct ir_attr *find(const struct ir_attrs *attrs,
                                  const char *name)
{
    for (size_t i = 0; i < attrs->n; i++)
        if (strcmp(attrs->at[i].name, name) == 0)
            return &attrs->at[i];
    return NULL;
}

// Return why a name cannot be given to a statement by hand; NULL if it can.
static const char *check_name(const struct sched_call *c,
                              const struct ir_attr *new,
                              const struct ir_stmt *s)
{
    const struct ir_mark_info *info = ir_mark_info(new->mark);
    enum pass_name by;
    if (new->mark == MARK_note)
        return NULL;
    if (pass_find(info->by, &by))
        return arena_printf(c->pass->scratch, "the pass `%s` sets it",
                            info->by);
    if (strcmp(info->by, "definition") == 0)
        return "the definition of the kernel says so, or nothing does";
    return ir_attr_fault(c->pass->scratch, new, s->kind,
                         c->pass->kernel->level);
}

bool sched_annotate(struct sched_call *c)
{
    struct ir_stmt *s = sched_arg(c, 0);
    const struct sched_value *key = &c->args.at[1];
    const struct ir_attr new = {ir_mark_named(key->key), key->key,
                                c->args.at[2].number, NULL};
    struct ir_attrs *attrs = ir_attrs_of(s);
    if (!attrs)
        return sched_refuse(c, s, "not a stage", D_annotate_store,
                            sched_name_of(s));
    const struct ir_attr *old = find(attrs, new.name);
    if (old)
        return sched_refuse(c, s, "annotated", D_annotate_twice,
                            sched_name_of(s), new.name, (long long)old->value);
    const char *wrong = check_name(c, &new, s);
    if (wrong)
        return diag_error(c->pass->diags, key->span, D_annotate_mark,
                          sched_name_of(s), new.name, wrong);
    vec_push(c->pass->arena, attrs, new);
    return true;
}
