// The names nearest to a misspelt one.

#ifndef IR_BASE_SUGGEST_H
#define IR_BASE_SUGGEST_H

#include "ir/base/diag.h"

enum { SUGGEST_MOST = 3 };

// The best candidates so far; all zero but `wanted` is a fresh search.
struct suggest {
    const char *wanted;
    const char *names[SUGGEST_MOST]; // nearest first
    int distance[SUGGEST_MOST];
    int n;
};

// Offer a candidate: kept if its Damerau-Levenshtein distance to `wanted` is
// at most max(1, length / 3) and among the three nearest.  Names that differ in the
// case of letters alone are nearest.
void suggest_offer(struct suggest *s, const char *candidate);

// Return whether the search found anything.
bool suggest_any(const struct suggest *s);

// Write "`a`, `b` or `c`" to out; empty if nothing was found.
void suggest_text(const struct suggest *s, char *out, size_t size);

// Say with the newest diagnostic what to write for a word of another language
// (foreign.def), or else ask whether one of the names found was meant, if any was.
// Returns false.
bool suggest_help(struct diag_list *diags, const struct suggest *s);

#endif
