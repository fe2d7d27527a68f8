// A reduction with partial results: what the primitives share that make two
// nests of one, for the partial results and for what combines them.

#ifndef PASSES_SCHEDULE_COMMON_PARTS_H
#define PASSES_SCHEDULE_COMMON_PARTS_H

#include "passes/analysis/reducer.h"
#include "passes/schedule/prim.h"

// A nest around one stage.
struct parts {
    struct pass *pass;
    struct ir_stmt *loop, *stage; // the loop that was named; what is below it
    struct ir_path path;          // down to the stage
    uint32_t top; // from here on: only loops, each alone in its block
    struct reducer reducer;
    struct ir_buffer *buffers[REDUCER_ARRAYS]; // of the partial results
};

// Find the stage below `loop` and the loops around both; false after an error:
// the loop is not around one stage, with only loops in between (E0645).
bool parts_find_nest(const struct sched_call *c, struct parts *f);

// Check what the loops around the stage do, and find how it reduces; false
// after an error:
//  - partial results may not be combined in any order            E0646
//  - a loop counts both the reduction and elements               E0647
//  - one out of the nest counts the reduction                    E0645
//  - one of the reduction does not count from 0 in steps of 1    E0623
//  - bounds of a loop of the nest depend on another one          E0611
bool parts_check_roles(const struct sched_call *c, struct parts *f);

// Check that the extent of a loop follows from the sizes (E0649), so that
// partial results can be declared on top of the kernel.
bool parts_check_extent(const struct sched_call *c, const struct parts *f,
                        struct ir_stmt *loop);

// Return how many iterations a loop has, at least 0: a number of partial
// results, or of what is shared.
struct ir_expr *parts_extent(const struct parts *f, const struct ir_stmt *loop);

// Report a statement that is in the way.  Returns false.
bool parts_refuse(const struct sched_call *c, enum diag_code code,
                  struct ir_stmt *s, const struct ir_stmt *other,
                  const char *note);

// Return what a statement does for the stage, if it is a loop.
unsigned parts_role(const struct parts *f, const struct ir_stmt *s);

// Return whether an expression mentions a loop of the nest that has that role.
bool parts_mention(const struct parts *f, const struct ir_expr *x,
                   unsigned role);

// Return the conjuncts of the predicate that the reduction decides, or the
// others; NULL for none.
struct ir_expr *parts_predicate(const struct parts *f, bool reduction);

// Return a copy of a loop, with its axis and marks, that runs to `to`, from 0
// in steps of 1 where the old one does.
struct ir_stmt *parts_copy_loop(const struct parts *f,
                                const struct ir_stmt *old, struct ir_expr *to);

// Declare the array of number `i` of the partial results, of a name that ends
// in `suffix`; its shape is for the caller to set.
struct ir_buffer *parts_declare(struct parts *f, size_t i, const char *suffix,
                                uint32_t rank);

// Return a stage like the old one, but for what it does.
struct ir_stmt *parts_new_stage(const struct parts *f, const char *name);

// Add an iteration variable to such a stage, and return it.
struct ir_var *parts_add_iter(const struct parts *f, struct ir_stage *stage,
                              const char *name, struct ir_expr *extent,
                              struct ir_expr *binding, bool is_reduce);

// Return the name of the iteration variable of a loop: that of the stage's
// own which is bound to the loop alone, or `v` and the loop's name.
const char *parts_iter_name(const struct parts *f, const struct ir_stmt *loop);

// Return the statements that give places the identities of the reduction.
struct ir_block parts_init(const struct parts *f,
                           const struct reducer_place *places);

// Let what a stage does, not its init, happen only where `condition` holds.
void parts_guard(const struct parts *f, struct ir_stmt *stage,
                 struct ir_expr *condition);

// Put the two nests where the old one stood.
void parts_replace(const struct parts *f, struct ir_stmt *first,
                   struct ir_stmt *last);

#endif
