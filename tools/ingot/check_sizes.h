// How sizes are chosen, in parts: the numbers of a variant, draws of sizes
// around them, the features of each draw.

#ifndef TOOLS_INGOT_CHECK_SIZES_H
#define TOOLS_INGOT_CHECK_SIZES_H

#include "tools/ingot/check.h"
#include "tools/ingot/check_reach.h"

enum {
    SIZES_MOST = 16,   // parameters that are sizes
    NUMBERS_MOST = 40, // of a variant
    POOL_MOST = 4096,
    FEATURES = 1 << 16, // places of a table of those that were seen
};

// Sizes that were drawn.
struct draw {
    int64_t sizes[SIZES_MOST];
    double work, elements;
    bool is_empty;           // a launch has no blocks
    bool is_taken, is_given; // is chosen, in an earlier round
    bool is_hint;            // may refute what could not be proved
    uint64_t *features;      // what it shows, see features_of
    size_t n_features;
};

struct draws VEC(struct draw);

// The search.
struct chooser {
    struct check *check;
    const struct variant *v;
    const struct problem_request *request;
    struct problem base; // the sizes that are set, and scalars
    uint64_t random;
    size_t params[SIZES_MOST]; // places of the sizes that are open
    size_t n;
    int64_t numbers[NUMBERS_MOST];
    size_t n_numbers, n_tiles; // the first are of grids and guards
    int64_t pool[POOL_MOST];
    size_t n_pool;
    struct draws draws;
    struct draw least; // the one that needs least work of those with blocks
    bool has_least;
    struct reach *reach;
    uint64_t *seen; // features
};

// ---- check_numbers.c

// Collect the numbers of the variant: of guards and grids, of loops and
// conditions, of indices and values, and where narrow types end.
void numbers_collect(struct chooser *c);

// ---- check_draws.c

// Enter sizes into the values of the parameters.
void draws_enter(const struct chooser *c, const struct draw *d);

// Draw sizes that the kernel and the variant take, and that need no more than
// so much work; `least` becomes the cheapest one of all that have blocks.
void draws_make(struct chooser *c, double most);

// Draw sizes with which what could not be proved of an access (proof.h) may not
// hold, the most likely ones first.
void draws_make_hints(struct chooser *c, double most);

// Return whether the variant takes the sizes that are set.
bool draws_hold(const struct chooser *c);

// ---- check_features.c

// Find what each draw shows: how each size lies to each number and to the
// others, how many blocks and iterations there are, which goals are reached.
void features_find(struct chooser *c);

// Return how much a draw shows that was not seen; `take` marks it.
size_t features_news(struct chooser *c, const struct draw *d, bool take);

#endif
