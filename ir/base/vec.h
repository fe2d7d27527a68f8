// A typed array on an arena that grows at its end.
//
//   struct names VEC(const char *);
//   vec_push(arena, &names, "x");
//   for (size_t i = 0; i < names.n; i++) use(names.at[i]);

#ifndef IR_BASE_VEC_H
#define IR_BASE_VEC_H

#include "ir/base/arena.h"

#include <string.h>

#define VEC(type)                                                              \
    {                                                                          \
        type *at;      /* the elements */                                      \
        size_t n, cap; /* how many there are, and how many fit */              \
    }

// Return `at` itself, or a larger copy, so that one more element fits.
static inline void *vec_reserve(struct arena *a, void *at, size_t n,
                                size_t *cap, size_t size)
{
    if (n < *cap)
        return at;
    *cap = *cap ? *cap * 2 : 4;
    void *bigger = arena_alloc(a, *cap * size);
    if (n)
        memcpy(bigger, at, n * size);
    return bigger;
}

#define vec_push(a, v, ...)                                                    \
    ((v)->at = vec_reserve(a, (v)->at, (v)->n, &(v)->cap, sizeof *(v)->at),    \
     (v)->at[(v)->n++] = (__VA_ARGS__))

// Append the items of another vector.
#define vec_append(a, v, from)                                                 \
    do {                                                                       \
        for (size_t from_i = 0; from_i < (from)->n; from_i++)                  \
            vec_push(a, v, (from)->at[from_i]);                                \
    } while (0)

// Loops over a vector: `x` points to each item, or is each item itself.  A body
// may append items, which are gone through as well.
#define vec_foreach(x, v)       VEC_FOREACH(x, v, &(v)->at[x##_next])
#define vec_foreach_value(x, v) VEC_FOREACH(x, v, (v)->at[x##_next])

// A loop that declares `x`, in an outer one that runs once.
#define VEC_FOREACH(x, v, item)                                                \
    for (size_t x##_next = 0, x##_once = 1; x##_once; x##_once = 0)            \
        for (__typeof__(&*(item)) x; x##_next < (v)->n && (x = (item), true);  \
             x##_next++)

#endif
