// Visiting and rewriting trees.

#ifndef IR_WALK_H
#define IR_WALK_H

#include "ir/foreach.h"

// A statement as a block, for what takes one: it lasts as long as a variable
// that is declared at the same place.
#define ir_alone(s) (&(struct ir_block){(struct ir_stmt *[]){s}, 1, 1})

// Return the statement that alone, but for declarations of arrays, stands in a
// block; NULL if there is none or there are several.
struct ir_stmt *ir_only(const struct ir_block *block);

// Rewrite an expression from its leaves up: `rule` gets each node with its
// operands already rewritten, and returns it or what replaces it.
// Returns `x` itself if nothing changed.
struct ir_expr *ir_rewrite(struct arena *a, struct ir_expr *x,
                           struct ir_expr *(*rule)(struct arena *a,
                                                   struct ir_expr *x,
                                                   void *context),
                           void *context);

// Rewrite every expression of every statement below a block in place.
void ir_rewrite_in(struct arena *a, struct ir_block *block,
                   struct ir_expr *(*rule)(struct arena *a, struct ir_expr *x,
                                           void *context),
                   void *context);

// The way from a block down to a statement: stmts[0] is in the block itself,
// stmts[n - 1] is the statement; block[i] holds stmts[i] at index[i].
struct ir_path {
    uint32_t n;
    struct ir_stmt **stmts;
    struct ir_block **blocks;
    size_t *index;
};

// Find a statement below a block; false if it is not there.
bool ir_find(struct arena *a, struct ir_block *block,
             const struct ir_stmt *wanted, struct ir_path *path);

// Return whether a loop goes over a reduction of a stage below it, and not
// over its elements as well.  Without iterations it still runs the stage's
// init: the sum of nothing is zero.
bool ir_loop_reduces(struct ir_for *loop);

// Replace statement `at` of a block by the statements of another block.
void ir_splice(struct arena *a, struct ir_block *block, size_t at,
               const struct ir_block *with);
// Return where a statement stands in a block that has it.
size_t ir_index(const struct ir_block *block, const struct ir_stmt *s);

// Put a statement before statement `at` of a block (at == n: at the end).
void ir_insert(struct arena *a, struct ir_block *block, size_t at,
               struct ir_stmt *s);
// Insert the statements of a block there, in their order.
void ir_insert_all(struct arena *a, struct ir_block *block, size_t at,
                   const struct ir_block *from);

// Return whether there is a statement of that kind below a block.
bool ir_has(const struct ir_block *block, enum ir_stmt_kind kind);
// Return whether threads of a block or a warp meet at a statement itself.
bool ir_is_meeting(const struct ir_stmt *s);
// Return whether they do in a block.
bool ir_has_meeting(const struct ir_block *block);
// Return the flags of the operations of an expression, and of all expressions
// below a block: those that one of them has.
unsigned ir_flags(const struct ir_expr *x);
unsigned ir_flags_in(const struct ir_block *block);
// Return whether an array declared in a block is ordered by mbarriers, as those
// of warp-specialized loops are.
bool ir_has_roles(const struct ir_block *block);
// Return whether the expression mentions the variable.
bool ir_mentions(const struct ir_expr *x, const struct ir_var *var);
// Return whether one of `n` expressions does.
bool ir_any_mentions(uint32_t n, struct ir_expr *const *x,
                     const struct ir_var *var);
// Return whether an expression of a block, or of a statement and those below
// it, does.
bool ir_block_mentions(const struct ir_block *block, const struct ir_var *var);
bool ir_stmt_mentions(const struct ir_stmt *s, const struct ir_var *var);
// Return whether the bounds of a loop do.
bool ir_for_mentions(const struct ir_for *loop, const struct ir_var *var);
// Return whether a loop counts from 0 in steps of 1.
bool ir_for_counts(const struct ir_for *loop);
// Return whether a statement is a loop on an axis of that kind.
bool ir_is_over(const struct ir_stmt *s, enum axis_kind kind);

// Return whether a statement is a loop over threads, or over the blocks of a
// cluster: its iterations run at the same time, and can wait for each other.
bool ir_runs_together(const struct ir_stmt *s);
// Return whether an expression asks for the number of SMs of the device.
bool ir_asks_for_sms(const struct ir_expr *x);

// Return whether an expression is made of parameters and numbers: it has one
// value in the whole kernel.
bool ir_is_of_params(const struct ir_expr *x);
// Return whether an expression keeps its value: no memory, no `var`.
bool ir_is_stable(const struct ir_expr *x);
// Return whether it keeps its value, elements of inputs included: nothing
// writes these.  That they exist is another question.
bool ir_is_steady(const struct ir_expr *x);
// Return whether a block, or a statement and those below it, uses what an
// `alloc`, a `let` or a `var` declares.
bool ir_uses_declared(const struct ir_block *block,
                      const struct ir_stmt *declaration);
bool ir_stmt_uses_declared(const struct ir_stmt *user,
                           const struct ir_stmt *declaration);

#endif
