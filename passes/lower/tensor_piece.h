// Pieces of a nest that copies element by element.

#ifndef PASSES_LOWER_TENSOR_PIECE_H
#define PASSES_LOWER_TENSOR_PIECE_H

#include "passes/lower/tensor_box.h"

// Find the pieces, each of which lies in one run on both sides.  The facts are
// those around the nest; new nodes go to `a`.  Returns why there are none, or
// NULL.
const char *tensor_piece_find(struct arena *a, struct facts *f,
                              struct tensor_box *box);

#endif
