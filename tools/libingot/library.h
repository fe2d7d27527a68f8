// Texts that the build puts into the command: the library of defs, which are
// the files of tools/std, and what `ingot doc` shows.

#ifndef TOOLS_LIBINGOT_LIBRARY_H
#define TOOLS_LIBINGOT_LIBRARY_H

#include <stddef.h>

// One file.
struct library_file {
    const char *name; // "std/tiling.ing"
    const char *text;
    size_t size; // without the NUL
};

// The files of tools/std in the order of their names; a name NULL ends them.
extern const struct library_file library_files[];

// The same of docs/examples, "examples/split.ing", and of the comments that
// the files of passes/schedule/primitives begin with, "primitives/split.c".
// The files of tools/new, "new/main.c", which `ingot new` writes.
// They are a part of the command, not of libingot.
extern const struct library_file doc_examples[], doc_heads[], new_files[];

// The page of `ingot report`, "report/report.html"; a part of the command, too.
extern const struct library_file report_files[];

#endif
