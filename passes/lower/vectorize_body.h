// The body of a vector loop as operations on vectors.

#ifndef PASSES_LOWER_VECTORIZE_BODY_H
#define PASSES_LOWER_VECTORIZE_BODY_H

#include "ir/base/map.h"
#include "passes/analysis/facts.h"
#include "passes/pass.h"

// A vector access of an array.
struct vectorize_access {
    struct ir_buffer *buffer;
    uint32_t bytes;
};

// Why accesses of neighbours stay scalar.
struct vectorize_fault {
    const struct ir_buffer *array; // NULL: there is none
    struct span span;              // of the access
    bool is_aligned;               // it is not seen that they are neighbours
};

// What is vectorized: all iterations of a loop at once.
struct vectorizer {
    struct pass *p;
    struct facts *facts;  // at the loop
    struct ir_stmt *stmt; // the loop
    bool is_dot;          // they are a dp4a
    unsigned lanes;       // its iterations
    struct map vectors;   // variables of its body -> their vector variables
    struct VEC(struct vectorize_access) accesses; // made so far
    struct vectorize_fault fault;                 // of the first access
};

// Return the loop's body on vectors, or false if it has to stay scalar: an
// iteration may depend on another, or nothing in memory is contiguous.
bool vectorize_body(struct vectorizer *w, struct ir_block *out);

// Append a version of a loop marked @whole that has no guard, for when none of its
// iterations is left out, and one as before; false if the body is no guarded
// statement whose guard is linear in the loop.
bool vectorize_whole(struct vectorizer *w, struct ir_block *out);

// Return the vector of what an expression is in each lane.
struct ir_expr *vectorize_expr(struct vectorizer *w, struct ir_expr *x);

// ---- vectorize_dot.c

// Return whether a loop marked for dp4a is serial, of as many iterations as it
// takes.
bool vectorize_has_steps(const struct vectorizer *w);

// Return whether the body of a loop marked for dp4a stores or assigns once, and
// reads that once.
bool vectorize_is_sum(const struct ir_block *body);

// Append what a statement of a loop marked for dp4a does in all lanes, or return
// false if that is no dp4a.
bool vectorize_dot(struct vectorizer *w, struct ir_stmt *s,
                   struct ir_block *out);

// ---- vectorize_access.c

// Return the loop.
const struct ir_for *vectorize_loop_of(const struct vectorizer *w);

// Return whether an expression differs from lane to lane.
bool vectorize_varies(const struct vectorizer *w, const struct ir_expr *x);

// Return a condition that holds in each lane where `c` does, the same in all
// lanes; NULL if they may differ.
struct ir_expr *vectorize_same(const struct vectorizer *w, struct ir_expr *c);

// Return what an expression is in a lane.
struct ir_expr *vectorize_in_lane(const struct vectorizer *w, struct ir_expr *x,
                                  unsigned k);

// Return how many elements each access may have when the lanes select
// neighbours, aligned, in the array; 0 if they do not.  What may be neighbours,
// but is not proved to be, is noted as a fault at `span`.
unsigned vectorize_contiguous(struct vectorizer *w, const struct ir_buffer *b,
                              struct ir_expr *const *index, struct span span);

// Return the index of the access of n neighbours that starts at a lane.
struct ir_expr **vectorize_ramp(struct vectorizer *w, struct ir_buffer *b,
                                struct ir_expr *const *index, unsigned lane,
                                unsigned n);

#endif
