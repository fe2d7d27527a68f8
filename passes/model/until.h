// Loops that go on until something is found.

#ifndef PASSES_MODEL_UNTIL_H
#define PASSES_MODEL_UNTIL_H

#include "ir/ir.h"

// Return whether a loop ends when a condition does that it decides itself: all of it stands
// behind one on a variable that it sets. Its bound is no number of iterations.
//
//   for look in 0..1000000000 { if !found { ... found = ... } }
bool until_is_found(const struct ir_for *loop);

#endif
