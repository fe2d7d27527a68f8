// Stages that get loops of their own: what caches and the primitives that
// move a stage share.

#ifndef PASSES_SCHEDULE_MOVE_H
#define PASSES_SCHEDULE_MOVE_H

#include "passes/schedule/box.h"
#include "passes/schedule/prim.h"

// A place between two statements.
struct sched_place {
    struct ir_block *block;
    size_t at;
    struct ir_stmt *const *around; // the loops around, outermost first
    size_t n;
};

// Put the arrays declared in the outermost block in front of it, so that every
// stage may be moved to any place behind.
void sched_hoist_arrays(struct pass *p);

// Check that an array is in scope in a loop; false after an error.
bool sched_check_scope(const struct sched_call *c, struct ir_stmt *loop,
                       const struct ir_buffer *buffer);

// Return the place before (or behind) a statement of the kernel.
struct sched_place sched_place_of(struct pass *p, const struct ir_stmt *s,
                                  bool behind);

// Make the stage `name` that copies `from` to `to`, two arrays of the same
// shape, with iteration variables v0, v1 ... that nothing binds yet.
struct ir_stmt *sched_copy_stage(struct pass *p, const char *name,
                                 struct ir_buffer *from, struct ir_buffer *to,
                                 struct span span);

// Return the box of all values of a stage's iteration variables.
struct box_dim *sched_box_of_iters(struct pass *p,
                                   const struct ir_stage *stage);

// Put a stage at a place, in new loops ax0, ax1 ... over `box` (one dimension
// for each iteration variable; base NULL: all of 0 .. extent - 1), and bind
// its variables to base + ax.  Where that may leave the variable's extent, the
// stage gets a predicate.  The stage's old predicate is dropped.
void sched_put_stage(struct pass *p, struct ir_stmt *stage,
                     const struct sched_place *place, const struct box_dim *box,
                     struct span span);

// Statements that read and write an array.
struct sched_uses {
    struct VEC(struct ir_stmt *) readers, writers; // stages, or else stores,
                                                   // lets, branches ...
};
struct sched_uses sched_uses_of(struct pass *p, const struct ir_buffer *buffer);

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
struct sched_buffers VEC(const struct ir_buffer *);
struct sched_buffers sched_inputs_of(struct pass *p, struct ir_stmt *stage);

// Return which iteration variable of a stage an index is, or -1.
int sched_iter_of(const struct ir_stage *stage, const struct ir_expr *index);

// Checks; false after an error.

// A stage is one store to its own iteration variables, and alone writes its
// array.  `uses` are those of the array.
bool sched_check_movable(const struct sched_call *c, struct ir_stmt *stage,
                         const struct sched_uses *uses);
// Nothing among `all` but `except` runs outside of the loop; `how` is what it
// does to the array: "also read" or "also written".
bool sched_check_below(const struct sched_call *c, struct ir_stmt *loop,
                       const struct ir_buffer *buffer, const char *how,
                       struct ir_stmt *const *all, size_t n,
                       const struct ir_stmt *except);

// Return whether some iteration variable of a stage counts a reduction.
bool sched_reduces(const struct ir_stage *stage);

#endif
