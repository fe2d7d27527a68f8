// Makes a failing file smaller.

#ifndef TESTS_FUZZ_SCHEDULE_SHRINK_H
#define TESTS_FUZZ_SCHEDULE_SHRINK_H

#include <stddef.h>
#include <stdint.h>

// Return, on the heap, the smallest file found that fails as `what` says.
// The tries take at most `seconds`.
char *fuzz_shrink(const char *text, uint64_t seed, const char *what,
                  double seconds);

#endif
