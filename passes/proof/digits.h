// Digits of a block's index: in a launch of a * B * C blocks,
//
//   block.x / B / C,  block.x / B % C  and  block.x % B
//
// are numbers below a, C and B, and each choice of three such numbers belongs to exactly one block. So
// they may stand for the index where nothing else of it is asked.

#ifndef PASSES_PROOF_DIGITS_H
#define PASSES_PROOF_DIGITS_H

#include "passes/proof/system.h"

// Return the end of what looks like a digit, or NULL if it is none.
struct ir_expr *digit_end(const struct system *s, const struct ir_expr *x);

// Return whether all that a system has of blocks' indices is digits by the same
// sizes, or the index itself alone: then any of them go together.
bool digits_go_together(const struct system *s);

#endif
