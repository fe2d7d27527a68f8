// What to measure next: a search among ways to run a kernel that knows of them only
// how many knobs each has, with how many values, and how long they took.
//
//   search_start(&s, arena, &space, &options);
//   for (;;) {
//       switch (search_next(&s, &job)) {
//       case SEARCH_JOB: measure job.trial at s.trials.at[job.trial].point
//       case SEARCH_WAIT: wait for a measurement, search_tell(&s, ...)
//       case SEARCH_DONE: search_best(&s)
//
// Measurements may come in any order; decisions are taken when all of a stage have
// come, so they depend on the seed and on the times alone.

#ifndef TOOLS_TUNE_SEARCH_H
#define TOOLS_TUNE_SEARCH_H

#include "ir/base/arena.h"
#include "ir/base/vec.h"

#include <stdbool.h>
#include <stdint.h>

// A schedule with its knobs: of each, how many values it has, and the number of the
// one to begin with.
struct search_item {
    const uint32_t *values;
    size_t n;
    const uint32_t *first; // NULL: 0
};

// All schedules, those first that are likely to be fast.
struct search_space VEC(struct search_item);

// A schedule and, for each knob, the number of a value.
struct search_point {
    size_t item;
    uint32_t *at;
    double predicted; // the time that is expected, in any unit; 0: unknown
};
struct search_points VEC(struct search_point);

// When to stop.
struct search_options {
    uint64_t seed;
    size_t trials; // most that run; 0: as many as there are
    size_t width;  // trials of a round; 0: 8
    double
        patience; // no further round after one that made the best so much faster
                  // or less, 0.01: by one percent; below 0: never
    double before; // best time that is there already; 0: none
    bool
        is_exhaustive; // one round of all points, in as many turns each; then the
                       // fastest few once more
};

// The turns of the last measurement of what may be the best, how many measurements
// there are of that, and how many of the fastest have neighbours that are tried.
enum { SEARCH_TURNS_SURE = 40, SEARCH_RUNGS = 3, SEARCH_WINNERS = 3 };

// How a trial ended.
enum search_end {
    SEARCH_OPEN,     // not yet
    SEARCH_MEASURED, // it has a time
    SEARCH_REFUSED,  // it is no way to run the kernel: it does not count
    SEARCH_FAILED,   // it ran, but not to a right result
    SEARCH_LATER,    // it is to be tried again behind all others, as one that
                     // `is_late`; it does not count
};

// A point that was tried.
struct search_trial {
    struct search_point point;
    enum search_end end;
    double time;  // in any unit; of the last measurement
    size_t rung;  // how often it was chosen to be measured again
    bool is_out;  // a measurement is on its way
    bool is_late; // it was put off before
};

// A measurement to make.
struct search_job {
    size_t trial;
    size_t turns; // how many repetitions
};

enum search_step { SEARCH_JOB, SEARCH_WAIT, SEARCH_DONE };

// The state; only search.c changes it.
struct search {
    struct arena *arena;
    const struct search_space *space;
    struct search_options options;
    struct VEC(struct search_trial) trials;
    struct search_points seeds; // to be tried first
    struct search_points
        order; // or else in this order; none: that of the space
    struct search_points later; // put off
    size_t next_seed, next_order, next_later;
    uint64_t *next;  // of each item, how many of its points were proposed
    uint64_t random; // state of the generator
    size_t first[SEARCH_RUNGS]; // trial that the round at each rung began with
    size_t winners[SEARCH_WINNERS]; // the fastest as the stage began
    size_t n_winners;
    double *effects;   // what effects.c has learnt; NULL: nothing
    bool is_open;      // the round at rung 0 may get further trials
    double before;     // best time when the stage began; 0: none
    bool is_exhausted; // there is nothing left to propose
};

void search_start(struct search *s, struct arena *a,
                  const struct search_space *space,
                  const struct search_options *options);

// Return what to do next; of SEARCH_JOB, set `out`.
enum search_step search_next(struct search *s, struct search_job *out);

// Say how a trial ended; `time` counts if it was measured.
void search_tell(struct search *s, size_t trial, enum search_end end,
                 double time);

// Append the points that would be tried next, up to the end of a round, if all that is on
// its way came as predicted; the search stays as it is.
void search_expect(const struct search *s, struct arena *a,
                   struct search_points *out);

// Return in how many knobs two points differ; SIZE_MAX if they are of two items.
size_t search_distance(const struct search *s, const struct search_point *x,
                       const struct search_point *y);

// Return whether a point was tried already.
bool search_is_known(const struct search *s, const struct search_point *p);

// Return whether a trial was measured, be it that it is measured again.
bool search_has_time(const struct search_trial *t);

// Return the trial with the least time, or NULL.
const struct search_trial *search_best(const struct search *s);

// Return how many trials ran: all but those refused.
size_t search_count(const struct search *s);

// Return how many points a space has; UINT64_MAX if that is not a number.
uint64_t search_size(const struct search_space *space);

#endif
