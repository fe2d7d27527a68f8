// Compares element by element, in blocks: equal bytes need no look.  Chunks of large
// arrays are worked on by all processors, and what came of them is put together in
// their order.

#include "tools/ingot/compare.h"

#include "tools/simt/sparse.h"

#include "ir/arith.h"
#include "ir/build.h"
#include "ir/eval.h"
#include "tools/libingot/jobs.h"

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

// ---- Chunks of an array -----------------------------------------------------

// An array in chunks, and what comes of each.
struct chunks {
    const struct comparison *of;
    const char *got, *want; // `got` is NULL for sums of squares of `want`
    int poison;             // the byte, or -1
    size_t bytes;
    struct comparison *compared;     // one for each chunk, or NULL
    struct compare_squares *squares; // one for each chunk, or NULL
};

// Return how many chunks an array has.
static size_t count_chunks(size_t bytes)
{
    return (bytes + SPARSE_CHUNK - 1) / SPARSE_CHUNK;
}

// Return how many bytes chunk `i` has.
static size_t chunk_bytes(const struct chunks *c, size_t i)
{
    size_t left = c->bytes - i * SPARSE_CHUNK;
    return left < SPARSE_CHUNK ? left : SPARSE_CHUNK;
}

// Return whether chunk `i` of an array is to be looked at: the first one always is.
static bool is_looked_at(const struct chunks *c, const char *elements, size_t i)
{
    return !i ||
           !sparse_is_untouched(elements + i * SPARSE_CHUNK, chunk_bytes(c, i));
}

// Work on all chunks.
static void run_chunks(struct chunks *c, void (*work)(void *, size_t))
{
    struct jobs jobs;
    jobs_start(&jobs, NULL, 0);
    jobs_run(&jobs, count_chunks(c->bytes), work, c);
    jobs_end(&jobs);
}

// Add the squares of chunk `i`.
static void add_chunk(void *context, size_t i)
{
    struct chunks *c = context;
    if (is_looked_at(c, c->want, i))
        add_part(c->of->buffer, c->want + i * SPARSE_CHUNK,
                 chunk_bytes(c, i) / type_bytes(c->of->buffer->elem),
                 &c->squares[i]);
}

void compare_add_squares(const struct ir_buffer *b, const void *elements,
                         size_t bytes, struct compare_squares *out)
{
    struct arena room = {0};
    struct comparison of = {.buffer = b};
    struct chunks c = {.of = &of, .want = elements, .bytes = bytes};
    size_t n = count_chunks(bytes);
    c.squares = arena_array(&room, struct compare_squares, n);
    run_chunks(&c, add_chunk);
    for (size_t i = 0; i < n; i++) {
        out->sum += c.squares[i].sum;
        out->n += c.squares[i].n;
    }
    arena_reset(&room);
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

// Part of a bound that rounding cannot reach from outside.
#define SURELY (1 - 1e-12)

// Return whether no pair of a block is wrong, nor the worst that was seen; if so, note how
// far they are apart.
static bool is_usual(struct comparison *c, const double *got,
                     const double *want, size_t n)
{
    double bound = SURELY * fmin(c->most_relative, c->tolerance);
    double most = c->most_absolute;
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        double d = fabs(got[i] - want[i]), size = fabs(want[i]);
        size = size > c->scale ? size : c->scale;
        ok &= (d <= bound * size) & (d < INFINITY);
        most = d > most ? d : most;
    }
    if (ok)
        c->most_absolute = most;
    return ok;
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
    if (type_is_float(type) && is_usual(c, g, w, n))
        return;
    for (size_t i = 0; i < n; i++) {
        bool is_same = memcmp(got + i * size, want + i * size, size) == 0;
        if (!is_same && g[i] == w[i] && !type_is_float(type))
            g[i] = NAN;
        enter(c, (struct compared){at + i, g[i], w[i]});
    }
}

// Count the elements of a block that are poison, of a size that the compiler knows.
static inline size_t count_equal(const char *got, size_t n, size_t size,
                                 const char *poison)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += memcmp(got + i * size, poison, size) == 0;
    return count;
}

// Count the elements of a block that are poison.
static size_t count_poison(const char *got, size_t n, size_t size,
                           const char *poison)
{
    switch (size) {
    case 1: return count_equal(got, n, 1, poison);
    case 2: return count_equal(got, n, 2, poison);
    case 4: return count_equal(got, n, 4, poison);
    default: return count_equal(got, n, LARGEST_ELEMENT, poison);
    }
}

// Compare the elements of chunk `i`.
static void compare_chunk(void *context, size_t i)
{
    struct chunks *all = context;
    struct comparison *c = &all->compared[i];
    size_t size = type_bytes(c->buffer->elem);
    size_t from = i * SPARSE_CHUNK / size;
    size_t end = from + chunk_bytes(all, i) / size;
    char pattern[LARGEST_ELEMENT];
    if (!is_looked_at(all, all->got, i) && !is_looked_at(all, all->want, i))
        return;
    memset(pattern, all->poison, sizeof pattern);
    for (size_t at = from; at < end; at += BLOCK) {
        size_t part = end - at < BLOCK ? end - at : BLOCK;
        const char *g = all->got + at * size, *w = all->want + at * size;
        if (all->poison >= 0 && memchr(g, all->poison, part * size))
            c->poisoned += count_poison(g, part, size, pattern);
        if (memcmp(g, w, part * size) != 0)
            compare_block(c, at, g, w, part);
    }
}

// Add what came of the next chunk to what came of those before it.
static void put_together(struct comparison *c, const struct comparison *next)
{
    for (size_t i = 0; i < next->wrong && i < COMPARE_EXAMPLES; i++)
        if (c->wrong + i < COMPARE_EXAMPLES)
            c->first[c->wrong + i] = next->first[i];
    c->wrong += next->wrong;
    c->poisoned += next->poisoned;
    if (next->most_relative > c->most_relative)
        c->worst = next->worst;
    c->most_relative = fmax(c->most_relative, next->most_relative);
    c->most_absolute = fmax(c->most_absolute, next->most_absolute);
}

void compare_arrays(struct comparison *c, const void *got, const void *want,
                    size_t bytes, int poison)
{
    struct arena room = {0};
    struct comparison none = {
        .buffer = c->buffer, .tolerance = c->tolerance, .scale = c->scale};
    struct chunks all = {c, got, want, poison, bytes, NULL, NULL};
    size_t n = count_chunks(bytes);
    all.compared = arena_array(&room, struct comparison, n);
    for (size_t i = 0; i < n; i++)
        all.compared[i] = none;
    run_chunks(&all, compare_chunk);
    *c = none;
    c->elements = bytes / type_bytes(c->buffer->elem);
    for (size_t i = 0; i < n; i++)
        put_together(c, &all.compared[i]);
    arena_reset(&room);
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
