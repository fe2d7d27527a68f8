// Mutants: lowered kernels with one thing wrong.

#ifndef TESTS_UNIT_SUPPORT_MUTATE_H
#define TESTS_UNIT_SUPPORT_MUTATE_H

#include "ir/ir.h"

enum mutation {
#define MUTATION(name, spelling, text) MUTATION_##name,
#include "tests/unit/support/mutations.def"
#undef MUTATION
    MUTATIONS
};

const char *mutation_name(enum mutation m); // "drop-barrier"

// Return the number of places in the launches of a kernel at level flat that
// the mutation could change.
size_t mutation_sites(const struct ir_kernel *kernel, enum mutation m);

// Return a copy of the kernel, in the arena, that is mutated at one of them.
struct ir_kernel *mutation_apply(struct arena *a,
                                 const struct ir_kernel *kernel,
                                 enum mutation m, size_t site);

// Return a copy of the kernel with a store outside of its last parameter, a
// result, in front of that place: who runs it finds out whether it is reached.
struct ir_kernel *mutation_probe(struct arena *a,
                                 const struct ir_kernel *kernel,
                                 enum mutation m, size_t site);

// Return whether the order of two statements may matter, and the second does
// not need what the first declares.
bool mutation_can_swap(struct ir_stmt *s, struct ir_stmt *t);

#endif
