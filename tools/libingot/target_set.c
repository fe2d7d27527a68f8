// Architectures as bits: row i of nvptx_targets is bit i.

#include "tools/libingot/target_set.h"

bool target_set_has(target_set set, const struct nvptx_target *target)
{
    size_t n;
    return set >> (target - nvptx_targets(&n)) & 1;
}

// Return the set of one architecture.
static target_set set_of(const struct nvptx_target *target)
{
    size_t n;
    return (target_set)1 << (target - nvptx_targets(&n));
}

// Return the set that a text names, as ir/arch_set.h reads it.
static target_set set_named(const char *text)
{
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n);
    target_set set = 0;
    for (size_t i = 0; i < n; i++)
        if (nvptx_target_in(&all[i], text))
            set |= set_of(&all[i]);
    return set;
}

// Return the set of all architectures.
static target_set every_target(void)
{
    size_t n;
    nvptx_targets(&n);
    return ((target_set)1 << n) - 1;
}

target_set target_set_of_build(const struct compile_options *o)
{
    target_set set = o->ptx ? set_of(o->ptx) : 0;
    for (size_t i = 0; i < o->n_targets; i++)
        set |= set_of(o->targets[i]);
    return set ? set : every_target();
}

// Find the architectures that one word behind `for` stands for.  Returns false
// after an error.
static bool find_target(struct arena *a, const struct sched_target *word,
                        struct diag_list *diags, target_set *out)
{
    const struct sched_name *name = &word->name;
    const struct nvptx_target *named =
        nvptx_target_find_at(name->text, name->span, diags);
    if (!named)
        return false;
    if (named->kind && word->is_open) {
        diag_error(diags, name->span, D_target_open, named->name, named->kind);
        diag_help(diags,
                  "write `%s` for %s, or `sm_%u+` for sm_%u and newer ones "
                  "without what `%c` adds",
                  named->name, named->kind == 'a' ? "it alone" : "its family",
                  named->number, named->number, named->kind);
        return false;
    }
    *out |= set_named(
        arena_printf(a, "%s%s", named->name, word->is_open ? "+" : ""));
    return true;
}

bool target_set_find(struct arena *a, const struct sched_item *item,
                     struct diag_list *diags, target_set *out)
{
    bool ok = true;
    *out = item->targets.n ? 0 : every_target();
    for (size_t i = 0; i < item->targets.n; i++)
        ok = find_target(a, &item->targets.at[i], diags, out) && ok;
    return ok;
}
