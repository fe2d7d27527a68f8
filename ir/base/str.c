// A hash set of texts with linear probing, at most half full.

#include "ir/base/str.h"

#include <string.h>

uint64_t hash_bytes(uint64_t hash, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

// Return the slot that holds the text, or the free one where it belongs.
static const char **find_slot(const struct str_table *t, const char *text,
                              size_t n)
{
    size_t i = (size_t)hash_bytes(HASH_START, text, n) & (t->cap - 1);
    while (t->slots[i] &&
           (strncmp(t->slots[i], text, n) != 0 || t->slots[i][n] != '\0'))
        i = (i + 1) & (t->cap - 1);
    return &t->slots[i];
}

// Double the number of slots.
static void grow(struct str_table *t)
{
    struct str_table old = *t;
    t->cap = old.cap ? old.cap * 2 : 64;
    t->slots = arena_array(t->arena, const char *, t->cap);
    for (size_t i = 0; i < old.cap; i++) {
        if (old.slots[i])
            *find_slot(t, old.slots[i], strlen(old.slots[i])) = old.slots[i];
    }
}

void str_hold(const struct str_table *t)
{
    if (t->shared)
        pthread_mutex_lock(t->shared);
}

void str_release(const struct str_table *t)
{
    if (t->shared)
        pthread_mutex_unlock(t->shared);
}

const char *str_intern(struct str_table *t, const char *text, size_t n)
{
    str_hold(t);
    if (t->n * 2 >= t->cap)
        grow(t);
    const char **slot = find_slot(t, text, n);
    if (!*slot) {
        *slot = arena_copy(t->arena, text, n);
        t->n++;
    }
    const char *one = *slot;
    str_release(t);
    return one;
}

const char *str_name(struct str_table *t, const char *text)
{
    return str_intern(t, text, strlen(text));
}
