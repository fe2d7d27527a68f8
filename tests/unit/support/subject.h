// Kernels that primitives are tried on with random arguments, and what must
// hold of the outcome.

#ifndef TESTS_UNIT_SUPPORT_SUBJECT_H
#define TESTS_UNIT_SUPPORT_SUBJECT_H

#include "frontend/frontend.h"
#include "ir/eval.h"
#include "passes/schedule/prim.h"
#include "tests/support/calls.h"
#include "tests/support/draw.h"

// Kernels of one text on arrays of i32, so that sums have one value in any
// order, and a generator of random numbers.
struct subject {
    struct arena arena;   // of the program
    struct arena work;    // of its copies: emptied by subject_rest
    struct arena scratch; // emptied by passes and by subject_rest
    struct str_table names;
    struct diag_list diags;
    struct program program, library; // the library has what binds the rest
    uint64_t random;                 // state of the generator, not 0
    const int64_t *sizes;            // of the parameters; NULL: random
    struct diag_list errors;         // of the pass: in `work`
};

// Parse the text, which outlives the subject; fails the test with the errors.
void subject_open(struct subject *s, const char *text);
void subject_close(struct subject *s);
// Forget the copies of kernels, and what was said of them.
void subject_rest(struct subject *s);

// Return the next random number below n.
uint64_t subject_below(struct subject *s, uint64_t n);

// Return what passes need to work on a copy of a kernel.
struct pass subject_pass(struct subject *s, const struct ir_kernel *kernel);
// Return what was reported since subject_rest, as text in the scratch arena.
const char *subject_errors(struct subject *s);

// Call a primitive with random arguments.  What it was called with is added
// to `near` after success, and what it made.  `text`, unless it is NULL, gets
// the call.  Returns false if it was refused.
bool subject_call(struct subject *s, struct pass *p, enum sched_prim prim,
                  struct call_near *near, struct buf *text);

// Fail the test unless two kernels compute the same on one set of arguments.
// `text` is printed then.
void subject_compare(struct subject *s, const struct ir_kernel *before,
                     const struct ir_kernel *after, const char *text);
// Return whether they do, or the guard of the second one refuses the
// arguments.  `fault` gets what went wrong.
bool subject_same(struct subject *s, const struct ir_kernel *before,
                  const struct ir_kernel *after, const char **fault);
// Return whether a kernel passes every check, reads back from its text, and
// computes the same as the one that it was made from, with bound loops
// backwards as well.  `fault` gets what went wrong.
bool subject_holds(struct subject *s, const struct ir_kernel *before,
                   const struct ir_kernel *after, const char **fault);
// Fail the test unless that holds.
void subject_check(struct subject *s, const struct ir_kernel *before,
                   const struct ir_kernel *after);

#endif
