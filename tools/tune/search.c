// Rounds of trials. In a round all new trials are measured with few repetitions, then
// the faster half again with more, then the faster half of these: what was fast by
// chance is found out. The next round takes neighbours of the fastest, points that
// differ from them in one knob, and the next in order.

#include "tools/tune/search.h"

#include "ir/base/num.h"
#include "tools/tune/propose.h"

enum { WIDTH_USUAL = 8 };

// Of a search of the whole space: the turns of each point, and how many of the fastest
// are measured again.
enum { EXHAUSTIVE_TURNS = 10, EXHAUSTIVE_AGAIN = 24 };

static const size_t turns_of_rung[] = {6, 16, SEARCH_TURNS_SURE};

// A trial that takes so much longer than the best is not looked at again.
#define FAR 1.1

enum { RUNGS = sizeof turns_of_rung / sizeof *turns_of_rung };

void search_start(struct search *s, struct arena *a,
                  const struct search_space *space,
                  const struct search_options *options)
{
    *s = (struct search){.arena = a, .space = space, .options = *options};
    s->next = arena_array(a, uint64_t, space->n + 1);
    s->before = options->before;
    s->random = num_mix(options->seed + 1) | 1;
    if (!s->options.width)
        s->options.width = WIDTH_USUAL;
}

size_t search_count(const struct search *s)
{
    size_t n = 0;
    vec_foreach(t, &s->trials)
        n += t->end != SEARCH_REFUSED;
    return n;
}

bool search_has_time(const struct search_trial *t)
{
    return t->end == SEARCH_MEASURED || (t->end == SEARCH_OPEN && t->rung > 0);
}

const struct search_trial *search_best(const struct search *s)
{
    const struct search_trial *best = NULL;
    vec_foreach(t, &s->trials)
        if (search_has_time(t) && (!best || t->time < best->time))
            best = t;
    return best;
}

// Return how many trials of the round count.
static size_t round_count(const struct search *s)
{
    size_t n = 0;
    for (size_t i = s->round_first; i < s->trials.n; i++)
        n += s->trials.at[i].end != SEARCH_REFUSED;
    return n;
}

// Return in how many turns a trial is measured at a rung.
static size_t turns_at(const struct search *s, size_t rung)
{
    return s->options.is_exhaustive && rung == 0 ? EXHAUSTIVE_TURNS
                                                 : turns_of_rung[rung];
}

// Return whether another trial may begin.
static bool has_room(const struct search *s)
{
    size_t most = s->options.trials;
    bool is_wide =
        s->options.is_exhaustive || round_count(s) < s->options.width;
    return s->rung == 0 && is_wide && (!most || search_count(s) < most) &&
           !s->is_exhausted;
}

// Begin a trial; false if there is no point left.
static bool begin_trial(struct search *s, struct search_job *out)
{
    struct search_trial t = {.is_out = true};
    size_t late = s->next_later;
    if (!propose(s, &t.point)) {
        s->is_exhausted = true;
        return false;
    }
    t.is_late = s->next_later > late;
    vec_push(s->arena, &s->trials, t);
    *out = (struct search_job){s->trials.n - 1, turns_at(s, 0)};
    return true;
}

// Return whether a measurement of the round is on its way.
static bool is_waiting(const struct search *s)
{
    for (size_t i = s->round_first; i < s->trials.n; i++)
        if (s->trials.at[i].is_out)
            return true;
    return false;
}

// Return the next trial of the round that has to be measured at its rung, or
// s->trials.n.
static size_t pending(const struct search *s)
{
    size_t i = s->round_first;
    while (i < s->trials.n &&
           (s->trials.at[i].end != SEARCH_OPEN || s->trials.at[i].is_out))
        i++;
    return i;
}

// Return the fastest trial of the round at its rung that is not chosen yet, or
// NULL.
static struct search_trial *fastest(struct search *s)
{
    struct search_trial *best = NULL;
    for (size_t i = s->round_first; i < s->trials.n; i++) {
        struct search_trial *t = &s->trials.at[i];
        if (t->end == SEARCH_MEASURED && t->rung == s->rung &&
            (!best || t->time < best->time))
            best = t;
    }
    return best;
}

// Return how many of the `n` trials of the round's rung are chosen for the next one.
static size_t count_promoted(const struct search *s, size_t n)
{
    size_t half = (n + 1) / 2;
    bool is_few = s->options.is_exhaustive && half > EXHAUSTIVE_AGAIN;
    return is_few ? EXHAUSTIVE_AGAIN : half;
}

// Choose the faster half of the round's rung for the next one, or the last one of a
// search of the whole space, but for trials that are far from the best of all; false if
// that is nobody.
static bool promote(struct search *s)
{
    size_t n = 0, chosen = 0;
    const struct search_trial *best = search_best(s);
    double most = best ? best->time * FAR : 0;
    for (size_t i = s->round_first; i < s->trials.n; i++)
        n += s->trials.at[i].end == SEARCH_MEASURED &&
             s->trials.at[i].rung == s->rung;
    if (s->rung + 1 == RUNGS)
        return false;
    size_t next = s->options.is_exhaustive ? RUNGS - 1 : s->rung + 1;
    size_t wanted = count_promoted(s, n);
    for (; chosen < wanted && fastest(s)->time <= most; chosen++) {
        struct search_trial *t = fastest(s);
        t->rung = next;
        t->end = SEARCH_OPEN;
    }
    s->rung = chosen ? next : s->rung;
    return chosen > 0;
}

// Return whether the round brought too little to go on.
static bool is_enough(const struct search *s)
{
    const struct search_trial *best = search_best(s);
    if (s->options.patience < 0 || !best || s->before <= 0)
        return false;
    return best->time > s->before * (1 - s->options.patience);
}

// Begin the next round; false if the search is over.
static bool begin_round(struct search *s)
{
    const struct search_trial *best = search_best(s);
    size_t most = s->options.trials;
    if (s->is_exhausted || (most && search_count(s) >= most) || is_enough(s))
        return false;
    if (best && (s->before <= 0 || best->time < s->before))
        s->before = best->time;
    s->round_first = s->trials.n;
    s->rung = 0;
    return true;
}

// Hand out a trial that has to be measured again.
static enum search_step hand_out(struct search *s, size_t i,
                                 struct search_job *out)
{
    s->trials.at[i].is_out = true;
    *out = (struct search_job){i, turns_at(s, s->trials.at[i].rung)};
    return SEARCH_JOB;
}

enum search_step search_next(struct search *s, struct search_job *out)
{
    for (;;) {
        size_t again = pending(s);
        if (again < s->trials.n)
            return hand_out(s, again, out);
        if (has_room(s) && begin_trial(s, out))
            return SEARCH_JOB;
        if (is_waiting(s))
            return SEARCH_WAIT;
        if (!promote(s) && !begin_round(s))
            return SEARCH_DONE;
    }
}

void search_tell(struct search *s, size_t trial, enum search_end end,
                 double time)
{
    struct search_trial *t = &s->trials.at[trial];
    t->is_out = false;
    t->end = end == SEARCH_LATER ? SEARCH_REFUSED : end;
    t->time = time;
    if (end != SEARCH_LATER)
        return;
    vec_push(s->arena, &s->later, t->point);
    s->is_exhausted = false;
}

uint64_t search_size(const struct search_space *space)
{
    uint64_t all = 0;
    vec_foreach(item, space) {
        uint64_t n = propose_size(item);
        if (all > UINT64_MAX - n)
            return UINT64_MAX;
        all += n;
    }
    return all;
}
