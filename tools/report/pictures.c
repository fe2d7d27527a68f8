// Pictures of tiles: of each array that the first block of a launch writes, which
// thread writes which element.
//
// Arrays in global memory are drawn by rows and columns as the kernel declares them,
// those in shared memory as they lie there: lines of 128 bytes, across all banks.

#include "tools/report/report.h"

#include "ir/foreach.h"
#include "passes/analysis/warp_cost.h"

#include <stdlib.h>

enum {
    ROWS_MOST = 128,
    COLUMNS_MOST = 256,
    LINES_MOST = 64,
    WRAPPED = 128, // columns of one long row
    FEW = 4        // rows that are wrapped
};

void report_cells(json_t *object, const int32_t *cells, size_t rows,
                  size_t columns)
{
    json_t *runs = json_array();
    size_t all = rows * columns;
    for (size_t i = 0, n; i < all; i += n) {
        for (n = 1; i + n < all && cells[i + n] == cells[i];)
            n++;
        json_array_append_new(runs, json_integer(cells[i]));
        json_array_append_new(runs, json_integer((json_int_t)n));
    }
    json_object_set_new(object, "rows", json_integer((json_int_t)rows));
    json_object_set_new(object, "columns", json_integer((json_int_t)columns));
    json_object_set_new(object, "cells", runs);
}

// ---- Where elements are drawn ---------------------------------------------

// A tile of an array: rows that something is written of, columns from `first` on.
struct tile {
    int64_t width; // elements of a row
    bool is_wrapped;
    int64_t first, last; // columns
    struct VEC(int64_t) rows;
    size_t all_rows; // with those that are not drawn
};

// Return the extent of the innermost dimension, as the kernel declares the array;
// 0 if it has one dimension or none.
static int64_t width_of(const struct report *r, const struct ir_buffer *b)
{
    const struct ir_kernel *k = r->taken->variant->kernel;
    const struct ir_kernel *source = r->problem->kernel;
    int64_t width = 0;
    for (size_t i = 0; i < k->params.n; i++)
        if (k->params.at[i].buffer == b) {
            k = source;
            b = source->params.at[i].buffer;
            break;
        }
    if (b->rank < 2 ||
        !ir_eval_int(k, r->problem->values, b->shape[b->rank - 1], &width))
        return 0;
    return width;
}

// Order writes by elements, those of one element as they came.
static int by_element(const void *left, const void *right)
{
    const struct report_hold *x = left, *y = right;
    if (x->element != y->element)
        return x->element < y->element ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

// Find the rows and columns of writes that are in order.
static void measure(struct arena *a, const struct report_held *h,
                    struct tile *t)
{
    int64_t before = -1;
    t->rows.n = t->all_rows = 0;
    t->first = t->width;
    t->last = 0;
    vec_foreach(one, &h->of) {
        int64_t row = one->element / t->width, c = one->element % t->width;
        t->first = c < t->first ? c : t->first;
        t->last = c > t->last ? c : t->last;
        if (row == before)
            continue;
        before = row;
        t->all_rows++;
        if (t->rows.n < ROWS_MOST)
            vec_push(a, &t->rows, row);
    }
}

// Find the tile that shows what is written of an array in global memory: one of few
// long rows is wrapped.
static struct tile tile_of(struct report *r, const struct report_held *h)
{
    struct tile t = {.width = width_of(r, h->buffer)};
    if (t.width > 0)
        measure(&r->c->arena, h, &t);
    t.is_wrapped =
        t.width <= 0 || (t.all_rows < FEW && t.last - t.first >= WRAPPED);
    if (!t.is_wrapped)
        return t;
    t.width = WRAPPED;
    measure(&r->c->arena, h, &t);
    return t;
}

// Return the tile of an array in shared memory, of `n` elements in a line.
static struct tile lines_of(struct report *r, const struct report_held *h,
                            int64_t n)
{
    struct tile t = {.width = n};
    measure(&r->c->arena, h, &t);
    t.first = 0;
    t.last = n - 1;
    if (t.rows.n > LINES_MOST)
        t.rows.n = LINES_MOST;
    return t;
}

// ---- Drawing --------------------------------------------------------------

// Set who writes each cell; the rows are in order, as the writes are.
static void draw(const struct report_held *h, const struct tile *t,
                 size_t columns, int32_t *cells)
{
    size_t row = 0;
    for (size_t i = 0; i < t->rows.n * columns; i++)
        cells[i] = -1;
    vec_foreach(one, &h->of) {
        int64_t at = one->element / t->width;
        int64_t column = one->element % t->width - t->first;
        while (row < t->rows.n && t->rows.at[row] < at)
            row++;
        if (row == t->rows.n)
            return;
        if (column < (int64_t)columns &&
            cells[row * columns + (size_t)column] < 0)
            cells[row * columns + (size_t)column] = (int32_t)one->thread;
    }
}

// Set in which ways an array is written.
static void set_ways(json_t *object, const struct report_held *h)
{
    json_t *ways = json_array();
    for (int i = 0; i < REPORT_WAYS && h->ways[i]; i++)
        json_array_append_new(ways, json_text(h->ways[i]));
    json_object_set_new(object, "ways", ways);
}

// Set what a tile shows of an array.
static void set_tile(json_t *object, const struct tile *t)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < t->rows.n; i++)
        json_array_append_new(rows, json_integer(t->rows.at[i]));
    json_object_set_new(object, "width", json_integer(t->width));
    json_object_set_new(object, "wrapped", json_boolean(t->is_wrapped));
    json_object_set_new(object, "first_column", json_integer(t->first));
    json_object_set_new(object, "all_columns",
                        json_integer(t->last - t->first + 1));
    json_object_set_new(object, "all_rows",
                        json_integer((json_int_t)t->all_rows));
    json_object_set_new(object, "row_numbers", rows);
}

// Return the picture of an array of a launch.
static json_t *picture(struct report *r, const struct ir_launch *launch,
                       struct report_held *h)
{
    const struct ir_buffer *b = h->buffer;
    bool is_shared = b->space == SPACE_shared;
    size_t bytes = type_bytes(b->elem), line = BANKS * BANK_BYTES / bytes;
    qsort(h->of.at, h->of.n, sizeof *h->of.at, by_element);
    struct tile t = is_shared ? lines_of(r, h, (int64_t)line) : tile_of(r, h);
    size_t n = (size_t)(t.last - t.first + 1);
    n = n < COLUMNS_MOST ? n : COLUMNS_MOST;
    int32_t *cells = arena_array(&r->c->arena, int32_t, t.rows.n * n + 1);
    draw(h, &t, n, cells);
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:o, s:I, s:b}", "kind", is_shared ? "shared" : "tile",
        "launch", json_text(launch->name), "name", json_text(b->name), "type",
        json_text(type_name(b->elem)), "bytes", (json_int_t)bytes, "part",
        h->is_part);
    set_tile(object, &t);
    set_ways(object, h);
    report_cells(object, cells, t.rows.n, n);
    return object;
}

json_t *report_pictures(struct report *r)
{
    json_t *list = json_array();
    ir_foreach_stmt(s, &r->taken->variant->kernel->body) {
        if (s->kind != STMT_launch)
            continue;
        struct report_held_list all = report_holds(r, &s->u.launch);
        vec_foreach(h, &all)
            if (h->of.n && type_bytes(h->buffer->elem) <= BANKS * BANK_BYTES)
                json_array_append_new(list, picture(r, &s->u.launch, h));
    }
    report_layouts(r, list);
    return list;
}
