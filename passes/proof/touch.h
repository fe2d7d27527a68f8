// The accesses of one statement.

#ifndef PASSES_PROOF_TOUCH_H
#define PASSES_PROOF_TOUCH_H

#include "ir/base/map.h"
#include "passes/proof/program.h"

// What is looked for, and where.
struct touch {
    struct arena *arena;
    const struct map *values;  // what lets stand for
    const struct scope *scope; // around; that of a lazy operand is inside it
    const struct ir_stmt *stmt;
    struct accesses *out;
};

// Find the accesses of a statement, without those of its blocks.
void touch_find(struct touch *t, struct ir_stmt *s);

#endif
