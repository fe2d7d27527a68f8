// Whether a stage may go to another place: who uses which array, in which
// order, and the checks of primitives that move stages.

#ifndef PASSES_SCHEDULE_COMMON_MOVE_H
#define PASSES_SCHEDULE_COMMON_MOVE_H

#include "passes/schedule/prim.h"

// Check that an array is in scope in a loop; false after an error.
bool sched_check_scope(const struct sched_call *c, struct ir_stmt *loop,
                       const struct ir_buffer *buffer);

// Arrays, each once.
struct sched_buffers VEC(const struct ir_buffer *);
bool sched_has_buffer(const struct sched_buffers *all,
                      const struct ir_buffer *buffer);

// Statements that read and write an array, or one of several, in the order of
// the program text.
struct sched_uses {
    struct VEC(struct ir_stmt *) readers, writers; // stages, or else stores,
                                                   // lets, branches ...
};
struct sched_uses sched_uses_of(struct pass *p, const struct ir_buffer *buffer);
struct sched_uses sched_uses_of_all(struct pass *p,
                                    const struct sched_buffers *buffers);

// Return whether a statement is below another one, or is it.
bool sched_is_below(struct pass *p, const struct ir_stmt *s,
                    struct ir_stmt *above);

// Return the statement directly in a loop's body that holds `s`, and where.
struct ir_stmt *sched_child_with(struct pass *p, struct ir_stmt *loop,
                                 const struct ir_stmt *s, size_t *at);

// Return the number of a statement in the order of the program text.
size_t sched_order_of(struct pass *p, const struct ir_stmt *s);

// Return the one store of a stage whose index is the stage's own iteration
// variables, each once, with nothing but lets before it; NULL if it is not so.
struct ir_stmt *sched_plain_store(struct ir_stmt *stage);

// The arrays that a stage reads, each once.
struct sched_buffers sched_inputs_of(struct pass *p, struct ir_stmt *stage);

// What a stage stores: elements of several arrays at one index.
struct sched_stores {
    struct sched_buffers arrays;
    uint32_t n;
    struct ir_expr **index; // iteration variables of the stage
};
// Find it; false if a stage does anything else than to store at those of its
// iteration variables that count no reduction, all of them, each once.
bool sched_stores_of(struct pass *p, struct ir_stmt *stage,
                     struct sched_stores *out);

// Return whether a load is at iteration variables of a stage, a different one in
// each dimension: those of `index`, unless that is NULL.
bool sched_reads_own(const struct ir_stage *stage, const struct ir_expr *load,
                     struct ir_expr *const *index);

// Return whether the region that the stores in a loop access in one iteration is
// written, as far as it is inside of the array: what one of `uses` leaves out
// of its own region is in the region of another one that leaves nothing out.
struct sched_region_query;
bool sched_fills_region(const struct sched_region_query *query,
                        const struct sched_uses *uses);

// What keeps a stage from going to a loop.
struct sched_obstacle {
    struct ir_stmt *stage, *loop;
    struct ir_stmt *other;          // what is in the way, or would run again
    const struct ir_buffer *buffer; // that one of both writes
    bool writes;                    // the stage, or else the other one
    const char *fault;              // what the stage would do
    const char *note;               // under the loop and the other one
};
// Report it, with an element that both access if one is found.
bool sched_refuse_order(const struct sched_call *c,
                        const struct sched_obstacle *o);
// Return a loop around a stage whose iterations change what the stage reads,
// if a stage at `user`, which uses what it stores, would see that: it is not in
// the loop, or uses what other iterations store.  NULL if there is none.
struct ir_stmt *sched_find_change(struct pass *p, struct ir_stmt *stage,
                                  const struct sched_buffers *stored,
                                  const struct ir_stmt *user);

// Report that a stage cannot be moved as it is; `note` says why.
bool sched_refuse_shape(const struct sched_call *c, struct ir_stmt *stage,
                        const char *note);

// Checks; false after an error.

// A stage just stores to its own iteration variables.
bool sched_check_stores(const struct sched_call *c, struct ir_stmt *stage,
                        struct sched_stores *out);
// The same, and it mentions no loop around it, other than by its iteration
// variables, that does not hold the loop `to` which it moves into.
bool sched_check_movable(const struct sched_call *c, struct ir_stmt *stage,
                         struct ir_stmt *to, struct sched_stores *out);
// The same, or its iterations store to different elements, wherever these are.
bool sched_check_apart(const struct sched_call *c, struct ir_stmt *stage,
                       struct ir_stmt *to, struct sched_stores *out);
// Nothing has been said of the loops that a stage leaves, and that new ones
// replace: they are no parts of a loop, run as they stand, and have no marks.
bool sched_check_moved(const struct sched_call *c, struct ir_stmt *stage);
// Nothing has been said of how a stage runs that is about to vanish.
bool sched_check_dissolved(const struct sched_call *c, struct ir_stmt *stage);
// No other stage writes the arrays whose uses are given.
bool sched_check_alone(const struct sched_call *c, struct ir_stmt *stage,
                       const struct sched_uses *uses);
// Nothing among `all` but `except` runs outside of the loop; `how` is what it
// does to the array: "also read" or "also written".
bool sched_check_below(const struct sched_call *c, struct ir_stmt *loop,
                       const struct ir_buffer *buffer, const char *how,
                       struct ir_stmt *const *all, size_t n,
                       const struct ir_stmt *except);

#endif
