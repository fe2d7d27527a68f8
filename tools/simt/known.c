// Sparse vector clocks: lists in the order of blocks and agents.

#include "tools/simt/known.h"

#include <stdlib.h>
#include <string.h>

enum { AGENT_BITS = 15 };

// What is known of an agent.  The first of a block may be for all of them.
struct item {
    uint64_t key;
    uint32_t stamp; // older accesses
};

struct known {
    uint32_t users;
    uint32_t n;
    struct item items[];
};

// Return the place of an agent in the order.
static uint64_t key_of(uint32_t serial, uint32_t agent)
{
    return (uint64_t)serial << AGENT_BITS | (agent + 1);
}

// Return the place of all agents of a block.
static uint64_t key_of_all(uint32_t serial)
{
    return (uint64_t)serial << AGENT_BITS;
}

// Return whether something is said of all agents of a block.
static bool is_of_all(uint64_t key)
{
    return !(key & ((1u << AGENT_BITS) - 1));
}

struct known *known_share(struct known *k)
{
    if (k)
        k->users++;
    return k;
}

void known_drop(struct known *k)
{
    if (k && !--k->users)
        free(k);
}

// Return room for so many, or NULL.
static struct known *make(size_t n)
{
    struct known *k = malloc(sizeof *k + n * sizeof *k->items);
    if (k)
        *k = (struct known){.users = 1};
    return k;
}

// Return the number of the first item from a key on.
static uint32_t first_from(const struct known *k, uint64_t key)
{
    uint32_t from = 0, to = k->n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (k->items[middle].key < key)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

// Return the stamp at a key, 0 if there is none.
static uint32_t stamp_at(const struct known *k, uint64_t key)
{
    uint32_t i = first_from(k, key);
    return i < k->n && k->items[i].key == key ? k->items[i].stamp : 0;
}

bool known_has(const struct known *k, uint32_t serial, uint32_t agent,
               uint32_t stamp)
{
    return k && (stamp < stamp_at(k, key_of_all(serial)) ||
                 stamp < stamp_at(k, key_of(serial, agent)));
}

// Add an item behind the others, unless what is known of its whole block says
// it; `*floor` is that, of the block so far.
static void append(struct known *k, struct item one, struct item *floor)
{
    bool is_same = one.key >> AGENT_BITS == floor->key >> AGENT_BITS;
    if (is_of_all(one.key))
        *floor = one;
    else if (is_same && one.stamp <= floor->stamp)
        return;
    k->items[k->n++] = one;
}

// Return what two know together, or NULL without memory.
static struct known *merged(const struct known *a, const struct known *b)
{
    struct known *out = make((size_t)a->n + b->n);
    struct item floor = {UINT64_MAX, 0};
    uint32_t i = 0, k = 0;
    while (out && (i < a->n || k < b->n)) {
        const struct item *x = i < a->n ? &a->items[i] : NULL;
        const struct item *y = k < b->n ? &b->items[k] : NULL;
        bool has_x = x && (!y || x->key <= y->key);
        bool has_y = y && (!x || y->key <= x->key);
        struct item one = has_x ? *x : *y;
        if (has_x && has_y && y->stamp > one.stamp)
            one.stamp = y->stamp;
        append(out, one, &floor);
        i += has_x;
        k += has_y;
    }
    return out;
}

// Return whether two say the same.
static bool is_equal(const struct known *a, const struct known *b)
{
    bool is_same = a->n == b->n;
    for (uint32_t i = 0; i < a->n && is_same; i++)
        is_same = a->items[i].key == b->items[i].key &&
                  a->items[i].stamp == b->items[i].stamp;
    return is_same;
}

void known_join(struct known **to, struct known *from)
{
    if (*to == from || !from)
        return;
    struct known *all = *to ? merged(*to, from) : known_share(from);
    if (!all)
        return;
    if (all != from && (is_equal(all, *to) || is_equal(all, from))) {
        struct known *same = is_equal(all, *to) ? *to : from;
        known_drop(all);
        all = known_share(same);
    }
    known_drop(*to);
    *to = all;
}

void known_add(struct known **to, uint32_t serial, uint32_t floor,
               const uint32_t *seen, uint32_t agents)
{
    size_t n = 1;
    for (uint32_t i = 0; i < agents; i++)
        n += seen[i] > floor;
    struct known *k = make(n);
    if (!k)
        return;
    k->items[k->n++] = (struct item){key_of_all(serial), floor};
    for (uint32_t i = 0; i < agents; i++)
        if (seen[i] > floor)
            k->items[k->n++] = (struct item){key_of(serial, i), seen[i]};
    known_join(to, k);
    known_drop(k);
}

void known_take(const struct known *k, uint32_t serial, uint32_t *floor,
                uint32_t *seen)
{
    uint32_t i = k ? first_from(k, key_of_all(serial)) : 0;
    for (; k && i < k->n && k->items[i].key >> AGENT_BITS == serial; i++) {
        struct item one = k->items[i];
        uint32_t agent = (uint32_t)(one.key - key_of_all(serial)) - 1;
        uint32_t *at = is_of_all(one.key) ? floor : &seen[agent];
        *at = one.stamp > *at ? one.stamp : *at;
    }
}
