// The defs and rules of the library, as text.

#ifndef TOOLS_INGOT_DEFS_H
#define TOOLS_INGOT_DEFS_H

#include "ir/base/arena.h"
#include "tools/libingot/library.h"

#include <stdbool.h>

// A def or a rule of a file of the library.
struct def {
    const char *head;   // the comment above it
    const char *text;   // "def name(...) {", or "rule ..."
    const char *name;   // of it
    const char *form;   // "name(...)"
    const char *behind; // its end
};

// Find the first def at or behind a place in the text of a file.  Returns
// false if there is none.
bool def_next(struct arena *a, const char *at, struct def *out);

// Return the first paragraph of the comment above a def; "" if there is none.
const char *def_brief(struct arena *a, const struct def *def);

#endif
