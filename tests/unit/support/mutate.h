// Mutants: lowered kernels with one thing wrong.

#ifndef TESTS_UNIT_SUPPORT_MUTATE_H
#define TESTS_UNIT_SUPPORT_MUTATE_H

#include "ir/ir.h"

enum mutation {
#define MUTATION(name, spelling, kind, text) MUTATION_##name,
#include "tests/unit/support/mutations.def"
#undef MUTATION
    MUTATIONS
};

const char *mutation_name(enum mutation m); // "drop-barrier"
bool mutation_is_of_order(enum mutation m); // of what others wait for

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

// Return whether the mutation drops statements like this one.
bool mutation_drops(enum mutation m, const struct ir_stmt *s);

// Return the wrong form of an operation on an mbarrier, or NULL if the mutation
// leaves it.
struct ir_expr *mutation_of_mbarrier(struct arena *a, enum mutation m,
                                     struct ir_expr *x);

// Return whether the order of two statements may matter, and the second does
// not need what the first declares.
bool mutation_can_swap(struct ir_stmt *s, struct ir_stmt *t);

#endif
