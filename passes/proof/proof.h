// What holds of a kernel for all sizes, access by access.
//
// A claim is proved, or open with the reason.  Proofs are about the program
// behind the passes `mapped` and `barriers`: what becomes PTX but for the order
// of the elements of each array.

#ifndef PASSES_PROOF_PROOF_H
#define PASSES_PROOF_PROOF_H

#include "ir/ir.h"

enum proof_claim {
#define CLAIM(name, meaning) CLAIM_##name,
#include "passes/proof/claims.def"
#undef CLAIM
    CLAIM_COUNT
};

enum proof_reason {
#define REASON(name, text) REASON_##name,
#include "passes/proof/reasons.def"
#undef REASON
};

enum proof_verdict { PROOF_OPEN, PROOF_PROVED };

// A parameter of the kernel in an example.
struct proof_value {
    const struct ir_var *var;
    int64_t value;
};
struct proof_values VEC(struct proof_value);

// What is known of one claim about an access, or about a result.
struct proof_item {
    enum proof_claim claim;
    enum proof_verdict verdict;
    enum proof_reason reason;       // of what is open
    const struct ir_launch *launch; // of an access; NULL for a result
    const struct ir_buffer *buffer;
    struct span span, by; // of the kernel; of a directive, or none
    struct span other;    // of the second access, or none
    bool writes;
    uint32_t times;            // accesses of the program that this is about
    struct proof_values sizes; // that may show a fault; none: none found
};

// The proofs of a kernel.
struct proof {
    struct VEC(struct proof_item) items; // in the order of the program
    uint64_t questions;                  // asked
};

// Return what can be proved of a kernel at level launch, with at most so many
// questions; each has a budget of isl's operations.  Of a kernel at another
// level nothing is.  The kernel stays as it is and must outlive the result.
struct proof *proof_make(struct arena *a, const struct ir_kernel *kernel,
                         uint64_t questions);

// How many questions are enough for the kernels of tests/kernels.
enum { PROOF_QUESTIONS = 100 * 1000 };

const char *proof_claim_name(enum proof_claim claim); // "block_race"
const char *proof_verdict_name(enum proof_verdict verdict);
const char *proof_reason_text(enum proof_reason reason);

#endif
