// Places in sources, for tables.

#ifndef TOOLS_INGOT_PLACE_H
#define TOOLS_INGOT_PLACE_H

#include "ir/base/arena.h"
#include "ir/base/source.h"

// Return which of two places comes first: below 0 for x, 0 if they are one.
int place_compare(struct span x, struct span y);

// Return a place as "file:line:column", the file without folders; "-" for none.
const char *place_text(struct arena *a, struct span span);

#endif
