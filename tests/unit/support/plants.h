// Folders of files with a planted fault each: a line says what stands there in
// the repaired twin, behind "fixed:" in a comment.

#ifndef TESTS_UNIT_SUPPORT_PLANTS_H
#define TESTS_UNIT_SUPPORT_PLANTS_H

#include <stdbool.h>

// Check a file of a folder, or its twin.  Returns the number of failures.
typedef unsigned (*plant_check)(const char *folder, const char *name,
                                bool is_twin);

// Check all files of a folder below SOURCE_DIR whose names end like this, in
// the order of their names, or those with PLANT in theirs.  The test fails if
// there are fewer than `least`, or one fails.
void plants_check(const char *folder, const char *suffix, int least,
                  plant_check check, bool is_twin);

// Return the text that stands for a line in the twin; `key` begins what repairs
// it, "// fixed:".
const char *plant_repaired(const char *line, const char *key);

#endif
