// Which fences are missing between two accesses that meet: the run is done again
// as if they were there.

#include "tools/simt/run.h"

#include <stdlib.h>

// Return whether a finding is two accesses that nothing puts in order.
static bool is_race(const struct simt_finding *f)
{
    return f->fault == SIMT_FAULT_race_grid ||
           f->fault == SIMT_FAULT_race_cluster ||
           f->fault == SIMT_FAULT_race_block;
}

// Return whether an entry has fences, or atomics that may release.
static bool can_release(const struct running *r, const char *entry)
{
    bool can = false;
    for (size_t i = 0; i < r->code->entries.n; i++) {
        const struct code_entry *e = &r->code->entries.at[i];
        can |= e->launch->name == entry && e->has_answers;
    }
    return can;
}

bool missing_is_open(const struct running *r, const struct simt_result *found)
{
    bool any = false;
    for (size_t i = 0; i < found->n; i++)
        any |= is_race(&found->findings[i]) && !found->findings[i].missing &&
               can_release(r, found->findings[i].entry);
    return any;
}

// Return whether two places are the same.
static bool same_place(const struct simt_place *a, const struct simt_place *b)
{
    return a->line == b->line && a->column == b->column && a->file == b->file;
}

// Return whether a race is found here, too.
static bool is_found(const struct simt_result *in, const struct simt_finding *f)
{
    for (size_t i = 0; i < in->n; i++) {
        const struct simt_finding *x = &in->findings[i];
        if (is_race(x) && x->buffer == f->buffer &&
            same_place(&x->place, &f->place) &&
            same_place(&x->other, &f->other))
            return true;
    }
    return false;
}

void missing_find(struct running *r, struct simt_result *found,
                  bool (*again)(struct running *r, struct simt_result *out,
                                enum simt_missing assumed))
{
    struct simt_result *other = malloc(sizeof *other);
    for (int a = 1; a < SIMT_MISSING_atomic && other; a++) {
        if (!again(r, other, (enum simt_missing)a))
            break;
        for (size_t i = 0; i < found->n; i++) {
            struct simt_finding *f = &found->findings[i];
            if (is_race(f) && !f->missing && can_release(r, f->entry) &&
                !is_found(other, f))
                f->missing = (enum simt_missing)a;
        }
    }
    r->m->result = found;
    free(other);
}
