// Loops that end before their last iteration.

#ifndef IR_LEAVE_H
#define IR_LEAVE_H

#include "ir/ir.h"

// Return the branch at the end of a loop's body without which no iteration
// does anything, and whose condition only the branch itself can change: once
// it does not hold, the loop has ended.  NULL if there is none.
//
//   for k in 0..n { let m = f(k); if !stopped { ...; stopped = true; ... } }
//
// `break`, and `return` in a loop, become such branches.
struct ir_stmt *ir_loop_leaves(const struct ir_for *loop);

#endif
