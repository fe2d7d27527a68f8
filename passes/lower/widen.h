// The body of a vector loop as operations on vectors.

#ifndef PASSES_LOWER_WIDEN_H
#define PASSES_LOWER_WIDEN_H

#include "ir/base/map.h"
#include "passes/analysis/facts.h"
#include "passes/pass.h"

// A vector access of an array.
struct widen_access {
    struct ir_buffer *buffer;
    uint32_t bytes;
};

// What is widened: all iterations of a loop at once.
struct widen {
    struct pass *p;
    struct facts *facts;  // at the loop
    struct ir_stmt *stmt; // the loop
    unsigned lanes;       // its iterations
    struct map vectors;   // variables of its body -> their vector variables
    struct VEC(struct widen_access) accesses; // made so far
};

// Return the loop's body on vectors, or false if it has to stay scalar: an
// iteration may depend on another, or nothing in memory is contiguous.
bool widen_body(struct widen *w, struct ir_block *out);

#endif
