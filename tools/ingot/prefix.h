// The names in C of what one command builds: --prefix, and kernels of one name.

#ifndef TOOLS_INGOT_PREFIX_H
#define TOOLS_INGOT_PREFIX_H

#include "tools/libingot/compile.h"

// A name, of a file or of a launch function, and the path of the source.
struct built {
    const char *name, *path;
};

// The launch functions of the files that were built.
struct built_kernels VEC(struct built);

// Return the prefix of a file's names, or "": the value of --prefix, or NULL,
// in which each `@` stands for the name of the file.
const char *prefix_of(struct arena *a, const char *option, const char *file);

// Warn of kernels whose functions earlier files have, too, and note those of
// this one.
void prefix_note(struct built_kernels *known, struct arena *a,
                 struct compilation *c, const char *option,
                 const struct built *file);

#endif
