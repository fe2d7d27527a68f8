// Finds the bulk copies that do what a nest copies element by element.

#ifndef PASSES_LOWER_BULK_COPY_H
#define PASSES_LOWER_BULK_COPY_H

#include "passes/lower/tma_tile.h"

// Find the bulk copies, each contiguous on both sides. The facts are those
// around the nest; new nodes go to `a`. Returns why there are none, or NULL.
const char *bulk_copy_find(struct arena *a, struct facts *f,
                           struct tma_tile *tile);

#endif
