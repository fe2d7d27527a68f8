// The search of `ingot tune` on whole spaces that an H200 has measured: how much of the
// best it finds in how many trials.
//
// A file of spaces/ has a line for each point, which `tools/bench/search.py points` wrote:
// the number of its schedule, the microseconds that the model predicts, its measured time
// over that of a build or 0 where it is refused, the values of its knobs.

#include "tools/tune/propose.h"
#include "tools/tune/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    KNOBS_MOST = 8,
    VALUES_MOST = 32,
    ITEMS_MOST = 4,
    POINTS_MOST = 4096,
    SEEDS = 10
};

// A space, and what part of its best a search must find at least: the mean of SEEDS, after
// 4 and 16 trials, and after 24.
static const struct row {
    const char *name;
    double after_4, after_16, after_24;
} rows[] = {
    {"column_sums_16384_4096", 0.95, 0.99, 0.99},
    {"conv3x3_32_56_56_64_64", 0.95, 0.98, 0.98},
    {"gemm_f16_512_512_2048", 0.93, 0.98, 0.98},
    {"gemv_8192_8192", 0.94, 0.98, 0.98},
    {"softmax_8192_8192", 0.97, 0.99, 0.99},
    {"depthwise_004", 0.86, 0.96, 0.98},
};

// A point that was measured.
struct known {
    size_t item;
    uint32_t at[KNOBS_MOST];
    double predicted, ratio;
};

// The values of a knob, in the order in which they came.
struct values {
    long at[VALUES_MOST];
    uint32_t n;
};

// A space that was read.
struct measured {
    struct arena arena;
    struct VEC(struct known) points;
    size_t n_items, knobs[ITEMS_MOST];
    struct values values[ITEMS_MOST][KNOBS_MOST];
    struct search_space space;
    double best;
};

// Return the number of a value of a knob, a new one for the first time.
static uint32_t number_of(struct values *all, long value)
{
    for (uint32_t i = 0; i < all->n; i++)
        if (all->at[i] == value)
            return i;
    assert_true(all->n < VALUES_MOST);
    all->at[all->n] = value;
    return all->n++;
}

// Read a point from a line.
static void read_point(struct measured *m, char *line)
{
    char *rest = line;
    struct known p = {.item = (size_t)strtol(rest, &rest, 10) - 1};
    assert_true(p.item < ITEMS_MOST);
    p.predicted = strtod(rest, &rest);
    p.ratio = strtod(rest, &rest);
    size_t n = 0;
    for (char *end;; rest = end, n++) {
        long value = strtol(rest, &end, 10);
        if (end == rest)
            break;
        assert_true(n < KNOBS_MOST);
        p.at[n] = number_of(&m->values[p.item][n], value);
    }
    m->knobs[p.item] = n;
    m->n_items = p.item >= m->n_items ? p.item + 1 : m->n_items;
    if (p.ratio > 0 && p.ratio < m->best)
        m->best = p.ratio;
    vec_push(&m->arena, &m->points, p);
}

// Read a space.
static void read_space(struct measured *m, const char *name)
{
    char path[4096], line[256];
    const char *root = getenv("SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/unit/spaces/%s.txt",
             root ? root : ".", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    *m = (struct measured){.best = INFINITY};
    while (fgets(line, sizeof line, file))
        read_point(m, line);
    fclose(file);
    struct search_item *items =
        arena_array(&m->arena, struct search_item, m->n_items);
    for (size_t i = 0; i < m->n_items; i++) {
        uint32_t *n = arena_array(&m->arena, uint32_t, m->knobs[i] + 1);
        for (size_t k = 0; k < m->knobs[i]; k++)
            n[k] = m->values[i][k].n;
        items[i] = (struct search_item){n, m->knobs[i], NULL};
    }
    m->space.at = items;
    m->space.n = m->n_items;
}

// A point that is to be ordered.
struct placed {
    struct search_point point;
    size_t place;
};

// Order points by their predictions, those that are the same as they came.
static int compare(const void *left, const void *right)
{
    const struct placed *x = left, *y = right;
    if (x->point.predicted != y->point.predicted)
        return x->point.predicted < y->point.predicted ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

// Return the known point of that schedule with these knobs, or NULL.
static const struct known *find(const struct measured *m,
                                const struct search_point *p)
{
    vec_foreach(known, &m->points)
        if (known->item == p->item &&
            memcmp(known->at, p->at, m->knobs[p->item] * sizeof *p->at) == 0)
            return known;
    return NULL;
}

// Give the search its order, as `ingot tune` does.
static void set_order(struct measured *m, struct search *s)
{
    struct search_points all = {0};
    struct VEC(struct placed) order = {0};
    propose_points(s, POINTS_MOST, &all);
    vec_foreach(point, &all) {
        const struct known *known = find(m, point);
        struct placed one = {*point, order.n};
        one.point.predicted = known ? known->predicted : 0;
        if (known)
            vec_push(&m->arena, &order, one);
    }
    assert_int_equal(order.n, m->points.n);
    qsort(order.at, order.n, sizeof *order.at, compare);
    vec_foreach(one, &order)
        vec_push(&m->arena, &s->order, one->point);
}

// Add to `sums` what part of the best a search has after 4, 16 and 24 trials.
static void search_once(struct measured *m, uint64_t seed, double sums[3])
{
    static const size_t trials[] = {4, 16, 24};
    struct search s;
    struct search_job job;
    struct search_options o = {.seed = seed, .trials = 24, .patience = -1};
    double best = INFINITY;
    size_t n = 0;
    search_start(&s, &m->arena, &m->space, &o);
    set_order(m, &s);
    while (search_next(&s, &job) != SEARCH_DONE) {
        const struct search_trial *t = &s.trials.at[job.trial];
        const struct known *known = find(m, &t->point);
        double ratio = known ? known->ratio : 0;
        bool is_new = ratio > 0 && t->rung == 0;
        n += is_new;
        best = is_new && ratio < best ? ratio : best;
        for (size_t i = 0; i < 3 && is_new; i++)
            sums[i] += n == trials[i] ? m->best / best : 0;
        search_tell(&s, job.trial, ratio > 0 ? SEARCH_MEASURED : SEARCH_REFUSED,
                    ratio);
    }
    for (size_t i = 0; i < 3; i++)
        sums[i] += n < trials[i] ? m->best / best : 0;
}

// Each space, and the mean of all after 4 and 16 trials.
static void finds_the_best(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        struct measured m;
        double sums[3] = {0};
        read_space(&m, r->name);
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            search_once(&m, seed, sums);
        if (sums[0] < r->after_4 * SEEDS || sums[1] < r->after_16 * SEEDS ||
            sums[2] < r->after_24 * SEEDS) {
            wrong++;
            print_error("%s: %.3f, %.3f, %.3f after 4, 16, 24 trials\n",
                        r->name, sums[0] / SEEDS, sums[1] / SEEDS,
                        sums[2] / SEEDS);
        }
        arena_reset(&m.arena);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_best)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
