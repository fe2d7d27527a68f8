// Which point a search tries next.
//
// Without an order that is given, the points of an item are gone through by steps
// that have no divisor in common with their number, the first value of each knob
// first; items take turns.

#include "tools/tune/propose.h"

#include "ir/base/num.h"
#include "tools/tune/effects.h"

#include <string.h>

enum { MUTATIONS_TRIED = 32, ALIKE_KNOBS = 3, ORDERED_EVERY = 4 };

// Predictions that differ by less than this part are the same.
static const double SAME = 0.02;

uint64_t propose_size(const struct search_item *item)
{
    uint64_t n = 1;
    for (size_t i = 0; i < item->n; i++) {
        if (item->values[i] && n > UINT64_MAX / item->values[i])
            return UINT64_MAX;
        n *= item->values[i];
    }
    return n;
}

// Return the next random number below n.
static uint64_t draw(struct search *s, uint64_t n)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (s->random >> 11) % n;
}

size_t search_distance(const struct search *s, const struct search_point *x,
                       const struct search_point *y)
{
    size_t apart = 0;
    if (x->item != y->item)
        return SIZE_MAX;
    for (size_t i = 0; i < s->space->at[x->item].n; i++)
        apart += x->at[i] != y->at[i];
    return apart;
}

bool search_is_known(const struct search *s, const struct search_point *p)
{
    size_t n = s->space->at[p->item].n;
    vec_foreach(t, &s->trials)
        if (t->point.item == p->item &&
            (!n || memcmp(t->point.at, p->at, n * sizeof *p->at) == 0))
            return true;
    return false;
}

// Return whether a point that was tried has the same prediction and nearly the same
// knobs, few of which, half of them at most, are set otherwise: it tells what this one
// would.
static bool is_alike(const struct search *s, const struct search_point *p)
{
    size_t half = (s->space->at[p->item].n + 1) / 2;
    size_t most = half < ALIKE_KNOBS ? half : ALIKE_KNOBS;
    vec_foreach(t, &s->trials) {
        double other = t->point.predicted;
        if (p->predicted > 0 && other > p->predicted * (1 - SAME) &&
            other < p->predicted * (1 + SAME) &&
            search_distance(s, &t->point, p) <= most)
            return true;
    }
    return false;
}

// Return a copy of a point.
static struct search_point copy(struct search *s, const struct search_point *p)
{
    size_t n = s->space->at[p->item].n;
    struct search_point out = {p->item, arena_array(s->arena, uint32_t, n + 1),
                               p->predicted};
    if (n)
        memcpy(out.at, p->at, n * sizeof *p->at);
    return out;
}

// Return the greatest common divisor.
static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Return the step by which the points of an item are gone through.
static uint64_t step_of(uint64_t seed, uint64_t n)
{
    bool is_small = n > 2 && n <= UINT32_MAX;
    uint64_t step = is_small ? num_mix(seed + 7) % (n - 1) + 1 : 1;
    while (divisor(step, n) != 1)
        step++;
    return step;
}

// Return point number `number` of an item.
static struct search_point point_of(struct search *s, size_t item,
                                    uint64_t number)
{
    const struct search_item *from = &s->space->at[item];
    uint64_t n = propose_size(from);
    uint64_t rest = number * step_of(s->options.seed, n) % n;
    struct search_point p = {item, arena_array(s->arena, uint32_t, from->n + 1),
                             0};
    for (size_t i = from->n; i-- > 0;) {
        uint64_t first = from->first ? from->first[i] : 0;
        p.at[i] = (uint32_t)((rest + first) % from->values[i]);
        rest /= from->values[i];
    }
    return p;
}

// Take the next point of the item that has proposed the fewest.
static bool take_in_turn(struct search *s, struct search_point *out)
{
    size_t best = s->space->n;
    for (size_t i = 0; i < s->space->n; i++)
        if (s->next[i] < propose_size(&s->space->at[i]) &&
            (best == s->space->n || s->next[i] < s->next[best]))
            best = i;
    if (best == s->space->n)
        return false;
    *out = point_of(s, best, s->next[best]++);
    return true;
}

// Take the first point of the order that was not tried; one that is like another comes
// behind those that are not, unless all are tried.
static bool take_first(struct search *s, struct search_point *out)
{
    while (s->next_order < s->order.n &&
           search_is_known(s, &s->order.at[s->next_order]))
        s->next_order++;
    for (int alike = s->options.is_exhaustive; alike < 2; alike++) {
        for (size_t i = s->next_order; i < s->order.n; i++) {
            const struct search_point *p = &s->order.at[i];
            if (search_is_known(s, p) || (!alike && is_alike(s, p)))
                continue;
            *out = copy(s, p);
            return true;
        }
    }
    return false;
}

// Take the next point of the order that is given, or else in turn.
static bool take_ordered(struct search *s, struct search_point *out)
{
    struct search_point p;
    if (take_first(s, out))
        return true;
    while (take_in_turn(s, &p)) {
        if (search_is_known(s, &p))
            continue;
        *out = p;
        return true;
    }
    return false;
}

void propose_points(const struct search *s, size_t most,
                    struct search_points *out)
{
    struct search fresh;
    struct search_point p;
    search_start(&fresh, s->arena, s->space, &s->options);
    while (out->n < most && take_in_turn(&fresh, &p))
        vec_push(s->arena, out, p);
}

// Take the next seed.
static bool take_seed(struct search *s, struct search_point *out)
{
    while (s->next_seed < s->seeds.n) {
        const struct search_point *p = &s->seeds.at[s->next_seed++];
        if (search_is_known(s, p))
            continue;
        *out = copy(s, p);
        return true;
    }
    return false;
}

// Put a trial among the fastest, if it is one.
static void enter(struct search *s, size_t trial)
{
    const struct search_trial *all = s->trials.at;
    size_t place = s->n_winners;
    while (place > 0 && all[trial].time < all[s->winners[place - 1]].time)
        place--;
    if (place == SEARCH_WINNERS)
        return;
    s->n_winners += s->n_winners < SEARCH_WINNERS;
    for (size_t i = s->n_winners - 1; i > place; i--)
        s->winners[i] = s->winners[i - 1];
    s->winners[place] = trial;
}

void propose_winners(struct search *s)
{
    s->n_winners = 0;
    for (size_t i = 0; i < s->trials.n; i++)
        if (search_has_time(&s->trials.at[i]))
            enter(s, i);
    effects_learn(s);
}

// Take a point that was not tried beside a trial: one knob has the value in front
// or behind.
static bool take_beside(struct search *s, const struct search_trial *t,
                        struct search_point *out)
{
    const struct search_item *item = &s->space->at[t->point.item];
    struct search_point p = copy(s, &t->point);
    p.predicted = 0;
    for (size_t i = 0; i < item->n; i++) {
        for (int side = -1; side <= 1; side += 2) {
            uint32_t value = t->point.at[i] + (uint32_t)side;
            p.at[i] = value;
            if (value < item->values[i] && !search_is_known(s, &p)) {
                *out = p;
                return true;
            }
        }
        p.at[i] = t->point.at[i];
    }
    return false;
}

// Take a neighbour of one of the fastest.
static bool take_neighbour(struct search *s, struct search_point *out)
{
    for (size_t i = 0; i < s->n_winners; i++)
        if (take_beside(s, &s->trials.at[s->winners[i]], out))
            return true;
    return false;
}

// Take a mutation of one of the fastest: one knob has another value.
static bool take_mutation(struct search *s, struct search_point *out)
{
    for (int k = 0; s->n_winners && k < MUTATIONS_TRIED; k++) {
        size_t winner = s->winners[draw(s, s->n_winners)];
        const struct search_point *from = &s->trials.at[winner].point;
        size_t n = s->space->at[from->item].n;
        if (!n)
            continue;
        struct search_point p = copy(s, from);
        size_t knob = draw(s, n);
        p.predicted = 0;
        p.at[knob] = (uint32_t)draw(s, s->space->at[p.item].values[knob]);
        if (search_is_known(s, &p))
            continue;
        *out = p;
        return true;
    }
    return false;
}

// Take the next point that was put off.
static bool take_later(struct search *s, struct search_point *out)
{
    if (s->next_later == s->later.n)
        return false;
    *out = copy(s, &s->later.at[s->next_later++]);
    return true;
}

bool propose(struct search *s, struct search_point *out)
{
    size_t place = s->trials.n - s->first[0];
    bool goes_on = s->first[0] > 0, goes_near = goes_on && place % 2 == 0;
    if (take_seed(s, out))
        return true;
    if (goes_on && s->effects && place % ORDERED_EVERY < ORDERED_EVERY - 1 &&
        effects_take(s, out))
        return true;
    if (goes_near && !s->effects &&
        (take_neighbour(s, out) || take_mutation(s, out)))
        return true;
    return take_ordered(s, out) || take_later(s, out);
}
