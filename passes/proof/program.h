// A launch as proofs see it: segments of accesses that nothing orders among the
// threads of a block, what orders them, loops and branches.

#ifndef PASSES_PROOF_PROGRAM_H
#define PASSES_PROOF_PROGRAM_H

#include "ir/base/map.h"
#include "passes/proof/proof.h"

// Something around an access; the way from one up to the top is a list.
struct scope {
    const struct scope *up;    // NULL at the top
    const struct ir_var *var;  // of a loop; or NULL
    struct ir_expr *from, *to; // of a loop, without names of lets
    struct ir_expr *step;      // of a loop
    struct ir_expr *condition; // that holds, or does not; or NULL
    bool holds;
    const struct node *branch; // whose condition it is; or NULL
    bool may_end;              // of a loop: by a `break`, too
    bool
        is_fixed; // of a loop, while it is walked: threads that meet are in the
                  // same iteration
};

// What is known of a claim about an access.
struct claim {
    bool is_asked; // the claim applies, and the analysis has come to its end
    bool is_open;
    enum proof_reason reason;
    const struct access *other;
    struct proof_values sizes;
};

// An access.  Its expressions are over positions, parameters, variables of
// loops and lets whose value is not stable.
struct access {
    const struct ir_stmt *stmt;
    struct span span;
    const struct ir_buffer *buffer;
    struct ir_expr **index; // of the first element
    int64_t *constant;      // of each index, where it has one
    uint32_t *count;        // of elements in each dimension; 0: any of them
    bool reads, writes;
    bool is_atomic;
    enum ir_scope atomic_scope;
    bool is_mbarrier; // of an operation on one
    bool is_async;    // of a copy that goes on behind its statement
    bool is_arrival;  // at an mbarrier once such copies are done
    bool is_proxy;    // of the asynchronous proxy: TMA, WGMMA
    bool is_product;  // of WGMMA, which goes on behind its statement
    bool is_beyond;   // may begin outside of its array: TMA fills in
    const struct scope *scope;
    struct claim claims[CLAIM_COUNT];
};
struct accesses VEC(struct access *);

struct family;

// What was found of two wide families, whatever the conditions around.
struct pair_answer {
    const struct family *other;
    const struct scope *common, *back;
    enum proof_claim claim;
    uint64_t kind; // of the question
    bool may_conflict;
    uint32_t asked, open; // questions about members; of these, without a proof
};

// The constants of an index: lo, lo + step ... hi, or some of them; of each as
// many elements as the access has.  A step of 0: there is one.
struct offsets {
    int64_t lo, hi, step;
};

// Accesses that differ in the constants of their indices only.
struct family {
    const struct access *first; // that the rest is like
    const struct scope *scope;  // around all of them
    struct ir_expr **base;      // of each dimension; NULL: any element
    struct offsets *offsets;
    struct accesses members;
    struct family *wide; // one like it of the innermost loop around, whatever
                         // the conditions; NULL: it is such a one
    struct VEC(struct pair_answer) answers; // about a wide one and others
};
struct families VEC(struct family *);

enum node_kind { NODE_SEGMENT, NODE_SYNC, NODE_LOOP, NODE_BRANCH, NODE_EXIT };

// A part of a launch.
struct nodes VEC(struct node *);
struct node {
    enum node_kind kind;
    const struct ir_stmt *stmt;
    struct families families;     // segment
    struct scope *scope;          // loop
    struct nodes body, otherwise; // loop, branch
    bool has_sync;                // loop, branch: one is inside
};

// How a launch uses an array.
struct array_use {
    bool is_written, is_async, is_product, has_mbarriers;
    bool is_by_tma;   // TMA accesses it
    bool may_be_left; // an access may be outside, as far as is known
};

// A launch.
struct program {
    struct arena *arena; // of the walk
    const struct ir_kernel *kernel;
    const struct ir_launch *launch;
    struct nodes body;
    struct accesses all;
    struct families wide;
    struct map uses; // ir_buffer -> array_use
    struct map
        elements; // name of what is no expression over loops -> its value
    bool has_return, has_grid_barrier;
    bool has_arrivals; // of copies, at mbarriers
};

// Take a launch apart.
struct program *program_make(struct arena *a, const struct ir_kernel *kernel,
                             const struct ir_launch *launch);

// Return how an array of which the launch has accesses is used.
struct array_use *program_use(const struct program *p,
                              const struct ir_buffer *b);

// Return whether a scope is a loop, or a condition on nothing but the position
// of the thread.
bool scope_is_short(const struct scope *s);

// Say that a claim about an access is open.
void access_open(struct access *x, enum proof_claim claim,
                 enum proof_reason reason, const struct access *other);

#endif
