// Rounds of trials, in stages. The trials of a round are measured with few repetitions,
// in the next stage the faster half again with more, in the one behind that the faster
// half of these: what was fast by chance is found out. A stage has the new trials of one
// round and those that are measured again of the two before, so that there is something
// to measure while new ones are compiled, and while the longest measurement is on its
// way. New trials are neighbours of the fastest, points that differ from them in one
// knob, and the next in order.

#include "tools/tune/search.h"

#include "ir/base/num.h"
#include "tools/tune/propose.h"

enum { WIDTH_USUAL = 8 };

// Of a search of the whole space: the turns of each point, and how many of the fastest
// are measured once more, in as many turns as what may be the best.
enum { EXHAUSTIVE_TURNS = 10, EXHAUSTIVE_AGAIN = 24 };

static const size_t turns_of_rung[SEARCH_RUNGS] = {6, 16, SEARCH_TURNS_SURE};

// A trial that takes so much longer than the best is not looked at again.
#define FAR 1.1

void search_start(struct search *s, struct arena *a,
                  const struct search_space *space,
                  const struct search_options *options)
{
    *s = (struct search){.arena = a, .space = space, .options = *options};
    s->next = arena_array(a, uint64_t, space->n + 1);
    s->before = options->before;
    s->is_open = true;
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

// Return how many trials of the newest round count.
static size_t round_count(const struct search *s)
{
    size_t n = 0;
    for (size_t i = s->first[0]; i < s->trials.n; i++)
        n += s->trials.at[i].end != SEARCH_REFUSED;
    return n;
}

// Return in how many turns a trial is measured at a rung.
static size_t turns_at(const struct search *s, size_t rung)
{
    if (s->options.is_exhaustive)
        return rung ? SEARCH_TURNS_SURE : EXHAUSTIVE_TURNS;
    return turns_of_rung[rung];
}

// Return whether as many trials ran as were asked for.
static bool is_full(const struct search *s)
{
    return s->options.trials && search_count(s) >= s->options.trials;
}

// Return whether another trial may begin.
static bool has_room(const struct search *s)
{
    return s->is_open && !s->is_exhausted && !is_full(s) &&
           (s->options.is_exhaustive || round_count(s) < s->options.width);
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

// Return whether a measurement is on its way.
static bool is_waiting(const struct search *s)
{
    for (size_t i = s->first[SEARCH_RUNGS - 1]; i < s->trials.n; i++)
        if (s->trials.at[i].is_out)
            return true;
    return false;
}

// Return the first trial that has to be measured again, or s->trials.n: those of the
// oldest round take longest.
static size_t pending(const struct search *s)
{
    size_t i = s->first[SEARCH_RUNGS - 1];
    while (i < s->trials.n &&
           (s->trials.at[i].end != SEARCH_OPEN || s->trials.at[i].is_out))
        i++;
    return i;
}

// Return the end of the round at a rung.
static size_t end_of_round(const struct search *s, size_t rung)
{
    return rung ? s->first[rung - 1] : s->trials.n;
}

// Return how many trials of the round at a rung were measured there.
static size_t measured_count(const struct search *s, size_t rung)
{
    size_t n = 0;
    for (size_t i = s->first[rung]; i < end_of_round(s, rung); i++)
        n += s->trials.at[i].end == SEARCH_MEASURED &&
             s->trials.at[i].rung == rung;
    return n;
}

// Return the fastest trial of the round at a rung that is not chosen yet, or NULL.
static struct search_trial *fastest(struct search *s, size_t rung)
{
    struct search_trial *best = NULL;
    for (size_t i = s->first[rung]; i < end_of_round(s, rung); i++) {
        struct search_trial *t = &s->trials.at[i];
        if (t->end == SEARCH_MEASURED && t->rung == rung &&
            (!best || t->time < best->time))
            best = t;
    }
    return best;
}

// Return how many trials of the round at a rung are chosen for the next one: half, of a
// search of the whole space a few, once.
static size_t count_promoted(const struct search *s, size_t rung)
{
    size_t half = (measured_count(s, rung) + 1) / 2;
    if (!s->options.is_exhaustive)
        return half;
    return rung ? 0 : half < EXHAUSTIVE_AGAIN ? half : EXHAUSTIVE_AGAIN;
}

// Choose the fastest of the round at a rung for the next one, but for trials that are
// far from the best of all, whose time is given; false if that is nobody.
static bool promote(struct search *s, size_t rung, double best)
{
    size_t most = count_promoted(s, rung), chosen = 0;
    for (; chosen < most && fastest(s, rung)->time <= best * FAR; chosen++) {
        struct search_trial *t = fastest(s, rung);
        t->rung++;
        t->end = SEARCH_OPEN;
    }
    return chosen > 0;
}

// Return whether the stage brought too little for another round.
static bool is_enough(const struct search *s, double best)
{
    if (s->options.patience < 0 || best <= 0 || s->before <= 0)
        return false;
    return best > s->before * (1 - s->options.patience);
}

// Let each round go on to the next rung, and begin another one, if there is time for
// it; false if the search is over.
static bool begin_stage(struct search *s)
{
    const struct search_trial *trial = search_best(s);
    double best = trial ? trial->time : 0;
    bool goes_on = false;
    for (size_t rung = SEARCH_RUNGS - 1; rung-- > 0;)
        goes_on |= promote(s, rung, best);
    for (size_t rung = SEARCH_RUNGS - 1; rung > 0; rung--)
        s->first[rung] = s->first[rung - 1];
    s->first[0] = s->trials.n;
    s->is_open =
        s->is_open && !s->is_exhausted && !is_full(s) && !is_enough(s, best);
    if (best > 0 && (s->before <= 0 || best < s->before))
        s->before = best;
    propose_winners(s);
    return goes_on || s->is_open;
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
        if (!begin_stage(s))
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
