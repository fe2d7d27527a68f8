// The places that a nest accesses, as depend.c and its parts see them.

#ifndef PASSES_SCHEDULE_DEPEND_ACCESS_H
#define PASSES_SCHEDULE_DEPEND_ACCESS_H

#include "ir/base/map.h"
#include "passes/analysis/domain.h"
#include "passes/analysis/facts.h"
#include "passes/pass.h"
#include "passes/schedule/depend/depend.h"

// A digit of an index: `weight` times a value that varies.
struct depend_digit {
    struct affine_term weight; // its atoms do not vary
    struct ir_expr *value;
};

// A number in mixed radix: base + digits + rest, where each digit weighs more
// than everything behind it.
struct depend_radix {
    struct ir_expr *of; // the expression
    struct affine base; // what does not vary
    bool negated;       // the digits count downwards
    bool is_whole;      // there is no rest
    struct VEC(struct depend_digit) digits;
};

// The indices of an access as such numbers, read when they are asked for.
struct depend_reading {
    const struct facts *facts; // at the place of the access; NULL: not read yet
    struct VEC(struct depend_radix) radices; // the indices, then parts of them
};

// A read or a write of an element.
struct depend_access {
    const struct ir_buffer *buffer;
    const struct ir_stmt *stmt;  // that does it
    const struct ir_stmt *stage; // around, or NULL
    struct span span;
    bool writes, is_atomic;
    bool in_init;            // of the stage
    struct ir_expr **index;  // in terms of loops and sizes
    struct domain_path path; // around, from the kernel's body down
    struct depend_reading *reading;
};

// A nest and what it accesses, in the order of execution.
struct depend_nest {
    struct pass *pass;
    struct facts facts;         // at the place that was asked about last,
    struct domain_path entered; // behind these steps from the kernel's body,
    struct VEC(struct facts_mark) marks; // which it was in front of
    const struct facts *noted; // a copy, at the newest access read, or NULL
    struct map values;         // what lets and iteration variables stand for
    struct map varying;      // variables that may differ between two iterations
    struct map inner;        // arrays and scalars declared inside the loops
    struct domain_path path; // around the place being walked
    size_t outer;            // steps of every path that are around the nest
    struct ir_stmt *top;     // the kernel's statement that holds the nest
    const struct ir_stmt *stmt, *stage; // being walked
    bool in_init;
    bool on_threads; // the iterations become threads of a block
    struct VEC(struct depend_access) accesses;
    struct depend_conflict scalar; // an outer scalar that is assigned to
};

// Return whether a step of a path is a loop.
static inline bool depend_is_loop(const struct domain_step *step)
{
    return step->stmt && step->stmt->kind == STMT_for;
}

// Walk the nest from the outermost of its loops, as it is to run on `axis`;
// the serial loops around vary if `across`.
void depend_walk(struct depend_nest *w, struct pass *p, struct ir_stmt *loop,
                 enum axis axis, bool across);

// Walk the whole kernel, as a nest in no loop.
void depend_walk_all(struct depend_nest *w, struct pass *p);

// Return what is known at the place of an access; it stays.
const struct facts *depend_facts_at(struct depend_nest *w,
                                    const struct depend_access *x);

// Return what is known around the nest that an access is in, until one is asked
// about next.
const struct facts *depend_facts_around(struct depend_nest *w,
                                        const struct depend_access *x);

// Expressions that have one value in two accesses of one element.
struct depend_known VEC(struct ir_expr *);
struct depend_known depend_common(struct depend_nest *w,
                                  const struct depend_access *x,
                                  const struct depend_access *y);
bool depend_is_known(const struct depend_known *k, const struct ir_var *var);

// Return the loop around an access that is bound to an axis, or NULL.
struct ir_stmt *depend_loop_on(const struct depend_access *x, enum axis axis);

// A question about pairs of iterations of a nest.
struct depend_question {
    struct ir_stmt *const *loops; // nested, outermost first
    size_t n;
    struct ir_stmt *const *order; // the same in their new order; NULL: the
                                  // iterations of loops[0] run at any time;
                                  // without loops: those of any loops that are
                                  // bound to the axis
    bool across;                  // the serial loops around do, too ...
    bool waits;     // ... but not where shared memory is concerned
    bool combines;  // they add up parts of a reduction, which is lowered
    bool is_bound;  // they are on the axis already: what counts is global
                    // memory, and what is proved to conflict
    enum axis axis; // on which; serial if there is an order
    bool any;       // all pairs are meant, whatever their order
};

// Return whether no two iterations of one element are open, because the loops
// that the address does not determine keep their order, or because a stage's
// init comes first in any order.
bool depend_is_settled(struct depend_nest *w, const struct depend_question *q,
                       const struct depend_access *x,
                       const struct depend_access *y,
                       const struct depend_known *known);

// Return whether two iterations whose order the question leaves open may
// access the same element.  `*is_exact`: nothing had to be left out.
bool depend_meets(struct depend_nest *w, const struct depend_question *q,
                  const struct depend_access *x, const struct depend_access *y,
                  bool *is_exact);

// The same in two steps: what is found without isl, with what the address
// determines, and what isl says.
bool depend_is_open(struct depend_nest *w, const struct depend_question *q,
                    const struct depend_access *x,
                    const struct depend_access *y, struct depend_known *known);
bool depend_meets_open(struct depend_nest *w, const struct depend_question *q,
                       const struct depend_access *x,
                       const struct depend_access *y,
                       const struct depend_known *known, bool *is_exact);

// Return how many steps two paths have in common.
size_t depend_common_steps(const struct depend_access *x,
                           const struct depend_access *y);

// Return whether a write in a nest like that of a read has written each element that
// it reads, earlier in the same iteration of the question's loops.
bool depend_has_twin(struct depend_nest *w, const struct depend_question *q,
                     const struct depend_access *read);

// The same for sizes that are numbers.  Returns the loops' values in an
// example: those of x's path, then those of y's.
int64_t *depend_sample(struct depend_nest *w, const struct depend_question *q,
                       const struct depend_access *x,
                       const struct depend_access *y, const struct map *sizes);

// The same in words, for small sizes first; NULL if none is found.
const char *depend_example(struct depend_nest *w,
                           const struct depend_question *q,
                           const struct depend_access *x,
                           const struct depend_access *y);

// Return whether each element that `read` reads was written before, in the
// same iteration of the question's loops and of those around.
bool depend_is_covered(struct depend_nest *w, const struct depend_question *q,
                       const struct depend_access *read);

// Return whether no iterations conflict in an array as a whole; if only a read of
// what its iteration has not written is in the way, *uncovered is that one.
bool depend_is_free(struct depend_nest *w, const struct depend_question *q,
                    const struct ir_buffer *b,
                    const struct depend_access **uncovered);

// Return whether that is so as each read has a twin.
bool depend_is_free_at_once(struct depend_nest *w,
                            const struct depend_question *q,
                            const struct ir_buffer *b);

// Return whether all writes of an array in the nest are by stages, plain ones,
// that store one function of the index and of what they read.
bool depend_repeats(const struct depend_nest *w, const struct ir_buffer *b);

#endif
