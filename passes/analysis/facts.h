// What is known at a place of a program: ranges and relations of its integers.
//
// A walk keeps one `struct facts` and brackets what it enters:
//
//   struct facts_mark here = facts_mark(f);
//   facts_enter(f, loop);
//   ... walk the body ...
//   facts_leave(f, here);
//
// Facts hold for values that never change: sizes, loop and iteration variables
// and `let` values.  Nothing is concluded from elements of arrays.

#ifndef PASSES_ANALYSIS_FACTS_H
#define PASSES_ANALYSIS_FACTS_H

#include "ir/affine.h"
#include "passes/analysis/interval.h"

// What is known of one variable; later entries refine earlier ones.
struct fact_var {
    const struct ir_var *var;
    struct interval range;
    struct ir_expr *value; // of a `let`, or NULL
};

// That an atom is a multiple of a number.
struct fact_multiple {
    struct ir_expr *atom;
    int64_t of;
};

// Everything known so far.
struct facts {
    struct arena *arena;
    struct VEC(struct affine) known; // each is at least 0
    struct VEC(struct fact_var) vars;
    struct VEC(struct fact_multiple) multiples;
    const struct ir_launch *launch; // around, or NULL
    struct VEC(uint32_t) states;    // a number of its own for each step to here
    uint32_t newest;                // the last of these numbers
    struct answers *answers;        // to what was asked, or NULL
    struct models *models;          // of what is known
};

// How much was known at some point.
struct facts_mark {
    size_t known, vars, multiples, states;
    const struct ir_launch *launch;
};

// Start with a kernel's parameters, `where` and guard; sizes are at least 0.
void facts_start(struct facts *f, struct arena *a,
                 const struct ir_kernel *kernel);

struct facts_mark facts_mark(const struct facts *f);

// Forget what was learnt since the mark.
void facts_leave(struct facts *f, struct facts_mark mark);

// Return what was known at a mark, to learn more from there: `f` stays as it
// is, but must take over `newest` before it learns on.
struct facts facts_at(const struct facts *f, struct facts_mark mark);

// Return a copy, which stays as it is whatever `f` learns and forgets.
struct facts *facts_copy(const struct facts *f);

// Return whether nothing was learnt or forgotten between `f` and a copy of it.
bool facts_are_same(const struct facts *f, const struct facts *copy);

// Return what is known in the init of a stage, whose facts these are: it runs
// also where the loops of the reduction do not, so nothing that follows from
// them.  The same marks count; as with facts_at, `f` takes over `newest`.
struct facts facts_of_init(const struct facts *f, const struct ir_stage *stage);

// Learn what holds inside a loop, stage or launch, or behind a `let`.
void facts_enter(struct facts *f, const struct ir_stmt *s);

// Learn what holds inside the first `n` statements of a path: all of the above,
// and `let`s before them and before the next one.
struct ir_path;
void facts_enter_path(struct facts *f, const struct ir_path *path, uint32_t n);

// Return what holds around a statement of a kernel.
struct facts facts_around(struct arena *a, struct ir_kernel *kernel,
                          const struct ir_stmt *s);

// Learn what holds in the k-th block inside a statement beside what facts_enter
// has learnt of it: a branch's condition, or that it does not hold.
void facts_enter_block(struct facts *f, const struct ir_stmt *s, uint32_t k);

// The blocks inside of a statement, in each of which it is known what holds
// there, and forgotten behind it; behind a `let` it is known what it is.
//
//   facts_foreach_inside(inner, f, s)
//       walk(f, inner);
//
// The loop has to come to its end.
struct facts_inside {
    struct facts *facts;
    struct ir_stmt *stmt;
    struct facts_mark outside, around; // before it; before its next block
    uint32_t next;
};
#define facts_foreach_inside(block, f, s)                                      \
    for (struct facts_inside block##_inside = facts_inside(f, s),              \
                             *block##_once = &block##_inside;                  \
         block##_once; block##_once = NULL)                                    \
        for (struct ir_block * block;                                          \
             (block = facts_next_inside(&block##_inside)) != NULL;)

// Enter a statement, and its next block; NULL, and the statement is left, if
// there is none.
struct facts_inside facts_inside(struct facts *f, struct ir_stmt *s);
struct ir_block *facts_next_inside(struct facts_inside *w);

// Learn that a condition holds, or that it does not.
void facts_assume(struct facts *f, struct ir_expr *condition, bool holds);

// Return bounds of an integer expression that evaluates without a fault.
struct interval facts_range(const struct facts *f, const struct ir_expr *x);
struct interval facts_range_of(const struct facts *f, const struct affine *x);

// Return whether the quotients of an expression are proved to be defined: none
// divides by 0, no ceildiv a negative number.  What is evaluated only in some
// iterations may leave the loop if so.
bool facts_is_total(const struct facts *f, const struct ir_expr *x);

// Return whether an index is proved to lie in a dimension of that extent.
bool facts_is_within(const struct facts *f, struct ir_expr *index,
                     struct ir_expr *extent);

// Return whether an expression is proved to evaluate without a fault and
// without an effect: what it reads lies in its arrays, too.
bool facts_is_safe(const struct facts *f, struct ir_expr *x);

// Return whether x >= 0 can be proved.
bool facts_nonnegative(const struct facts *f, const struct affine *x);

// Return whether x <= y can be proved.
bool facts_at_most(const struct facts *f, struct ir_expr *x, struct ir_expr *y);

// Return whether a loop is proved to have an iteration, asked from outside.
bool facts_runs(const struct facts *f, const struct ir_for *loop);

// Return whether x is proved to be a multiple of `of`.
bool facts_multiple(const struct facts *f, const struct affine *x, int64_t of);

// What can be proved of a condition.
enum truth { TRUTH_UNKNOWN, TRUTH_FALSE, TRUTH_TRUE };
enum truth facts_decide(const struct facts *f, struct ir_expr *condition);

// Return whether it is TRUTH_TRUE: the search for why it would fail is left out.
bool facts_holds(const struct facts *f, struct ir_expr *condition);

// Return whether a comparison of index values has the form 0 <= *form.
bool facts_form(struct arena *a, const struct ir_expr *comparison,
                struct affine *form);

// Return the newest entry of a variable, or NULL.
const struct fact_var *facts_var(const struct facts *f,
                                 const struct ir_var *var);

#endif
