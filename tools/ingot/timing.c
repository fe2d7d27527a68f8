// Each repetition is a batch of runs between two events: long enough that the
// events' own resolution, about half a microsecond, does not count.

#include "tools/ingot/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARM_UPS = 3,
    TRIAL_RUNS = 10,
    REPETITIONS_MOST = 100,
    REPETITIONS_LEAST = 5,
    GRAPH_RUNS = 100,
    BATCH_MOST = 1000,
};

#define BATCH_MS  0.5    // least time of a batch
#define SECOND_MS 1000.0 // most time of all repetitions, but for the least
#define LAUNCH_MS 0.02   // a shorter run is replayed from a graph

// What is being timed.
struct timer {
    struct device *device;
    void *begin, *end; // events
    size_t next_set;
    size_t batch;
    void *graph; // executable, or NULL: runs are launched one by one
};

// Launch `n` runs, each on the next set.
static bool launch_runs(struct timer *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t set = t->next_set++ % t->device->sets.n;
        if (!device_launch(t->device, &t->device->sets.at[set]))
            return false;
    }
    return true;
}

// Launch a batch between the events, and return the milliseconds of one run.
static bool time_batch(struct timer *t, double *ms)
{
    struct device *d = t->device;
    float all = 0;
    bool ok = DEVICE_CALL(d, cuEventRecord, t->begin, d->stream) &&
              (t->graph ? DEVICE_CALL(d, cuGraphLaunch, t->graph, d->stream)
                        : launch_runs(t, t->batch)) &&
              DEVICE_CALL(d, cuEventRecord, t->end, d->stream) &&
              DEVICE_CALL(d, cuEventSynchronize, t->end) &&
              DEVICE_CALL(d, cuEventElapsedTime, &all, t->begin, t->end);
    *ms = (double)all / (double)t->batch;
    return ok;
}

// Capture `n` runs as the graph of the timer.
static bool capture(struct timer *t, size_t n)
{
    enum { RELAXED = 2 };
    struct device *d = t->device;
    void *graph = NULL;
    if (!DEVICE_CALL(d, cuStreamBeginCapture_v2, d->stream, RELAXED))
        return false;
    bool ok = launch_runs(t, n);
    ok = DEVICE_CALL(d, cuStreamEndCapture, d->stream, &graph) && ok;
    ok = ok && DEVICE_CALL(d, cuGraphInstantiateWithFlags, &t->graph, graph, 0);
    if (graph)
        d->driver->cuGraphDestroy(graph);
    t->batch = n;
    return ok;
}

// Decide how runs are batched.
static bool choose_batch(struct timer *t, const struct timing_request *request)
{
    double ms;
    t->batch = WARM_UPS;
    if (!time_batch(t, &ms))
        return false;
    t->batch = TRIAL_RUNS;
    if (!time_batch(t, &ms))
        return false;
    if (request->graph || ms < LAUNCH_MS)
        return capture(t, request->graph ? request->graph : GRAPH_RUNS) &&
               time_batch(t, &ms);
    t->batch = (size_t)fmin(BATCH_MS / ms + 1, BATCH_MOST);
    return true;
}

// Order two times.
static int order(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

// Sort times and say what they are.
static void summarise(const struct timer *t, double *times, size_t n,
                      struct timing *out)
{
    qsort(times, n, sizeof *times, order);
    *out = (struct timing){.median = (times[n / 2] + times[(n - 1) / 2]) / 2,
                           .least = times[0],
                           .most = times[n - 1],
                           .repetitions = n,
                           .batch = t->batch,
                           .is_graph = t->graph != NULL};
}

// Time batches until there are enough.
static bool repeat(struct timer *t, const struct timing_request *request,
                   struct timing *out)
{
    size_t most =
        request->repetitions ? request->repetitions : REPETITIONS_MOST;
    double *times = arena_array(t->device->arena, double, most);
    double all = 0;
    size_t n = 0;
    while (n < most &&
           (request->repetitions || n < REPETITIONS_LEAST || all < SECOND_MS)) {
        if (!time_batch(t, &times[n]))
            return false;
        all += times[n++] * (double)t->batch;
    }
    summarise(t, times, n, out);
    return true;
}

// Make the events of a timer, and decide how runs are batched.
static bool open_timer(struct timer *t, const struct timing_request *request)
{
    struct device *d = t->device;
    return DEVICE_CALL(d, cuEventCreate, &t->begin, 0) &&
           DEVICE_CALL(d, cuEventCreate, &t->end, 0) &&
           choose_batch(t, request);
}

// Release what a timer holds.
static void close_timer(struct timer *t)
{
    const struct driver *driver = t->device->driver;
    if (t->graph)
        driver->cuGraphExecDestroy(t->graph);
    if (t->begin)
        driver->cuEventDestroy_v2(t->begin);
    if (t->end)
        driver->cuEventDestroy_v2(t->end);
}

bool timing_measure(struct device *d, const struct timing_request *request,
                    struct timing *out)
{
    struct timer t = {.device = d};
    bool ok = open_timer(&t, request) && repeat(&t, request, out);
    close_timer(&t);
    return ok;
}

// Time batches in turns, and summarise them.
static bool take_turns(struct timer *one, struct timer *other, size_t n,
                       struct timing_pair *out)
{
    struct arena *a = one->device->arena;
    double *x = arena_array(a, double, n), *y = arena_array(a, double, n);
    double *ratios = arena_array(a, double, n);
    for (size_t i = 0; i < n; i++) {
        if (!time_batch(other, &y[i]) || !time_batch(one, &x[i]))
            return false;
        ratios[i] = x[i] / y[i];
    }
    summarise(one, x, n, &out->one);
    summarise(other, y, n, &out->other);
    qsort(ratios, n, sizeof *ratios, order);
    out->ratio = (ratios[n / 2] + ratios[(n - 1) / 2]) / 2;
    out->spread = (ratios[n * 3 / 4] - ratios[n / 4]) / 2 / out->ratio;
    return true;
}

bool timing_turns(struct device *one, struct device *other,
                  const struct timing_request *request, struct timing_pair *out)
{
    struct timer x = {.device = one}, y = {.device = other};
    device_tell(one, true);
    bool ok = open_timer(&x, request) && open_timer(&y, request) &&
              take_turns(&x, &y, request->repetitions, out);
    close_timer(&x);
    close_timer(&y);
    device_tell(one, false);
    return ok;
}
