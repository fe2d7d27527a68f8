// Rows of weights: what `online`, `factor_out` and `approximate` ask for.
//
//   let x[i, j] = j <= i ? A[i, j] : -inf         or A alone
//   let M[i] = max(j in n) x[i, j]
//   let D[i] = exp2(B[i])                         or none
//   let P[i, j] = exp2(x[i, j] - M[i]) / D[i]     or none
//   let L[i] = sum(j in n) exp2(x[i, j] - M[i])
//   let O[i, d] = sum(j in n) P[i, j] * V[j, d]   or none
//   C[i, d] = O[i, d] + L[i]
//
// Powers of two of integers are exact, and so are their sums in any order while they
// are few. With `exp` they are not: the kernel then says its tolerance.

#include "tests/fuzz/schedule/kernel.h"
#include "tests/support/draw.h"

// Elements are -7 to 7: weights are at least 2^-14, of which TERMS_MOST may be summed up,
// times V COLUMNS_MOST.
enum { TERMS_MOST = 1000, PRODUCTS_MOST = 140 };

// The part that is drawn.
struct weights {
    struct fuzz_kernel *k;
    struct fuzz_dim row, column, other;
    const char *rows; // indices of a row: `i` or `i, q`
    uint32_t n_rows;
    const char *function;                   // exp2 or exp
    const char *x, *greatest, *by, *weight; // names of arrays; NULL: none
    const char *sum, *product;
};

// Append the names of a row's indices with their ranges.
static void print_rows(struct weights *w)
{
    struct buf *out = &w->k->body;
    buf_text(out, "i in ");
    fuzz_dim_print(w->k, w->row, out);
    if (w->n_rows > 1) {
        buf_text(out, ", q in ");
        fuzz_dim_print(w->k, w->other, out);
    }
}

// Begin an array with a row's indices, and another one.
static const char *begin(struct weights *w, const char *index,
                         struct fuzz_dim d)
{
    const char *name = fuzz_name(w->k, 'S');
    buf_printf(&w->k->body, "    let %s[", name);
    print_rows(w);
    if (index) {
        buf_printf(&w->k->body, ", %s in ", index);
        fuzz_dim_print(w->k, d, &w->k->body);
    }
    buf_text(&w->k->body, "] = ");
    return name;
}

// Append `name(j in n) `.
static void print_reduction(struct weights *w, const char *name)
{
    buf_printf(&w->k->body, "%s(j in ", name);
    fuzz_dim_print(w->k, w->column, &w->k->body);
    buf_text(&w->k->body, ") ");
}

// Append what weights are made of, masked or as it is. A mask leaves each row its first
// element.
static void draw_elements(struct weights *w)
{
    static const char *const masks[] = {"j <= i", "j < 3", "j % 3 == 0",
                                        "j <= i + 2 && j % 2 == 0"};
    struct fuzz_dim dims[] = {w->row, w->other, w->column};
    if (w->n_rows == 1)
        dims[1] = w->column;
    w->x = fuzz_parameter(w->k, 'A', w->n_rows + 1, dims)->name;
    if (!draw_chance(w->k->random, 45))
        return;
    const char *from = w->x, *mask = draw_one(w->k->random, masks);
    w->x = begin(w, "j", w->column);
    buf_printf(&w->k->body, "%s ? %s[%s, j] : -inf\n", mask, from, w->rows);
}

// Append the greatest element of each row.
static void draw_greatest(struct weights *w)
{
    w->greatest = begin(w, NULL, w->row);
    print_reduction(w, "max");
    buf_printf(&w->k->body, "%s[%s, j]\n", w->x, w->rows);
}

// Append `exp2(x[i, j] - M[i])`.
static void print_weight(struct weights *w)
{
    buf_printf(&w->k->body, "%s(%s[%s, j] - %s[%s])", w->function, w->x,
               w->rows, w->greatest, w->rows);
}

// Append what weights are divided by, a power of two.
static void draw_divisor(struct weights *w)
{
    struct fuzz_dim dims[] = {w->row, w->other};
    const char *from = fuzz_parameter(w->k, 'A', w->n_rows, dims)->name;
    w->by = begin(w, NULL, w->row);
    buf_printf(&w->k->body, "exp2(%s[%s])\n", from, w->rows);
}

// Append a stage of weights.
static void draw_weights(struct weights *w)
{
    if (draw_chance(w->k->random, 60))
        draw_divisor(w);
    w->weight = begin(w, "j", w->column);
    print_weight(w);
    if (w->by)
        buf_printf(&w->k->body, " / %s[%s]", w->by, w->rows);
    buf_text(&w->k->body, "\n");
}

// Append an element of the weights, or what it is.
static void print_term(struct weights *w)
{
    if (w->weight)
        buf_printf(&w->k->body, "%s[%s, j]", w->weight, w->rows);
    else
        print_weight(w);
}

// Append sums of weights times the rows of a parameter.
static void draw_products(struct weights *w)
{
    struct fuzz_dim dims[] = {w->column, w->row};
    const char *v = fuzz_parameter(w->k, 'A', 2, dims)->name;
    w->product = begin(w, "d", w->row);
    print_reduction(w, "sum");
    print_term(w);
    buf_printf(&w->k->body, " * %s[j, d]\n", v);
}

// Append the result.
static void draw_result(struct weights *w)
{
    struct fuzz_dim dims[] = {w->row, w->other, w->row};
    if (w->n_rows == 1)
        dims[1] = w->row;
    const char *c =
        fuzz_parameter(w->k, 'C', w->n_rows + (w->product != NULL), dims)->name;
    buf_printf(&w->k->body, "    %s[%s%s] = ", c, w->rows,
               w->product ? ", d" : "");
    if (w->product)
        buf_printf(&w->k->body, "%s[%s, d]%s", w->product, w->rows,
                   w->sum ? " + " : "");
    if (w->sum)
        buf_printf(&w->k->body, "%s[%s]", w->sum, w->rows);
    buf_text(&w->k->body, "\n");
}

// Return how many elements a dimension has at most.
static int64_t longest(const struct fuzz_kernel *k, struct fuzz_dim d)
{
    int64_t most = 0;
    for (unsigned i = 0; i < k->n_sets; i++)
        if (k->axes[d.axis].values[i] > most)
            most = k->axes[d.axis].values[i];
    return most;
}

void fuzz_weights_draw(struct fuzz_kernel *k)
{
    struct weights w = {.k = k, .n_rows = 1, .rows = "i", .function = "exp2"};
    uint32_t first = (uint32_t)draw_below(k->random, k->n_axes);
    w.row.axis = first;
    w.column.axis = (first + 1) % k->n_axes;
    w.other.axis = (first + 2) % k->n_axes;
    if (k->n_axes > 2 && draw_chance(k->random, 40)) {
        w.n_rows = 2;
        w.rows = "i, q";
    }
    int64_t terms = longest(k, w.column);
    k->type = type_scalar(draw_chance(k->random, 85) ? TYPE_f32 : TYPE_f64);
    k->is_mixed = false;
    if (terms > TERMS_MOST || draw_chance(k->random, 25)) {
        w.function = "exp";
        k->is_rounded = true;
    }
    draw_elements(&w);
    draw_greatest(&w);
    if (draw_chance(k->random, 60))
        draw_weights(&w);
    bool is_exact = terms <= PRODUCTS_MOST || k->is_rounded;
    bool has_sum = !is_exact || draw_chance(k->random, 70);
    if (has_sum) {
        w.sum = begin(&w, NULL, w.row);
        print_reduction(&w, "sum");
        (draw_chance(k->random, 50) ? print_term : print_weight)(&w);
        buf_text(&k->body, "\n");
    }
    if (!has_sum || (is_exact && draw_chance(k->random, 60)))
        draw_products(&w);
    draw_result(&w);
}
