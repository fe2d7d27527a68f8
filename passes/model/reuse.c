// What a warp finds where it has been read before.
//
// Reads of one loop that touch the same sectors, also of other warps, find them
// in the L1 cache.  Reads of neighbouring elements between the same barriers
// become one of 16 bytes, and equal ones are one.

#include "passes/model/reuse.h"

#include "ir/base/num.h"

enum { GROUP_BYTES = 16, WORD = 2 };

// Return a key that is another one for each of its parts; never NULL.
static const void *key_of(uint64_t a, const void *b, uint64_t c)
{
    uint64_t mixed = num_mix(a ^ num_mix((uint64_t)(uintptr_t)b ^ num_mix(c)));
    return (const void *)(uintptr_t)(mixed | 1);
}

// Return whether a key is new to a set, and note it.
static bool note(struct map *set, const void *key)
{
    static const char there = 0;
    if (map_has(set, key))
        return false;
    map_set(set, key, (void *)&there);
    return true;
}

bool reuse_is_new(struct reuse *r, uint64_t number, const void *loop,
                  uint32_t warp)
{
    return note(&r->numbers, key_of(number, loop, warp));
}

uint32_t reuse_sectors(struct reuse *r, const void *loop, uint64_t space,
                       const struct ir_buffer *buffer,
                       const struct warp_access *w)
{
    uint32_t n = 0;
    int64_t last = INT64_MIN;
    for (int i = 0; i < WARP_LANES; i++) {
        int64_t from = w->at[i] / SECTOR_BYTES;
        int64_t to = (w->at[i] + w->bytes - 1) / SECTOR_BYTES;
        for (int64_t s = from; w->active >> i & 1 && s <= to; s++) {
            n += s != last &&
                 note(&r->sectors, key_of((uint64_t)s, buffer,
                                          (uint64_t)(uintptr_t)loop + space));
            last = s;
        }
    }
    return n;
}

uint32_t reuse_words(const struct warp_access *w)
{
    int64_t first = w->at[__builtin_ctz(w->active)] % GROUP_BYTES / WORD;
    uint32_t n = w->bytes < WORD ? 1 : w->bytes / WORD;
    return ((1u << n) - 1) << (first < 0 ? 0 : first);
}

struct reuse_group *reuse_group(struct reuse *r, uint64_t epoch,
                                const struct ir_buffer *buffer,
                                const struct warp_access *w)
{
    uint64_t places = epoch;
    if (w->bytes > GROUP_BYTES || !w->active)
        return NULL;
    for (int i = 0; i < WARP_LANES; i++)
        if (w->active >> i & 1)
            places = num_mix(places + (uint64_t)(w->at[i] / GROUP_BYTES)) + i;
    const void *key = key_of(places, buffer, epoch);
    struct reuse_group *g = map_get(&r->groups, key);
    if (!g) {
        g = arena_new(r->arena, struct reuse_group);
        map_set(&r->groups, key, g);
    }
    return g;
}
