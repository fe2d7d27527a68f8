// What the elements of the arrays are that a kernel reads.

#ifndef TOOLS_INGOT_ELEMENTS_H
#define TOOLS_INGOT_ELEMENTS_H

#include "ir/ir.h"

enum elements {
#define ELEMENTS(name, class, meaning) ELEMENTS_##name,
#include "tools/ingot/elements.def"
#undef ELEMENTS
    ELEMENTS_COUNT
};

// Return the name of a kind.
const char *elements_name(enum elements kind);

// The names of all kinds; NULL ends them.
const char *const *elements_names(void);

// Return whether elements are of a SPECIAL kind.
bool elements_are_special(enum elements kind);

// Write the first `n` elements of an array, of a special kind; `stream` chooses
// among arrays.
void elements_write(enum elements kind, struct type type, uint64_t stream,
                    size_t n, void *out);

#endif
