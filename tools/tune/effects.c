// What each value of a knob does to the time of a trial, learnt from those that have one.
//
// The logarithm of a time is taken for a part of that of its prediction, and a sum of
// effects: one of the item, one of the value of each knob.  They are the least squares
// with a penalty for large effects (ridge regression), by sweeps over the effects, each
// of which is set to what is best for it while the others stay (Gauss-Seidel).

#include "tools/tune/effects.h"

#include <math.h>

enum { SWEEPS = 60 };

// The part of a prediction that counts, and the penalty, as so many trials that say 0.
// By replays of the spaces of tools/bench.
static const double PREDICTED = 0.4, PENALTY = 0.5;

// Return the number of the first effect of an item, its own; those of its values follow.
static size_t first_effect(const struct search_space *space, size_t item)
{
    size_t count = 0;
    for (size_t i = 0; i < item; i++) {
        count++;
        for (size_t k = 0; k < space->at[i].n; k++)
            count += space->at[i].values[k];
    }
    return count;
}

// ---- Learning -----------------------------------------------------------------

// A trial that has a time and a prediction.
struct lesson {
    size_t *effects; // of its item, and of the value of each knob
    size_t n;
    double left; // of the logarithm of its time, what no effect explains
};
struct lessons VEC(struct lesson);

// Add what a trial teaches.
static void add_lesson(struct search *s, const struct search_trial *t,
                       struct lessons *all)
{
    const struct search_item *item = &s->space->at[t->point.item];
    size_t first = first_effect(s->space, t->point.item);
    struct lesson l = {arena_array(s->arena, size_t, item->n + 1), 0, 0};
    l.left = log(t->time) - PREDICTED * log(t->point.predicted);
    l.effects[l.n++] = first++;
    for (size_t k = 0; k < item->n; k++) {
        l.effects[l.n++] = first + t->point.at[k];
        first += item->values[k];
    }
    vec_push(s->arena, all, l);
}

// Leave of each lesson what differs from the mean.
static void subtract_mean(struct lessons *all)
{
    double sum = 0;
    vec_foreach(l, all)
        sum += l->left;
    vec_foreach(l, all)
        l->left -= sum / (double)all->n;
}

// Return whether an effect is one of a lesson.
static bool has(const struct lesson *l, size_t effect)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->effects[i] == effect)
            return true;
    return false;
}

// Set an effect to what is best for it while the others stay.
static void settle(struct lessons *all, size_t effect, double *value)
{
    double sum = 0, old = *value;
    size_t n = 0;
    vec_foreach(l, all) {
        bool counts = has(l, effect);
        sum += counts ? l->left + old : 0;
        n += counts;
    }
    *value = sum / ((double)n + PENALTY);
    vec_foreach(l, all)
        l->left += has(l, effect) ? old - *value : 0;
}

void effects_learn(struct search *s)
{
    size_t n = first_effect(s->space, s->space->n);
    struct lessons all = {0};
    vec_foreach(t, &s->trials)
        if (search_has_time(t) && t->time > 0 && t->point.predicted > 0)
            add_lesson(s, t, &all);
    s->effects = all.n ? arena_array(s->arena, double, n + 1) : NULL;
    if (!s->effects)
        return;
    subtract_mean(&all);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t e = 0; e < n; e++)
            settle(&all, e, &s->effects[e]);
}

// ---- Choosing -----------------------------------------------------------------

// Return the logarithm of the time that a point should take.
static double expected(const struct search *s, const struct search_point *p)
{
    const struct search_item *item = &s->space->at[p->item];
    size_t first = first_effect(s->space, p->item);
    double sum = PREDICTED * log(p->predicted) + s->effects[first++];
    for (size_t k = 0; k < item->n; k++) {
        sum += s->effects[first + p->at[k]];
        first += item->values[k];
    }
    return sum;
}

// Return whether a point differs in more than one knob from all trials of this round.
static bool is_apart(const struct search *s, const struct search_point *p)
{
    for (size_t i = s->first[0]; i < s->trials.n; i++)
        if (search_distance(s, p, &s->trials.at[i].point) <= 1)
            return false;
    return true;
}

bool effects_take(struct search *s, struct search_point *out)
{
    const struct search_point *best = NULL;
    double least = INFINITY;
    for (int apart = 1; s->effects && !best && apart >= 0; apart--) {
        for (size_t i = s->next_order; i < s->order.n; i++) {
            const struct search_point *p = &s->order.at[i];
            double time = p->predicted > 0 ? expected(s, p) : INFINITY;
            if (time >= least || search_is_known(s, p) ||
                (apart && !is_apart(s, p)))
                continue;
            best = p;
            least = time;
        }
    }
    if (best)
        *out = *best;
    return best != NULL;
}
