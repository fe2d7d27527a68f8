// A hash table of forms and what was found out about them.

#include "passes/analysis/answers.h"

#include "ir/equal.h"

#include <string.h>

enum { HEADS = 256 };

// One answer.
struct entry {
    struct entry *next; // with the same head
    struct affine form;
    uint64_t hash;
    size_t depth;   // how many states there were
    uint32_t state; // the newest of them
    bool proved;
};

// The lists; NULL before the first answer, as most facts are never asked.
struct answers {
    struct entry **heads;
};

// Return the same number for equal forms.
static uint64_t hash_form(const struct affine *x)
{
    uint64_t h = (uint64_t)x->constant;
    vec_foreach(t, &x->terms) {
        h = ir_hash_mix(h, (uint64_t)t->factor);
        for (uint32_t j = 0; j < t->n; j++)
            h = ir_hash_mix(h, ir_expr_hash(t->atoms[j]));
    }
    return ir_hash_mix(h, x->terms.n);
}

// Return whether two forms have the same terms in the same order.
static bool same_form(const struct affine *x, const struct affine *y)
{
    if (x->constant != y->constant || x->terms.n != y->terms.n)
        return false;
    for (size_t i = 0; i < x->terms.n; i++) {
        const struct affine_term *s = &x->terms.at[i], *t = &y->terms.at[i];
        if (s->factor != t->factor || s->n != t->n ||
            !ir_all_equal(s->n, s->atoms, t->atoms))
            return false;
    }
    return true;
}

// Return whether an answer still holds.
static bool holds(const struct facts *f, const struct entry *e)
{
    size_t n = f->states.n;
    if (e->depth > n || (!e->proved && e->depth < n))
        return false;
    return !e->depth || f->states.at[e->depth - 1] == e->state;
}

enum answer answers_find(const struct facts *f, const struct affine *x)
{
    if (!f->answers || !f->answers->heads)
        return ANSWER_NONE;
    uint64_t hash = hash_form(x);
    for (struct entry *e = f->answers->heads[hash % HEADS]; e; e = e->next)
        if (e->hash == hash && holds(f, e) && same_form(&e->form, x))
            return e->proved ? ANSWER_PROVED : ANSWER_UNPROVED;
    return ANSWER_NONE;
}

void answers_add(const struct facts *f, const struct affine *x, bool proved)
{
    if (!f->answers)
        return;
    if (!f->answers->heads)
        f->answers->heads = arena_array(f->arena, struct entry *, HEADS);
    struct entry *e = arena_new(f->arena, struct entry);
    struct affine_term *terms =
        arena_array(f->arena, struct affine_term, x->terms.n);
    if (x->terms.n)
        memcpy(terms, x->terms.at, x->terms.n * sizeof *terms);
    e->form = *x;
    e->form.terms.at = terms;
    e->hash = hash_form(x);
    e->depth = f->states.n;
    e->state = e->depth ? f->states.at[e->depth - 1] : 0;
    e->proved = proved;
    struct entry **head = &f->answers->heads[e->hash % HEADS];
    e->next = *head;
    *head = e;
}

struct answers *answers_new(struct arena *a)
{
    return arena_new(a, struct answers);
}
