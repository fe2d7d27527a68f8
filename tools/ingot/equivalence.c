// Compares the results of a problem, array by array.

#include "tools/ingot/equivalence.h"

#include <string.h>

// What --unordered names.
struct unordered {
    const struct problem_array *array, *count; // NULL: none
    bool is_valid;
};

// Return the result of that name, or NULL.
static const struct problem_array *find_result(const struct problem *p,
                                               const char *name, size_t n)
{
    for (size_t i = 0; i < p->arrays.n; i++) {
        const struct problem_array *array = &p->arrays.at[i];
        if (array->buffer->role != ROLE_input &&
            strlen(array->buffer->name) == n &&
            memcmp(array->buffer->name, name, n) == 0)
            return array;
    }
    return NULL;
}

// Return what --unordered names.
static struct unordered unordered_of(const struct equivalence *e)
{
    struct unordered u = {.is_valid = true};
    if (!e->unordered)
        return u;
    size_t n = strcspn(e->unordered, " ");
    const char *rest = e->unordered[n] ? e->unordered + n + 1 : NULL;
    u.array = find_result(e->problem, e->unordered, n);
    u.count = rest ? find_result(e->problem, rest, strlen(rest)) : NULL;
    u.is_valid = u.array && (!rest || u.count);
    return u;
}

bool equivalence_valid(const struct equivalence *e)
{
    return unordered_of(e).is_valid;
}

// Return how many elements have no order: what `count` holds, or all of them.
static size_t elements_of(const struct unordered *u,
                          const struct eval_argument *arguments)
{
    size_t all = u->array->bytes / type_bytes(u->array->buffer->elem);
    if (!u->count || !u->count->bytes)
        return all;
    int64_t n = eval_load_int(u->count->buffer->elem,
                              arguments[u->count->parameter].data);
    return n >= 0 && (uint64_t)n < all ? (size_t)n : all;
}

void equivalence_sort(const struct equivalence *e,
                      struct eval_argument *arguments)
{
    struct unordered u = unordered_of(e);
    if (u.array)
        compare_sort(u.array->buffer, arguments[u.array->parameter].data,
                     elements_of(&u, arguments));
}

struct comparison equivalence_compare(const struct equivalence *e,
                                      const struct problem_array *array,
                                      const struct eval_argument *got,
                                      const struct eval_argument *want)
{
    const struct ir_buffer *b = array->buffer;
    struct comparison c;
    double tolerance = e->tolerance;
    bool tells = type_is_float(b->elem) || type_bits(b->elem) >= 32;
    int poison = array->fill == FILL_POISON && tells ? problem_poison(b) : -1;
    if (tolerance < 0 || !type_is_float(b->elem))
        tolerance = compare_tolerance(e->work, b, e->fast_math);
    compare_arrays(b, got[array->parameter].data, want[array->parameter].data,
                   array->bytes, tolerance, poison, &c);
    return c;
}
