// Pieces of a nest that copies element by element.

#ifndef PASSES_LOWER_BULK_COPY_H
#define PASSES_LOWER_BULK_COPY_H

#include "passes/lower/tma_tile.h"

// Find the pieces, each of which lies in one run on both sides.  The facts are
// those around the nest; new nodes go to `a`.  Returns why there are none, or
// NULL.
const char *bulk_copy_find(struct arena *a, struct facts *f,
                           struct tma_tile *box);

#endif
