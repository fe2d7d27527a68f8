// How many blocks of a launch an SM holds.

#ifndef PASSES_MODEL_RESIDENCY_H
#define PASSES_MODEL_RESIDENCY_H

#include "passes/model/model.h"

// Set threads, registers, shared bytes, blocks per SM and occupancy of
// out->launch.
void residency_find(struct arena *a, const struct model_question *question,
                    struct model_launch *out);

#endif
