// Whether a kernel gains from 32-bit indices, and under which guard.

#ifndef PASSES_ANALYSIS_NARROW_H
#define PASSES_ANALYSIS_NARROW_H

#include "passes/pass.h"

// If a scheduled kernel whose sizes are not known would be left with slow
// 64-bit arithmetic - divisions, or serial loops that count to a size - make
// it the variant for smaller sizes: name it `i32`, and guard it by every
// size, extent and number of elements being at most 2^31 - 2^16, so that
// `flatten` proves all of its indices to fit.  The guards, evaluated in order
// until one fails, do not overflow.
//
// Returns whether the kernel was changed so; the caller keeps a copy without
// guard for other sizes.
bool analysis_narrow(struct pass *p);

#endif
