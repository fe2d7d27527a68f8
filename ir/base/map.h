// A hash map from addresses to addresses: variables to expressions, arrays to
// arrays, old nodes to new ones.

#ifndef IR_BASE_MAP_H
#define IR_BASE_MAP_H

#include "ir/base/arena.h"

#include <stdbool.h>

// A map; all zero but `arena` is an empty one.
struct map {
    struct arena *arena;
    const void **keys; // open addressing, a power of two of them
    void **values;
    size_t n, cap;
};

// Set the value of a key; the key is not NULL.
void map_set(struct map *m, const void *key, void *value);

// Let a map that is a copy of another one, sharing its slots, have slots of its own, of
// that arena.
void map_own(struct map *m, struct arena *a);

// Return the value of a key, or NULL.
void *map_get(const struct map *m, const void *key);

// Return whether the key was set.
bool map_has(const struct map *m, const void *key);

#endif
