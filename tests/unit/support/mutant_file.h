// Mutants as files, for who checks them from outside.

#ifndef TESTS_UNIT_SUPPORT_MUTANT_FILE_H
#define TESTS_UNIT_SUPPORT_MUTANT_FILE_H

#include "tests/unit/support/trial.h"

// Write FOLDER/NAME.ing: the definition of a kernel that was tried, and behind
// it, as a kernel `mutant` that defines the same, a mutant of what was made of
// it.  Returns whether that could be done.
bool mutant_write(const char *folder, const char *name, const struct tried *of,
                  const struct ir_kernel *mutant);

#endif
