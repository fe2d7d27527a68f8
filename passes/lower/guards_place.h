// A stage in its place, while `guards` lowers it: which loops around it count
// its reduction, and where the reduction begins.

#ifndef PASSES_LOWER_GUARDS_PLACE_H
#define PASSES_LOWER_GUARDS_PLACE_H

#include "ir/walk.h"
#include "passes/pass.h"

// A stage in its place.
struct place {
    struct ir_path path;    // down to the stage
    struct ir_stage *stage; // at its end
    uint32_t first;         // outermost loop of the reduction on the path
    uint32_t chain;         // from here on: only loops of the reduction, each
                            // alone in the one before, then the stage; the
                            // stage if blocks share the reduction: those out
                            // of its predicate must not store
    struct ir_expr *late; // what the init waits for, beside that the reduction
                          // is at its beginning; NULL: the chain is all of the
                          // reduction, or there is no init to wait
};

// Find the place of a stage.
struct place place_find(struct pass *p, struct ir_stmt *s);

// Find the place of a stage that is to be lowered: it has no chain if an init
// in front of that cannot tell where the reduction begins.
struct place place_find_to_lower(struct pass *p, struct ir_stmt *s);

// Return whether a statement is a loop over the stage's reduction only.
bool place_is_reduce_loop(const struct ir_stmt *s,
                          const struct ir_stage *stage);

// Return whether the init, or a binding that says which element it starts, uses a
// name.
bool place_init_uses(const struct place *at, const struct ir_var *name);

// Return whether an expression mentions the variable of a loop of the
// reduction, or a name of a value that does.
bool place_mentions_reduction(const struct place *at, const struct ir_expr *x);

// Return the conjuncts of a condition, NULL: true, that mention the reduction, or
// those that do not.
struct ir_expr *place_part_of(struct pass *p, const struct place *at,
                              struct ir_expr *condition, bool reduction);

// Return whether the branches in the reduction may leave out its first iteration.
bool place_may_miss_first(struct pass *p, const struct place *at);

// Return the condition that the reduction is at its beginning whenever the
// chain is.
struct ir_expr *place_began(struct arena *a, const struct place *at);

#endif
