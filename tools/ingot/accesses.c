// What a kernel's accesses to memory cost.

#include "tools/ingot/accesses.h"

#include "passes/analysis/access_cost.h"
#include "tools/ingot/json.h"
#include "tools/ingot/place.h"

#include <stdlib.h>
#include <string.h>

// Accesses that differ in nothing.
struct row {
    struct access_cost cost;
    size_t times;
    size_t launch; // the number of its launch
};
struct rows VEC(struct row);

// Return which of two numbers is less.
static int compare(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

// Return which of two costs is less.
static int compare_costs(struct warp_cost x, struct warp_cost y)
{
    int taken = compare(x.taken, y.taken);
    return taken ? taken : compare(x.least, y.least);
}

// Order rows: by launch, place, then all that is printed; 0 if they are alike.
static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    const struct access_cost *x = &a->cost, *y = &b->cost;
    const int order[] = {
        compare(a->launch, b->launch),
        place_compare(x->span, y->span),
        strcmp(x->buffer->name, y->buffer->name),
        compare(x->kind, y->kind),
        compare(x->bytes, y->bytes),
        compare(x->depth, y->depth),
        compare(x->basis, y->basis),
        compare_costs(x->worst, y->worst),
        compare_costs(x->best, y->best),
    };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (order[i])
            return order[i];
    }
    return 0;
}

// Return the rows of all launches of a kernel.
static struct rows rows_of(struct arena *a, const struct ir_kernel *kernel,
                           const int64_t *sizes)
{
    struct access_costs all = access_costs(a, kernel, sizes);
    struct rows sorted = {0}, out = {0};
    size_t launch = 0;
    for (size_t i = 0; i < all.n; i++) {
        launch += i && all.at[i].launch != all.at[i - 1].launch;
        vec_push(a, &sorted, (struct row){all.at[i], 1, launch});
    }
    if (sorted.n)
        qsort(sorted.at, sorted.n, sizeof *sorted.at, compare_rows);
    for (size_t i = 0; i < sorted.n; i++) {
        if (i && compare_rows(&sorted.at[i - 1], &sorted.at[i]) == 0)
            out.at[out.n - 1].times++;
        else
            vec_push(a, &out, sorted.at[i]);
    }
    return out;
}

// ---- Text -----------------------------------------------------------------

// Return the cost of an access to shared memory.
static const char *conflict_text(struct arena *a, const struct access_cost *x)
{
    double worst = access_excess(x);
    double best = (double)x->best.taken / x->best.least;
    if (worst <= 1)
        return "no conflict";
    if (best < worst)
        return arena_printf(a, "conflict %.3g to %.3g-way", best, worst);
    return arena_printf(a, "conflict %.3g-way", worst);
}

// Return the cost of an access to global memory.
static const char *sectors_text(struct arena *a, const struct access_cost *x)
{
    uint32_t worst = x->worst.taken, best = x->best.taken;
    if (best != worst && x->best.least == x->worst.least)
        return arena_printf(a, "sectors %u to %u (least %u)", best, worst,
                            x->worst.least);
    return arena_printf(a, "sectors %u (least %u)", worst, x->worst.least);
}

// Return the cost of an access.
static const char *cost_text(struct arena *a, const struct access_cost *x)
{
    if (x->basis == COST_UNKNOWN)
        return "-";
    return x->buffer->space == SPACE_shared ? conflict_text(a, x)
                                            : sectors_text(a, x);
}

// Append a row.
static void print_row(struct arena *a, const struct row *r, struct buf *out)
{
    const struct access_cost *x = &r->cost;
    buf_printf(out, "  %-28s  %-16s  %-6s  %-6s  %5u  %5zu  %5u  %-26s  %s\n",
               place_text(a, x->span), x->buffer->name,
               space_name(x->buffer->space), access_kind_name(x->kind),
               x->bytes, r->times, x->depth, cost_text(a, x),
               cost_basis_name(x->basis));
}

// Append the head of a launch's table.
static void print_head(const struct ir_launch *launch, struct buf *out)
{
    buf_printf(out, "%s, block %u x %u x %u\n", launch->name, launch->block[0],
               launch->block[1], launch->block[2]);
    buf_printf(out, "  %-28s  %-16s  %-6s  %-6s  %5s  %5s  %5s  %-26s  %s\n",
               "place", "array", "space", "access", "bytes", "times", "loops",
               "cost", "basis");
}

void accesses_print(struct arena *a, const struct ir_kernel *kernel,
                    const int64_t *sizes, struct buf *out)
{
    struct rows rows = rows_of(a, kernel, sizes);
    for (size_t i = 0; i < rows.n; i++) {
        if (i == 0 || rows.at[i].launch != rows.at[i - 1].launch)
            print_head(rows.at[i].cost.launch, out);
        print_row(a, &rows.at[i], out);
    }
}

// ---- JSON -----------------------------------------------------------------

// Return what an access takes, and the least.
static json_t *cost_json(struct warp_cost cost)
{
    return json_pack("{s:I, s:I}", "taken", (json_int_t)cost.taken, "least",
                     (json_int_t)cost.least);
}

// Return a row.
static json_t *row_json(const struct row *r)
{
    const struct access_cost *x = &r->cost;
    bool is_shared = x->buffer->space == SPACE_shared;
    json_t *object = json_object();
    json_object_set_new(object, "entry", json_text(x->launch->name));
    json_set_place(object, x->span);
    json_object_set_new(object, "array", json_text(x->buffer->name));
    json_object_set_new(object, "space",
                        json_text(space_name(x->buffer->space)));
    json_object_set_new(object, "access", json_text(access_kind_name(x->kind)));
    json_object_set_new(object, "bytes", json_integer(x->bytes));
    json_object_set_new(object, "times", json_integer((json_int_t)r->times));
    json_object_set_new(object, "loops", json_integer(x->depth));
    json_object_set_new(object, "basis", json_text(cost_basis_name(x->basis)));
    if (x->basis == COST_UNKNOWN)
        return object;
    json_object_set_new(object, "unit",
                        json_text(is_shared ? "wavefronts" : "sectors"));
    json_object_set_new(object, "best", cost_json(x->best));
    json_object_set_new(object, "worst", cost_json(x->worst));
    return object;
}

json_t *accesses_json(struct arena *a, const struct ir_kernel *kernel,
                      const int64_t *sizes)
{
    struct rows rows = rows_of(a, kernel, sizes);
    json_t *list = json_array();
    for (size_t i = 0; i < rows.n; i++)
        json_array_append_new(list, row_json(&rows.at[i]));
    return list;
}
