// What can be said without measuring: the fastest that the log has, or else what the
// model says first.

#include "tools/ingot/tune.h"

#include <math.h>
#include <string.h>

// How much faster than what a build takes the model has to think that another
// schedule is: its order is better than its times.
#define WORTH_BY_MODEL 0.97

// Add a trial whose time is known.
static void add_trial(struct tune_problem *p, const struct search_point *point,
                      const char *state, double us, double ratio)
{
    struct tune_trial *t = tune_way(p, point);
    struct search_trial known = {
        .point = *point, .end = SEARCH_MEASURED, .time = ratio};
    t->state = state;
    t->us = us;
    t->ratio = ratio;
    t->turns = 1;
    vec_push(&p->c->arena, &p->trials, t);
    vec_push(&p->c->arena, &p->search.trials, known);
}

// Return the fastest record of the problem, NULL if there is none.
static const struct record *fastest(const struct records *all)
{
    const struct record *best = NULL;
    vec_foreach(r, all)
        if (r->from != RECORD_BUILD && strcmp(r->state, "measured") == 0 &&
            (!best || r->ratio < best->ratio))
            best = r;
    return best;
}

// Return the time of what a build takes on a device; 0: not known.
static double build_time(const struct records *all, const char *device)
{
    vec_foreach(r, all)
        if (r->from == RECORD_BUILD && strcmp(r->device, device) == 0)
            return r->us;
    return 0;
}

// Take the fastest of the log.  Returns whether it has one.
static bool take_measured(struct tune_problem *p)
{
    struct search_point point;
    const struct record *best = fastest(&p->log);
    if (!best || !tune_point(p, best, &point))
        return false;
    p->device_name = best->device;
    p->build.us = build_time(&p->log, best->device);
    add_trial(p, &point, "measured", best->us, best->ratio);
    p->trials.at[0]->spread = best->spread;
    p->trials.at[0]->turns = best->turns;
    return true;
}

// Take what the model says first, if that is not what a build takes.
static void take_predicted(struct tune_problem *p)
{
    tune_rank(p);
    double ratio = p->predicted / p->predicted_build;
    p->build.us = isfinite(p->predicted_build) ? p->predicted_build : 0;
    if (p->search.order.n && isfinite(ratio) && ratio < WORTH_BY_MODEL)
        add_trial(p, &p->search.order.at[0], "predicted", p->predicted, ratio);
}

void tune_known(struct tune_problem *p)
{
    p->build.state = "predicted";
    if (!take_measured(p))
        take_predicted(p);
}
