// Compares the results of a problem, array by array.

#include "tools/ingot/equivalence.h"

#include "tools/ingot/magnitude.h"

#include <math.h>
#include <string.h>

// What has no order.
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
static struct unordered unordered_option(const struct equivalence *e)
{
    struct unordered u = {.is_valid = true};
    size_t n = strcspn(e->unordered, " ");
    const char *rest = e->unordered[n] ? e->unordered + n + 1 : NULL;
    u.array = find_result(e->problem, e->unordered, n);
    u.count = rest ? find_result(e->problem, rest, strlen(rest)) : NULL;
    u.is_valid = u.array && (!rest || u.count);
    return u;
}

// Return the array that is a parameter.
static const struct problem_array *array_of(const struct problem *p,
                                            uint32_t parameter)
{
    for (size_t i = 0; i < p->arrays.n; i++)
        if (p->arrays.at[i].parameter == parameter)
            return &p->arrays.at[i];
    return NULL;
}

// Return what the text says in its clause `i`.
static struct unordered unordered_text(const struct equivalence *e, size_t i)
{
    const struct ir_unordered *t = &e->problem->kernel->terms.unordered.at[i];
    return (struct unordered){
        .array = array_of(e->problem, t->parameter),
        .count = t->has_count ? array_of(e->problem, t->count) : NULL,
        .is_valid = true};
}

bool equivalence_valid(const struct equivalence *e)
{
    return !e->unordered || unordered_option(e).is_valid;
}

bool equivalence_is_unordered(const struct equivalence *e,
                              const struct problem_array *array,
                              bool *is_counted)
{
    size_t n = e->problem->kernel->terms.unordered.n;
    bool is_unordered = false;
    *is_counted = false;
    for (size_t i = 0; i < (e->unordered ? 1 : n); i++) {
        struct unordered u =
            e->unordered ? unordered_option(e) : unordered_text(e, i);
        is_unordered |= u.array == array;
        *is_counted |= u.array == array && u.count;
    }
    return is_unordered;
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

// Sort what has no order.
static void sort(const struct unordered *u, struct eval_argument *arguments)
{
    if (u->array)
        compare_sort(u->array->buffer, arguments[u->array->parameter].data,
                     elements_of(u, arguments));
}

void equivalence_sort(const struct equivalence *e,
                      struct eval_argument *arguments)
{
    size_t n = e->problem->kernel->terms.unordered.n;
    for (size_t i = 0; i < (e->unordered ? 1 : n); i++) {
        struct unordered u =
            e->unordered ? unordered_option(e) : unordered_text(e, i);
        sort(&u, arguments);
    }
}

// ---- The size of elements -------------------------------------------------

// Elements enough to tell their size: the root mean square of 16 normal numbers
// is below a quarter of what it estimates less than once in ten million times.
enum { SAMPLE = 16 };

// Roundings of a result all of whose terms cancel.
enum { ROUNDINGS = 8 };

// Run the definition on the inputs of another seed, and add the squares of a
// result.  A fault adds nothing.
static void add_draw(const struct equivalence *e,
                     const struct problem_array *array, uint64_t seed,
                     struct compare_squares *out)
{
    struct arena arena = {0};
    struct diag_list ignored = {.arena = &arena};
    struct problem drawn = *e->problem;
    const char *by;
    drawn.seed = seed;
    struct eval_argument *results = problem_arguments(&arena, &drawn, &ignored);
    if (results &&
        definition_run(e->definition, &drawn, e->work, results, &ignored, &by))
        compare_add_squares(array->buffer, results[array->parameter].data,
                            array->bytes, out);
    problem_free_arguments(&drawn, results);
    arena_reset(&arena);
}

// Return the size of the elements of a result by many inputs.
static double drawn_scale(const struct equivalence *e,
                          const struct problem_array *array,
                          struct compare_squares squares)
{
    size_t elements = array->bytes / type_bytes(array->buffer->elem);
    for (size_t n = elements, i = 1; n < SAMPLE; n += elements, i++)
        add_draw(e, array, e->problem->seed + i, &squares);
    return compare_root(&squares);
}

// Return the size of what the elements of a result are added up from, 0 if
// the definition fails on it.
static double added_scale(const struct equivalence *e,
                          const struct problem_array *array)
{
    struct arena arena = {0};
    struct diag_list ignored = {.arena = &arena};
    struct definition_request quiet = {.steps = e->definition->steps};
    struct compare_squares squares = {0};
    const struct ir_kernel *definition = definition_of(e->problem->kernel);
    struct eval_argument *results =
        problem_arguments(&arena, e->problem, &ignored);
    if (results &&
        definition_evaluate(&quiet,
                            magnitude_of(&arena, definition, array->parameter),
                            results, &ignored))
        compare_add_squares(array->buffer, results[array->parameter].data,
                            array->bytes, &squares);
    problem_free_arguments(e->problem, results);
    arena_reset(&arena);
    return compare_root(&squares);
}

// Return whether elements of size `scale` are no more than what rounding leaves
// of a few operations on numbers of size `added`.
static bool is_cancelled(const struct equivalence *e, double scale,
                         double added)
{
    return scale <= ROUNDINGS * e->work->arithmetic * added;
}

// Return whether an array has too few elements to tell their size.
static bool is_few(const struct problem_array *array)
{
    size_t elements = array->bytes / type_bytes(array->buffer->elem);
    return type_is_float(array->buffer->elem) && elements < SAMPLE;
}

// Return the tolerance for a result: that of the command line, of the text, or
// by rule.
static double tolerance_of(const struct equivalence *e,
                           const struct ir_buffer *b)
{
    const struct ir_expr *said = e->problem->kernel->terms.tolerance;
    if (!type_is_float(b->elem))
        return 0;
    return e->tolerance >= 0 ? e->tolerance
           : said            ? said->u.f
                             : compare_tolerance(e->work, b, e->fast_math);
}

struct comparison equivalence_compare(const struct equivalence *e,
                                      const struct problem_array *array,
                                      const struct eval_argument *got,
                                      const struct eval_argument *want)
{
    const struct ir_buffer *b = array->buffer;
    const void *g = got[array->parameter].data;
    const void *w = want[array->parameter].data;
    bool tells = type_is_float(b->elem) || type_bits(b->elem) >= 32;
    int poison = array->fill == FILL_POISON && tells ? problem_poison(b) : -1;
    struct compare_squares squares = {0};
    if (type_is_float(b->elem))
        compare_add_squares(b, w, array->bytes, &squares);
    struct comparison c = {.buffer = b,
                           .tolerance = tolerance_of(e, b),
                           .scale = compare_root(&squares)};
    compare_arrays(&c, g, w, array->bytes, poison);
    if (c.wrong && is_few(array)) {
        c.scale = fmax(c.scale, drawn_scale(e, array, squares));
        compare_arrays(&c, g, w, array->bytes, poison);
    }
    double added =
        c.wrong && type_is_float(b->elem) ? added_scale(e, array) : 0;
    if (added > c.scale && is_cancelled(e, c.scale, added)) {
        c.scale = added;
        compare_arrays(&c, g, w, array->bytes, poison);
    }
    return c;
}
