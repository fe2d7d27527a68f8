// What the elements of the arrays are that a kernel reads.

#ifndef TOOLS_INGOT_ELEMENTS_H
#define TOOLS_INGOT_ELEMENTS_H

#include "ir/ir.h"

enum elements {
#define ELEMENTS(name, meaning) ELEMENTS_##name,
#include "tools/ingot/elements.def"
#undef ELEMENTS
    ELEMENTS_COUNT
};

// The kinds that show what only certain values do: ties, quotients by 0,
// indices from large numbers.
enum { ELEMENTS_SPECIAL = ELEMENTS_few };

// Return the name of a kind.
const char *elements_name(enum elements kind);

// The names of all kinds; NULL ends them.
const char *const *elements_names(void);

// Return whether sums of elements may be far from exact, or of numbers that
// cancel, so that floating results are no matter of right and wrong.
bool elements_are_special(enum elements kind);

// Write the first `n` elements of an array, of a special kind; `stream` chooses
// among arrays.
void elements_write(enum elements kind, struct type type, uint64_t stream,
                    size_t n, void *out);

#endif
