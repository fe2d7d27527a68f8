// What would be tried next if all that is on its way came as predicted: a copy of the
// search goes on with such times, so that code can be made before it is asked for. A wrong
// guess costs processor time alone.

#include "tools/tune/search.h"

#include <math.h>
#include <string.h>

// Return the times that were measured over the predictions of them, in the mean; 1 where
// there are none.
static double scale_of(const struct search *s)
{
    double sum = 0;
    size_t n = 0;
    vec_foreach(t, &s->trials) {
        bool counts =
            search_has_time(t) && t->time > 0 && t->point.predicted > 0;
        sum += counts ? log(t->time / t->point.predicted) : 0;
        n += counts;
    }
    return n ? exp(sum / (double)n) : 1;
}

// Return the time that a trial should take; without a prediction that of what is there
// already.
static double expected(const struct search *s, const struct search_trial *t)
{
    if (t->rung > 0)
        return t->time;
    return t->point.predicted > 0 ? t->point.predicted * scale_of(s) : 1;
}

// Copy a search into an arena: what its steps change.
static struct search copy_of(const struct search *s, struct arena *a)
{
    struct search c = *s;
    c.arena = a;
    memset(&c.trials, 0, sizeof c.trials);
    memset(&c.later, 0, sizeof c.later);
    vec_append(a, &c.trials, &s->trials);
    vec_append(a, &c.later, &s->later);
    c.next = arena_array(a, uint64_t, s->space->n + 1);
    memcpy(c.next, s->next, s->space->n * sizeof *c.next);
    return c;
}

// Append a point, copied.
static void add_point(struct arena *a, const struct search *s,
                      const struct search_point *p, struct search_points *out)
{
    size_t n = s->space->at[p->item].n;
    struct search_point one = *p;
    one.at = arena_array(a, uint32_t, n + 1);
    if (n)
        memcpy(one.at, p->at, n * sizeof *p->at);
    vec_push(a, out, one);
}

void search_expect(const struct search *s, struct arena *a,
                   struct search_points *out)
{
    struct arena room = {0};
    struct search c = copy_of(s, &room);
    struct search_job job;
    for (size_t i = 0; i < c.trials.n; i++)
        if (c.trials.at[i].is_out)
            search_tell(&c, i, SEARCH_MEASURED, expected(&c, &c.trials.at[i]));
    while (search_next(&c, &job) == SEARCH_JOB) {
        struct search_trial *t = &c.trials.at[job.trial];
        if (job.trial < s->trials.n)
            search_tell(&c, job.trial, SEARCH_MEASURED, t->time);
        else
            add_point(a, s, &t->point, out);
    }
    arena_reset(&room);
}
