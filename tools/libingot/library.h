// The library of defs: the files of tools/std, which the build puts into the
// command.

#ifndef TOOLS_LIBINGOT_LIBRARY_H
#define TOOLS_LIBINGOT_LIBRARY_H

#include <stddef.h>

// One file.
struct library_file {
    const char *name; // "std/tiling.ing"
    const char *text;
    size_t size; // without the NUL
};

// All files in the order of their names; a name NULL ends them.
extern const struct library_file library_files[];

#endif
