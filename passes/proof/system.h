// Two accesses as a system of linear conditions: each has its thread and its
// iterations of loops; what both have in common has one value.
//
// A system holds what has to be true if both accesses happen, and are to a common
// element, or less: what is not linear is an unknown of its own, so "there is no
// solution" is a proof.  `is_exact` says that nothing was left out: then it is not
// only necessary but enough.

#ifndef PASSES_PROOF_SYSTEM_H
#define PASSES_PROOF_SYSTEM_H

#include "passes/analysis/facts.h"
#include "passes/analysis/linear.h"
#include "passes/proof/program.h"

enum side { FIRST, SECOND, SIDES, BOTH = SIDES };

// Where two accesses stand to each other.
struct relation {
    const struct scope *common; // loops here and above that are fixed have one
                                // iteration; NULL: none has
    const struct scope *back;   // NULL, or a fixed loop, `common` itself, of
                                // which the second is in the next iteration
    bool blocks_differ;         // they are of different blocks
};

// An unknown that is an expression.
struct leaf {
    const struct ir_expr *expr;
    int side;
    uint32_t unknown;
};

// A system.
struct system {
    struct arena *arena; // of the launch: what was found out stays
    const struct program *program;
    const struct facts *facts; // of the kernel's sizes
    struct linear linear;
    struct VEC(struct leaf) leaves;
    struct relation relation;
    const struct scope *scope[SIDES]; // of the accesses
    bool is_exact;
    bool is_choosing; // of either-or one is required, as bits of `choice` say
    uint32_t choice, choices; // how many bits have been used
    bool asks_sizes; // launches may have no blocks, and large limits count
    // What is written is asked: digits of a block's index stand for it, and products
    // with positions are any number.
    bool is_covering;
    bool is_cut;   // the question was not asked: there were too many like it
    bool is_loose; // sizes and conditions around are left out: a short question
    uint64_t questions, most; // asked so far; the budget
    uint32_t searches;        // for sizes
};

// Start to ask about a launch.
void system_start(struct system *s, struct arena *a,
                  const struct program *program, const struct facts *facts,
                  uint64_t most);
void system_end(struct system *s);

// Begin a question: the sizes are those that the kernel accepts.
void system_begin(struct system *s, struct relation relation);

// Require that a side is inside a scope.
void system_enter(struct system *s, const struct scope *scope, enum side side);

// Return the value of an expression of a side.
struct sum system_value(struct system *s, struct ir_expr *x, enum side side);

// Return whether an expression is made of sizes alone.
bool system_is_sized(const struct ir_expr *x);

// Require that a condition holds, or does not, or what of it is linear.
void system_require(struct system *s, struct ir_expr *c, bool holds,
                    enum side side);

// Require that something along an axis or a dimension is there, before its end: if the
// end is a product, each factor is at least 1.
void system_require_some(struct system *s, struct ir_expr *end);

// Return the number of the thread in its block.
struct sum system_thread(struct system *s, enum side side);

// Return whether there may be a solution; true when the budget is used up.
bool system_is_possible(struct system *s);
bool system_is_spent(const struct system *s);

// The same with x < y, of which nothing stays.
bool system_may_be_less(struct system *s, const struct sum *x,
                        const struct sum *y);

// Find sizes with which there is a solution: none if that is not known.
struct proof_values system_sizes(struct system *s, struct arena *a);

#endif
