// What a build tells in JSON of its schedules and its time.

#ifndef TOOLS_INGOT_RESULTS_H
#define TOOLS_INGOT_RESULTS_H

#include "tools/ingot/json.h"
#include "tools/libingot/compile.h"

// Return the schedules that the variants were made by, with their knobs.
json_t *results_schedules(const struct compilation *c);

// Return the times of all phases and their parts.
json_t *results_times(const struct phases *times);

#endif
