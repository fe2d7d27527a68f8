// A hash map with linear probing, at most half full; nothing is ever removed.

#include "ir/base/map.h"

#include <stdint.h>

// Return the slot of a key, or the free one where it belongs.
static size_t find_slot(const struct map *m, const void *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(hash >> 20) & (m->cap - 1);
    while (m->keys[i] && m->keys[i] != key)
        i = (i + 1) & (m->cap - 1);
    return i;
}

// Double the number of slots.
static void grow(struct map *m)
{
    struct map old = *m;
    m->cap = old.cap ? old.cap * 2 : 16;
    m->keys = arena_array(m->arena, const void *, m->cap);
    m->values = arena_array(m->arena, void *, m->cap);
    for (size_t i = 0; i < old.cap; i++) {
        if (old.keys[i]) {
            size_t slot = find_slot(m, old.keys[i]);
            m->keys[slot] = old.keys[i];
            m->values[slot] = old.values[i];
        }
    }
}

void map_set(struct map *m, const void *key, void *value)
{
    if (m->n * 2 >= m->cap)
        grow(m);
    size_t slot = find_slot(m, key);
    m->n += !m->keys[slot];
    m->keys[slot] = key;
    m->values[slot] = value;
}

void map_own(struct map *m, struct arena *a)
{
    struct map shared = *m;
    *m = (struct map){.arena = a};
    for (size_t i = 0; i < shared.cap; i++)
        if (shared.keys[i])
            map_set(m, shared.keys[i], shared.values[i]);
}

void *map_get(const struct map *m, const void *key)
{
    return m->cap ? m->values[find_slot(m, key)] : NULL;
}

bool map_has(const struct map *m, const void *key)
{
    return m->cap && m->keys[find_slot(m, key)];
}
