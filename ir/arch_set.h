// Sets of architectures, as tables and schedules write them.
//
//   80+          sm_80 and every newer one
//   90           sm_90 and sm_90a
//   90a          sm_90a alone: what an `a` adds, newer ones do not have
//   100f         sm_100f and the later ones of its family: sm_100a, sm_103f,
//                sm_103a
//   90a 100f     all of these
//
// Code for an architecture with a suffix may use all that the one without has.
// A family is a number without its last digit.  `sm_` may stand before each
// number.  What is written otherwise holds nothing.

#ifndef IR_ARCH_SET_H
#define IR_ARCH_SET_H

#include "ir/base/arena.h"

#include <stdbool.h>

// Return whether a set holds an architecture: a number, such as 90, with the
// suffix 'a', 'f' or 0.
bool arch_set_has(const char *set, unsigned number, char suffix);

// Return whether each part of a set lies in one part of another one.
bool arch_set_within(const char *set, const char *other);

// Return a set as a schedule names it: "sm_90a, sm_100f".
const char *arch_set_names(struct arena *a, const char *set);

// Return a set as a message names it: "sm_80 or a newer one".
const char *arch_set_words(struct arena *a, const char *set);

#endif
