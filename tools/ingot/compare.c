// Compares element by element, in blocks: equal bytes need no look.

#include "tools/ingot/compare.h"

#include "tools/simt/sparse.h"

#include "ir/arith.h"
#include "ir/build.h"
#include "ir/eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, LARGEST_ELEMENT = 8 };

double compare_tolerance(const struct work *work, const struct ir_buffer *b,
                         bool fast_math)
{
    if (!type_is_float(b->elem))
        return 0;
    return 8 * sqrt(work->terms) * work->arithmetic * (fast_math ? 32 : 1) +
           2 * work->conversion;
}

// Return an element as a number.
static double load(struct type type, const void *element)
{
    return type_is_float(type) ? eval_load_float(type, element)
                               : (double)eval_load_int(type, element);
}

// Convert `n` elements to numbers.
static void load_block(struct type type, const char *elements, size_t n,
                       double *out)
{
    size_t size = type_bytes(type);
    if (type.kind == TYPE_f32) {
        float part[BLOCK];
        memcpy(part, elements, n * size);
        for (size_t i = 0; i < n; i++)
            out[i] = part[i];
        return;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = load(type, elements + i * size);
}

// Add the squares of part of an array.
static void add_part(const struct ir_buffer *b, const char *elements, size_t n,
                     struct compare_squares *out)
{
    double numbers[BLOCK];
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t part = n - at < BLOCK ? n - at : BLOCK;
        load_block(b->elem, elements + at * type_bytes(b->elem), part, numbers);
        for (size_t i = 0; i < part; i++) {
            bool counts = isfinite(numbers[i]);
            out->sum += counts ? numbers[i] * numbers[i] : 0;
            out->n += counts;
        }
    }
}

void compare_add_squares(const struct ir_buffer *b, const void *elements,
                         size_t bytes, struct compare_squares *out)
{
    for (size_t at = 0; at < bytes; at += SPARSE_CHUNK) {
        size_t part = bytes - at < SPARSE_CHUNK ? bytes - at : SPARSE_CHUNK;
        const char *from = (const char *)elements + at;
        if (!at || !sparse_is_untouched(from, part))
            add_part(b, from, part / type_bytes(b->elem), out);
    }
}

double compare_root(const struct compare_squares *squares)
{
    return squares->n ? sqrt(squares->sum / (double)squares->n) : 0;
}

// Return how far two numbers are apart; infinite if only one is a number.
static double distance(double got, double want)
{
    if ((isnan(got) && isnan(want)) || got == want)
        return 0;
    double d = fabs(got - want);
    return isnan(d) ? INFINITY : d;
}

// Enter a pair of numbers into the result.
static void enter(struct comparison *c, struct compared pair)
{
    pair.got = isnan(pair.got) ? NAN : pair.got;
    double absolute = distance(pair.got, pair.want);
    double scale = fmax(fabs(pair.want), c->scale);
    double relative = absolute == 0 ? 0
                      : scale > 0   ? absolute / scale
                                    : INFINITY;
    if (isinf(pair.want) && absolute > 0)
        relative = INFINITY;
    if (relative > c->most_relative)
        c->worst = pair;
    c->most_absolute = fmax(c->most_absolute, absolute);
    c->most_relative = fmax(c->most_relative, relative);
    if (relative <= c->tolerance)
        return;
    if (c->wrong < COMPARE_EXAMPLES)
        c->first[c->wrong] = pair;
    c->wrong++;
}

// Compare a block that differs somewhere.  Integers that differ only beyond
// what a double holds are told apart by their bytes.
static void compare_block(struct comparison *c, size_t at, const char *got,
                          const char *want, size_t n)
{
    struct type type = c->buffer->elem;
    size_t size = type_bytes(type);
    double g[BLOCK], w[BLOCK];
    load_block(type, got, n, g);
    load_block(type, want, n, w);
    for (size_t i = 0; i < n; i++) {
        bool is_same = memcmp(got + i * size, want + i * size, size) == 0;
        if (!is_same && g[i] == w[i] && !type_is_float(type))
            g[i] = NAN;
        enter(c, (struct compared){at + i, g[i], w[i]});
    }
}

// Count the elements of a block that are poison.
static size_t count_poison(const char *got, size_t n, size_t size,
                           const char *poison)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += memcmp(got + i * size, poison, size) == 0;
    return count;
}

// What a comparison compares.
struct sides {
    const char *got, *want;
    int poison; // the byte, or -1
};

// Compare the elements from one on.
static void compare_part(struct comparison *c, const struct sides *s,
                         size_t from, size_t n)
{
    size_t size = type_bytes(c->buffer->elem), end = from + n;
    char pattern[LARGEST_ELEMENT];
    memset(pattern, s->poison, sizeof pattern);
    for (size_t at = from; at < end; at += BLOCK) {
        size_t part = end - at < BLOCK ? end - at : BLOCK;
        const char *g = s->got + at * size, *w = s->want + at * size;
        if (s->poison >= 0 && memchr(g, s->poison, part * size))
            c->poisoned += count_poison(g, part, size, pattern);
        if (memcmp(g, w, part * size) != 0)
            compare_block(c, at, g, w, part);
    }
}

void compare_arrays(struct comparison *c, const void *got, const void *want,
                    size_t bytes, int poison)
{
    size_t size = type_bytes(c->buffer->elem), chunk = SPARSE_CHUNK / size;
    struct sides s = {got, want, poison};
    *c = (struct comparison){.buffer = c->buffer,
                             .tolerance = c->tolerance,
                             .scale = c->scale,
                             .elements = bytes / size};
    for (size_t at = 0; at < c->elements; at += chunk) {
        size_t n = c->elements - at < chunk ? c->elements - at : chunk;
        if (!at || !sparse_is_untouched(s.got + at * size, n * size) ||
            !sparse_is_untouched(s.want + at * size, n * size))
            compare_part(c, &s, at, n);
    }
}

// Order two floating numbers, NaN behind all others.
static int order_floats(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    if (isnan(x) || isnan(y))
        return (isnan(x) != 0) - (isnan(y) != 0);
    return (x > y) - (x < y);
}

// Order two integers, of whatever type, as signed ones.
static int order_integers(const void *a, const void *b)
{
    int64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

void compare_sort(const struct ir_buffer *b, void *elements, size_t n)
{
    struct type type = b->elem;
    bool is_float = type_is_float(type);
    union number *numbers = malloc((n ? n : 1) * sizeof *numbers);
    if (!numbers)
        return;
    for (size_t i = 0; i < n; i++) {
        const char *element = (char *)elements + i * type_bytes(type);
        if (is_float)
            numbers[i].f = eval_load_float(type, element);
        else
            numbers[i].i = eval_load_int(type, element);
    }
    qsort(numbers, n, sizeof *numbers,
          is_float ? order_floats : order_integers);
    for (size_t i = 0; i < n; i++) {
        char *element = (char *)elements + i * type_bytes(type);
        if (is_float)
            eval_store_float(type, element, numbers[i].f);
        else
            eval_store_int(type, element, numbers[i].i);
    }
    free(numbers);
}
