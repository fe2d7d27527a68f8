// Warnings that a comment of the source silences:
//
//   vectorize(i2)     // no-warn E0768: the rows are short
//
// It is for its own line and, alone in a line, for the next one.  Behind a colon
// stands why.

#ifndef IR_BASE_SILENCE_H
#define IR_BASE_SILENCE_H

#include "ir/base/diag.h"

// Return whether a comment silences a code where a span begins.
bool silence_has(struct span span, enum diag_code code);

// Report each word of the comment from `from` to `to` that should be a code, and is
// none, if the comment silences at all.
void silence_check(struct diag_list *d, const struct source *source,
                   size_t from, size_t to);

#endif
