// Interned strings: equal text is the same pointer, so names compare by ==.

#ifndef IR_BASE_STR_H
#define IR_BASE_STR_H

#include "ir/base/arena.h"

#include <pthread.h>
#include <stdint.h>

// The table of all names of a compilation; all zero is an empty one.
struct str_table {
    struct arena *arena; // owns the texts and the slots
    const char **slots;  // open addressing, a power of two of them
    size_t n, cap;
    pthread_mutex_t
        *shared; // held by who adds to it, a recursive one; NULL: one thread
};

// Let the threads that share a table wait for each other: who holds it may allocate from
// its arena.
void str_hold(const struct str_table *t);
void str_release(const struct str_table *t);

// Return the one copy of the `n` bytes at `text`, NUL-terminated.
const char *str_intern(struct str_table *t, const char *text, size_t n);

// Return the one copy of a NUL-terminated text.
const char *str_name(struct str_table *t, const char *text);

// Return the 64-bit FNV-1a hash of `n` bytes, continuing from `hash`.
uint64_t hash_bytes(uint64_t hash, const void *data, size_t n);

#define HASH_START UINT64_C(0xcbf29ce484222325)

#endif
