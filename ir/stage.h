// What loops and indices are to a stage.

#ifndef IR_STAGE_H
#define IR_STAGE_H

#include "ir/base/map.h"
#include "ir/ir.h"

// Return what a loop variable does for a stage: which kinds of iteration
// variables it is bound to.
enum { STAGE_SELECTS = 1, STAGE_REDUCES = 2 };
unsigned ir_stage_role(const struct ir_stage *stage, const struct ir_var *var);

// Return whether an expression mentions an iteration variable that counts a
// reduction, or a loop variable that does nothing else.
bool ir_stage_counts(const struct ir_stage *stage, struct ir_expr *x);

// Return how many iteration variables do not count a reduction.
uint32_t ir_stage_selecting(const struct ir_stage *stage);

// Return whether any of them counts one.
bool ir_stage_reduces(const struct ir_stage *stage);

// Return whether no two iterations store to one element, those of partial
// results aside: the kernel's text promises that (`@distinct`).
bool ir_stage_is_distinct(const struct ir_stage *stage);

// Return whether the steps of a reduction store elements that they select, or
// that data choose, distinct ones: it is a scan, whose order counts.
bool ir_stage_scans(const struct ir_stage *stage);

// Return what the iteration variables of a stage are bound to.
struct map ir_stage_bindings(struct arena *a, const struct ir_stage *stage);

// Return an expression of a stage over the loops around it.
struct ir_expr *ir_stage_over_loops(struct arena *a,
                                    const struct ir_stage *stage,
                                    struct ir_expr *x);

// Return which iteration variable of a stage an index is, or -1.
int ir_stage_iter(const struct ir_stage *stage, const struct ir_expr *index);

// Return whether indices have each iteration variable that counts no
// reduction once, and else only constants: every element has its own
// iterations.
bool ir_stage_owns(const struct ir_stage *stage, uint32_t n,
                   struct ir_expr *const *index);

// Return the stages below a block, in order, so that others may take their
// place.
struct ir_block ir_stages_of(struct arena *a, const struct ir_block *block);

#endif
