// Which point a search tries next.

#ifndef TOOLS_TUNE_PROPOSE_H
#define TOOLS_TUNE_PROPOSE_H

#include "tools/tune/search.h"

// Set `out` to a point that was not tried: a seed; in rounds behind the first, by
// turns a neighbour or a mutation of one of the fastest; or the next in order;
// at the end those that were put off.
// Returns false if there is none.
bool propose(struct search *s, struct search_point *out);

// Note which trials are the fastest by now, for all proposals until the next time.
void propose_winners(struct search *s);

// Append the points of the space, `most` of them at most, in the order in which
// they are tried if no other is given; the search is as before.
void propose_points(const struct search *s, size_t most,
                    struct search_points *out);

// Return how many points an item has; UINT64_MAX if that is not a number.
uint64_t propose_size(const struct search_item *item);

#endif
