// Systems of linear equations and inequalities over integers (isl).

#include "passes/analysis/linear.h"

#include "ir/base/num.h"
#include "ir/equal.h"
#include "passes/analysis/linear_bounds.h"
#include "passes/analysis/linear_reduce.h"

#include <isl/mat.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>
#include <limits.h>
#include <string.h>

enum { OPERATIONS_MOST = 200 * 1000 };

struct linear linear_start(struct arena *a)
{
    struct linear l = {.arena = a, .ctx = isl_ctx_alloc()};
    l.work = arena_new(a, struct arena);
    l.answers = arena_array(a, struct linear_answer *, LINEAR_HEADS);
    isl_options_set_on_error(l.ctx, ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(l.ctx, OPERATIONS_MOST);
    return l;
}

void linear_clear(struct linear *l)
{
    l->n = 0;
    l->rows.n = 0;
    l->quotients.n = 0;
    l->failed = false;
    isl_ctx_reset_operations(l->ctx);
}

void linear_end(struct linear *l)
{
    isl_ctx_free(l->ctx);
    arena_reset(l->work);
}

struct sum linear_number(int64_t value)
{
    return (struct sum){.k = {value}};
}

struct sum linear_unknown(uint32_t i)
{
    struct sum r = {.k = {0}};
    r.k[i] = 1;
    return r;
}

struct sum linear_add_unknown(struct linear *l)
{
    if (l->n == UNKNOWNS_MOST) {
        l->failed = true;
        return linear_number(0);
    }
    return linear_unknown(++l->n);
}

// Add factor * y to x.
static void linear_add(struct linear *l, struct sum *x, int64_t factor,
                       const struct sum *y)
{
    for (uint32_t i = 0; i <= l->n; i++) {
        int64_t product;
        if (y->k[i] && (!num_mul(factor, y->k[i], &product) ||
                        !num_add(x->k[i], product, &x->k[i])))
            l->failed = true;
    }
}

struct sum linear_plus(struct linear *l, struct sum x, int64_t factor,
                       const struct sum *y)
{
    linear_add(l, &x, factor, y);
    return x;
}

// Append a row: x - y + offset, which is at least 0, or 0.
static void add_row(struct linear *l, const struct sum *x, const struct sum *y,
                    int64_t offset, bool is_zero)
{
    const struct linear_row row = {*x, is_zero};
    vec_push(l->arena, &l->rows, row);
    struct sum *sum = &l->rows.at[l->rows.n - 1].sum;
    if (!num_add(sum->k[0], offset, &sum->k[0]))
        l->failed = true;
    linear_add(l, sum, -1, y);
}

void linear_require(struct linear *l, const struct sum *x, const struct sum *y,
                    int64_t offset)
{
    add_row(l, x, y, offset, false);
}

void linear_require_less(struct linear *l, const struct sum *x,
                         const struct sum *y, bool holds)
{
    if (holds)
        linear_require(l, y, x, -1);
    else
        linear_require(l, x, y, 0);
}

void linear_require_equal(struct linear *l, const struct sum *x,
                          const struct sum *y)
{
    add_row(l, x, y, 0, true);
}

// Take the multiples of a number out of a sum; the constant that stays is at
// least 0 and below it.
// Returns the sum of what was taken out, divided by the number.
static struct sum take_multiples(struct linear *l, struct sum *x, int64_t by)
{
    struct sum whole = linear_number(x->k[0] / by - (x->k[0] % by < 0));
    bool has_some = whole.k[0] != 0;
    for (uint32_t i = 1; i <= l->n; i++) {
        if (x->k[i] == 0 || x->k[i] % by != 0)
            continue;
        whole.k[i] = x->k[i] / by;
        has_some = true;
    }
    if (has_some)
        linear_add(l, x, -by, &whole);
    return whole;
}

// Return whether two sums are equal.
static bool same_sum(const struct linear *l, const struct sum *x,
                     const struct sum *y)
{
    return memcmp(x->k, y->k, (1 + l->n) * sizeof *x->k) == 0;
}

// Return whether a sum is a number.
static bool is_number(const struct linear *l, const struct sum *x)
{
    for (uint32_t i = 1; i <= l->n; i++)
        if (x->k[i])
            return false;
    return true;
}

// Return the unknown that a sum is but for the constant, 0 if it is none.
static uint32_t as_unknown(const struct linear *l, const struct sum *x)
{
    uint32_t unknown = 0;
    for (uint32_t i = 1; i <= l->n; i++) {
        if (x->k[i] != 0 && (x->k[i] != 1 || unknown))
            return 0;
        unknown = x->k[i] ? i : unknown;
    }
    return unknown;
}

// Return the quotient that is a sum but for the constant, or NULL.
static const struct linear_quotient *as_quotient(const struct linear *l,
                                                 const struct sum *x)
{
    uint32_t unknown = as_unknown(l, x);
    for (size_t i = 0; i < l->quotients.n && unknown; i++)
        if (l->quotients.at[i].unknown == unknown)
            return &l->quotients.at[i];
    return NULL;
}

// Require that 0 <= x - by * y < by.
static void require_rest(struct linear *l, const struct sum *x, int64_t by,
                         const struct sum *y)
{
    struct sum rest = linear_plus(l, *x, -by, y), zero = linear_number(0);
    linear_require(l, &rest, &zero, 0);
    linear_require(l, &zero, &rest, by - 1);
}

// Return a new unknown for x / by, related to quotients of x by factors and
// multiples of `by`.
static struct sum add_quotient(struct linear *l, const struct sum *x,
                               int64_t by)
{
    struct sum new = linear_add_unknown(l), finer = *x;
    int64_t finest = 1;
    vec_foreach(q, &l->quotients) {
        if (!same_sum(l, &q->of, x))
            continue;
        struct sum other = linear_unknown(q->unknown);
        if (q->by % by == 0)
            require_rest(l, &new, q->by / by, &other);
        if (by % q->by == 0 && q->by > finest) {
            finest = q->by;
            finer = other;
        }
    }
    require_rest(l, &finer, by / finest, &new);
    struct linear_quotient q = {l->n, *x, by};
    vec_push(l->arena, &l->quotients, q);
    return new;
}

struct sum linear_divide(struct linear *l, struct sum x, int64_t by)
{
    int64_t product;
    struct sum whole = take_multiples(l, &x, by);
    if (is_number(l, &x))
        return whole;
    const struct linear_quotient *inner = as_quotient(l, &x);
    if (inner && num_mul(by, inner->by, &product)) {
        struct sum number = linear_number(x.k[0]);
        x = inner->of;
        linear_add(l, &x, inner->by, &number);
        by = product;
    }
    vec_foreach(q, &l->quotients) {
        if (q->by != by || !same_sum(l, &q->of, &x))
            continue;
        struct sum same = linear_unknown(q->unknown);
        linear_add(l, &whole, 1, &same);
        return whole;
    }
    struct sum new = add_quotient(l, &x, by);
    linear_add(l, &whole, 1, &new);
    return whole;
}

// Return a matrix with an element set; small numbers go in without a detour.
static isl_mat *set_element(isl_mat *m, uint32_t row, uint32_t column,
                            int64_t value)
{
    if (value >= INT_MIN && value <= INT_MAX)
        return isl_mat_set_element_si(m, (int)row, (int)column, (int)value);
    isl_val *v = isl_val_int_from_si(isl_mat_get_ctx(m), value);
    return isl_mat_set_element_val(m, (int)row, (int)column, v);
}

// Return the rows as a matrix, those of equations or the others.
static isl_mat *matrix(const struct linear *l, isl_ctx *ctx, bool is_zero)
{
    uint32_t n = 0;
    for (size_t i = 0; i < l->rows.n; i++)
        n += l->rows.at[i].is_zero == is_zero;
    isl_mat *r = isl_mat_alloc(ctx, n, 1 + l->n);
    n = 0;
    vec_foreach(row, &l->rows) {
        if (row->is_zero != is_zero)
            continue;
        for (uint32_t j = 0; j <= l->n; j++)
            r = set_element(r, n, j, row->sum.k[j]);
        n++;
    }
    return r;
}

// Return the same number for equal systems.
static uint64_t hash_rows(const struct linear *l)
{
    uint64_t hash = l->n;
    vec_foreach(row, &l->rows) {
        hash = ir_hash_mix(hash, row->is_zero);
        for (uint32_t j = 0; j <= l->n; j++)
            hash = ir_hash_mix(hash, (uint64_t)row->sum.k[j]);
    }
    return hash;
}

// Return whether an answer is about the same rows.
static bool is_about(const struct linear_answer *a, const struct linear *l,
                     uint64_t hash)
{
    if (a->hash != hash || a->n != l->n || a->rows_n != l->rows.n)
        return false;
    const int64_t *x = a->rows;
    vec_foreach(y, &l->rows) {
        if (*x++ != y->is_zero ||
            memcmp(x, y->sum.k, (1 + l->n) * sizeof *x) != 0)
            return false;
        x += 1 + l->n;
    }
    return true;
}

// Return what was found for the rows of a small system, or NULL.
static const struct linear_answer *
find_answer(const struct linear *l, const struct linear *small, uint64_t hash)
{
    const struct linear_answer *a = l->answers[hash % LINEAR_HEADS];
    while (a && !is_about(a, small, hash))
        a = a->next;
    return a;
}

// Remember what was found for the rows of a small system.
static void add_answer(struct linear *l, const struct linear *small,
                       uint64_t hash, bool is_possible)
{
    size_t n = small->rows.n;
    struct linear_answer *new = arena_new(l->arena, struct linear_answer);
    int64_t *rows = arena_array(l->arena, int64_t, n * (2 + small->n) + 1);
    for (size_t i = 0; i < n; i++) {
        int64_t *row = rows + i * (2 + small->n);
        row[0] = small->rows.at[i].is_zero;
        memcpy(row + 1, small->rows.at[i].sum.k, (1 + small->n) * sizeof *row);
    }
    struct linear_answer **head = &l->answers[hash % LINEAR_HEADS];
    *new = (struct linear_answer){*head, hash, small->n, n, rows, is_possible};
    *head = new;
}

isl_basic_set *linear_solutions(const struct linear *l, isl_ctx *ctx)
{
    return isl_basic_set_from_constraint_matrices(
        isl_space_set_alloc(ctx, 0, l->n), matrix(l, ctx, true),
        matrix(l, ctx, false), isl_dim_cst, isl_dim_param, isl_dim_set,
        isl_dim_div);
}

// Return whether there may be a solution, by isl.
static bool has_solution(const struct linear *l)
{
    isl_basic_set *set = linear_solutions(l, l->ctx);
    bool possible = isl_basic_set_is_empty(set) != isl_bool_true;
    isl_basic_set_free(set);
    return possible;
}

// Decide a system, by bounds or by isl.
static bool decide(const struct linear *l)
{
    struct linear left;
    enum solvable solvable = linear_bounds(l, &left);
    if (solvable != SOLVABLE_UNKNOWN)
        return solvable == SOLVABLE_YES;
    left = linear_reduced(l->arena, &left);
    return has_solution(&left);
}

bool linear_is_possible(struct linear *l)
{
    if (l->failed)
        return true;
    struct arena_mark mark = arena_mark(l->work);
    struct linear small = linear_reduced(l->work, l);
    uint64_t hash = hash_rows(&small);
    const struct linear_answer *before = find_answer(l, &small, hash);
    bool possible = before ? before->is_possible : decide(&small);
    if (!before)
        add_answer(l, &small, hash, possible);
    arena_release(l->work, mark);
    return possible;
}

bool linear_example(struct linear *l, int64_t values[1 + UNKNOWNS_MOST])
{
    if (l->failed)
        return false;
    isl_ctx_reset_operations(l->ctx);
    isl_set *least = isl_basic_set_lexmin(linear_solutions(l, l->ctx));
    isl_point *point = isl_set_sample_point(least);
    if (!point || isl_point_is_void(point) != isl_bool_false) {
        isl_point_free(point);
        isl_ctx_reset_operations(l->ctx);
        point = isl_basic_set_sample_point(linear_solutions(l, l->ctx));
    }
    bool found = point && isl_point_is_void(point) == isl_bool_false;
    for (uint32_t i = 0; found && i < l->n; i++) {
        isl_val *v = isl_point_get_coordinate_val(point, isl_dim_set, (int)i);
        values[1 + i] = isl_val_get_num_si(v);
        isl_val_free(v);
    }
    isl_point_free(point);
    return found;
}
