// Names of the language as names in C.

#ifndef NVPTX_PACKAGE_C_NAMES_H
#define NVPTX_PACKAGE_C_NAMES_H

#include "ir/base/buf.h"
#include "ir/ir.h"

// Return why generated C cannot use a name ("a keyword of C or C++"), or NULL
// if it can.
const char *c_name_taken(const char *name);

// Return an identifier made of any text: other characters become `_`.
const char *c_identifier(struct arena *a, const char *text);

// Return the names of a kernel's parameters in C, in their order: their own,
// with as many `_` behind as it takes to be free.  The kernel's functions are
// called after it, with `prefix` in front.
const char **c_parameter_names(struct arena *a, const struct ir_kernel *kernel,
                               const char *prefix);

// Append text inside a C string.
void c_string(struct buf *out, const char *text);

// Return a path without its folders, so that results do not depend on where
// they are made.
const char *path_base(const char *path);

#endif
