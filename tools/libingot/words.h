// Words of a line: names, numbers, blanks.

#ifndef TOOLS_LIBINGOT_WORDS_H
#define TOOLS_LIBINGOT_WORDS_H

#include "ir/base/arena.h"
#include "ir/base/str.h"

#include <stdbool.h>
#include <stdint.h>

// A text that is being read.
struct words {
    struct arena *arena;
    struct str_table *names;
    const char *at;
};

// Step over blanks.
void words_skip_blanks(struct words *w);

// Return the next name, interned; NULL if none comes.
const char *words_name(struct words *w);

// Read a decimal number.  Returns false if none comes.
bool words_number(struct words *w, int64_t *out);

#endif
