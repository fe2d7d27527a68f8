// Which findings are the same fault: in several runs, or in several variants of a
// kernel.

#include "tools/ingot/check.h"

#include <string.h>

// Return whether two texts are the same, or both lacking.
static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool check_same(const struct check_finding *a, const struct check_finding *b)
{
    if (a->is_difference || b->is_difference)
        return a->is_difference && b->is_difference &&
               a->difference.buffer == b->difference.buffer;
    const struct simt_finding *x = &a->simt, *y = &b->simt;
    bool same_way = check_same_place(&x->place, &y->place) &&
                    check_same_place(&x->other, &y->other) &&
                    check_same_place(&x->schedule, &y->schedule) &&
                    check_same_place(&x->other_schedule, &y->other_schedule);
    bool other_way = x->has_other && check_same_place(&x->place, &y->other) &&
                     check_same_place(&x->other, &y->place) &&
                     check_same_place(&x->schedule, &y->other_schedule) &&
                     check_same_place(&x->other_schedule, &y->schedule);
    return x->fault == y->fault && (same_way || other_way) &&
           same_text(x->array, y->array);
}

bool check_is_note(const struct check_finding *f)
{
    return !f->is_difference &&
           (f->is_idle || f->is_left ||
            simt_fault_severity(f->simt.fault) == SIMT_NOTE);
}

// Return the finding of a variant that tells the same, or NULL.
static const struct check_finding *find_same(const struct check_variant *v,
                                             const struct check_finding *f)
{
    for (size_t i = 0; v->shared && i < v->shared->n_findings; i++) {
        const struct check_finding *known = &v->shared->findings[i];
        if (check_is_note(known) == check_is_note(f) && check_same(known, f))
            return known;
    }
    return NULL;
}

// Return whether two variants are of one kernel.
static bool are_siblings(const struct check_variant *a,
                         const struct check_variant *b)
{
    return a->variant->source == b->variant->source;
}

bool check_is_told(const struct check *check, const struct check_variant *v,
                   const struct check_finding *f)
{
    const struct check_variant *other = check->variants.at;
    for (; other < v; other++)
        if (are_siblings(other, v) && find_same(other, f))
            return true;
    return false;
}

const char *check_variants_text(const struct check *check,
                                const struct check_variant *v,
                                const struct check_finding *f)
{
    struct arena *a = &check->c->arena;
    const char *text = check_name(v->variant);
    size_t n = 1;
    for (size_t i = 0; i < check->variants.n; i++) {
        const struct check_variant *other = &check->variants.at[i];
        if (other == v || !are_siblings(other, v) || !find_same(other, f))
            continue;
        text = arena_printf(a, "%s, %s", text, check_name(other->variant));
        n++;
    }
    return arena_printf(a, n > 1 ? "variants %s" : "variant %s", text);
}
