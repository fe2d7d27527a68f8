// Times a kernel on the GPU by events.

#ifndef TOOLS_INGOT_TIMING_H
#define TOOLS_INGOT_TIMING_H

#include "tools/ingot/device.h"

// What to time.
struct timing_request {
    size_t repetitions; // 0: as many as take a second, 100 at most
    size_t graph;       // launches in a graph; 0: a graph of 100 if the
                        // kernel takes less time than a launch
};

// The times of one run of the kernel, in milliseconds.
struct timing {
    double median, least, most;
    size_t repetitions; // measured
    size_t batch;       // runs in each of them
    bool is_graph;      // each was a graph that was replayed
};

// Time runs that take turns on all sets.
// Returns false after reporting.
bool timing_measure(struct device *d, const struct timing_request *request,
                    struct timing *out);

// The times of two kernels that were measured in turns.
struct timing_pair {
    struct timing one, other;
    double
        ratio; // median of one's time over that of the other in the same turn
    double spread; // half of the middle half of these ratios, over the median
};

// Time batches of two kernels in turns, request->repetitions of each.
// Returns false after reporting.
bool timing_turns(struct device *one, struct device *other,
                  const struct timing_request *request,
                  struct timing_pair *out);

#endif
