// The accesses of one statement.

#ifndef PASSES_PROOF_STMT_ACCESSES_H
#define PASSES_PROOF_STMT_ACCESSES_H

#include "ir/base/map.h"
#include "passes/proof/program.h"

// What is looked for, and where.
struct stmt_accesses {
    struct arena *arena;
    const struct map *values;  // what lets stand for
    const struct scope *scope; // around; that of a lazy operand is inside it
    const struct ir_stmt *stmt;
    struct accesses *out;
};

// Find the accesses of a statement, without those of its blocks.
void stmt_accesses_find(struct stmt_accesses *t, struct ir_stmt *s);

#endif
