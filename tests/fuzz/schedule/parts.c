// The parts that kernels are made of: one function for each kind.

#include "tests/fuzz/schedule/kernel.h"
#include "tests/support/draw.h"

enum {
    ADDED_MOST = 7, // to a sum, of what arrays hold
    SCATTERED = 8   // elements that data choose from
};

// Return a scope of indices i, j ... over dimensions.
static struct fuzz_scope scope_of(uint32_t n, const struct fuzz_dim *dims)
{
    static const char *const names[FUZZ_RANK] = {"i", "j", "p", "q"};
    struct fuzz_scope s = {.n = n};
    for (uint32_t i = 0; i < n; i++) {
        s.names[i] = names[i];
        s.dims[i] = dims[i];
    }
    return s;
}

// Return random dimensions, axes in any order, repeated where there are few.
static struct fuzz_scope draw_scope(struct fuzz_kernel *k, uint32_t least,
                                    uint32_t most)
{
    struct fuzz_dim dims[FUZZ_RANK] = {{0}};
    uint32_t from = (uint32_t)draw_below(k->random, k->n_axes);
    uint32_t n = least + (uint32_t)draw_below(k->random, most - least + 1);
    if (n > k->n_axes)
        n = least > k->n_axes ? least : k->n_axes;
    for (uint32_t i = 0; i < n; i++)
        dims[i].axis = (from + i) % k->n_axes;
    return scope_of(n, dims);
}

// Begin a stage on an intermediate array, or on a result with `letter` C.
static struct fuzz_array *begin(struct fuzz_kernel *k, char letter,
                                const struct fuzz_scope *s)
{
    struct buf *out = &k->body;
    struct fuzz_array *a;
    if (letter == 'C') {
        a = fuzz_parameter(k, 'C', s->n, s->dims);
        buf_printf(out, "    %s[", a->name);
    } else {
        a = &k->arrays[k->n_arrays++];
        *a = (struct fuzz_array){
            .name = fuzz_name(k, 'S'), .type = k->type, .rank = s->n};
        buf_printf(out, "    let %s[", a->name);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        a->dims[i] = s->dims[i];
        buf_printf(out, "%s%s", i ? ", " : "", s->names[i]);
        if (letter != 'C') {
            buf_text(out, " in ");
            fuzz_dim_print(k, s->dims[i], out);
        }
    }
    buf_text(out, "] = ");
    return a;
}

// Append a stage of elements on their own that reads `must`, if not NULL.
static struct fuzz_array *draw_elements(struct fuzz_kernel *k, char letter,
                                        const struct fuzz_scope *s,
                                        const struct fuzz_array *must)
{
    unsigned depth = (unsigned)draw_below(k->random, 3);
    struct buf value = {0};
    struct type computed = k->type;
    double most = fuzz_expr(k, s, must, depth, &value);
    if (k->is_mixed)
        k->type = fuzz_integer(k);
    struct fuzz_array *a = begin(k, letter, s);
    a->most = most;
    if (type_equal(k->type, computed))
        buf_printf(&k->body, "%s\n", value.data);
    else
        buf_printf(&k->body, "%s(%s)\n", type_name(k->type), value.data);
    k->type = computed;
    buf_free(&value);
    return a;
}

// Append the result that goes with an array: what `from` has, and something.
static void draw_epilogue(struct fuzz_kernel *k, const struct fuzz_array *from)
{
    struct fuzz_scope s = scope_of(from->rank, from->dims);
    uint64_t form = draw_below(k->random, 3);
    struct buf index = {0};
    if (form == 0) {
        draw_elements(k, 'C', &s, from);
        return;
    }
    const struct fuzz_array *bias = fuzz_parameter(k, 'A', s.n, s.dims);
    begin(k, 'C', &s);
    for (uint32_t i = 0; i < s.n; i++)
        buf_printf(&index, "%s%s", i ? ", " : "", s.names[i]);
    const char *at = index.n ? index.data : "";
    buf_text(&k->body, form == 1 ? "" : "max(");
    fuzz_element(k, from, at, &k->body);
    buf_text(&k->body, form == 1 ? " + " : ", ");
    fuzz_element(k, bias, at, &k->body);
    buf_text(&k->body, form == 1 ? "\n" : ")\n");
    buf_free(&index);
}

static void draw_pointwise(struct fuzz_kernel *k)
{
    struct fuzz_scope s = draw_scope(k, draw_below(k->random, 20) > 0, 4);
    draw_elements(k, 'C', &s, NULL);
}

static void draw_chain(struct fuzz_kernel *k)
{
    struct fuzz_scope inner = draw_scope(k, 1, 3), outer = inner;
    if (draw_chance(k->random, 60))
        outer.dims[draw_below(k->random, outer.n)].extra +=
            1 + (unsigned)draw_below(k->random, 3);
    const struct fuzz_array *at = draw_elements(k, 'S', &outer, NULL);
    if (draw_chance(k->random, 60))
        at = draw_elements(k, 'S', &inner, at);
    draw_elements(k, 'C', &inner, at);
}

// Append `(low <= i && i < extent + low) && ...` for what was padded.
static void print_inside(struct fuzz_kernel *k, const struct fuzz_scope *s,
                         const unsigned *low)
{
    bool any = false;
    for (uint32_t i = 0; i < s->n; i++) {
        struct fuzz_dim whole = {s->dims[i].axis, 0};
        if (!s->dims[i].extra)
            continue;
        buf_printf(&k->body, "%s%u <= %s && %s < ", any ? " && " : "", low[i],
                   s->names[i], s->names[i]);
        fuzz_dim_print(k, whole, &k->body);
        buf_printf(&k->body, " + %u", low[i]);
        any = true;
    }
}

// Append a stage that pads some dimensions of a parameter.
static struct fuzz_array *draw_padding(struct fuzz_kernel *k,
                                       struct fuzz_scope *padded)
{
    struct fuzz_scope inner = *padded;
    struct buf index = {0};
    unsigned low[FUZZ_RANK] = {0};
    for (uint32_t i = 0; i < padded->n; i++) {
        if (i > 0 && draw_chance(k->random, 40))
            continue;
        padded->dims[i].extra = 1 + (unsigned)draw_below(k->random, 3);
        low[i] = (unsigned)draw_below(k->random, padded->dims[i].extra + 1);
    }
    const struct fuzz_array *from = fuzz_parameter(k, 'A', inner.n, inner.dims);
    struct fuzz_array *a = begin(k, 'S', padded);
    a->most = from->most;
    print_inside(k, padded, low);
    for (uint32_t i = 0; i < inner.n; i++) {
        buf_printf(&index, "%s%s", i ? ", " : "", inner.names[i]);
        if (low[i])
            buf_printf(&index, " - %u", low[i]);
    }
    buf_text(&k->body, " ? ");
    fuzz_element(k, from, index.data, &k->body);
    buf_printf(&k->body, " : %u\n", (unsigned)draw_below(k->random, 3));
    buf_free(&index);
    return a;
}

// Append a sum over the window of an array around each element of `inner`.
static struct fuzz_array *draw_window(struct fuzz_kernel *k,
                                      const struct fuzz_scope *inner,
                                      const struct fuzz_array *from)
{
    static const char *const names[FUZZ_RANK] = {"x", "y", "z", "w"};
    uint32_t n = 0;
    struct fuzz_array *a = begin(k, 'S', inner);
    a->most = from->most;
    buf_text(&k->body, "sum(");
    for (uint32_t i = 0; i < inner->n; i++) {
        if (from->dims[i].extra == 0)
            continue;
        buf_printf(&k->body, "%s%s in %u", n++ ? ", " : "", names[i],
                   from->dims[i].extra + 1);
        a->most *= from->dims[i].extra + 1;
    }
    buf_printf(&k->body, ") %s[", from->name);
    for (uint32_t i = 0; i < inner->n; i++) {
        buf_printf(&k->body, "%s%s", i ? ", " : "", inner->names[i]);
        if (from->dims[i].extra)
            buf_printf(&k->body, " + %s", names[i]);
    }
    buf_text(&k->body, "]\n");
    return a;
}

// Append an element of an array: the first, or the last, of the window around
// an element of `inner`.
static void print_corner(struct fuzz_kernel *k, const struct fuzz_scope *inner,
                         const struct fuzz_array *from, bool is_last)
{
    buf_printf(&k->body, "%s[", from->name);
    for (uint32_t i = 0; i < inner->n; i++) {
        buf_printf(&k->body, "%s%s", i ? ", " : "", inner->names[i]);
        if (is_last && from->dims[i].extra)
            buf_printf(&k->body, " + %u", from->dims[i].extra);
    }
    buf_text(&k->body, "]");
}

static void draw_stencil(struct fuzz_kernel *k)
{
    struct fuzz_scope inner = draw_scope(k, 1, 3), padded = inner;
    const struct fuzz_array *at = draw_padding(k, &padded);
    if (draw_chance(k->random, 50)) {
        at = draw_window(k, &inner, at);
        draw_epilogue(k, at);
        return;
    }
    const char *const signs[] = {" + ", " - "};
    begin(k, 'C', &inner);
    print_corner(k, &inner, at, false);
    buf_text(&k->body, draw_one(k->random, signs));
    fuzz_access(k, &inner, at, &k->body);
    buf_text(&k->body, draw_one(k->random, signs));
    print_corner(k, &inner, at, true);
    buf_text(&k->body, "\n");
}

// Return whether a sum of `terms` values up to `most` is exact, also if what is
// added behind it comes first.
static bool is_exact_sum(const struct fuzz_kernel *k, double most, double terms)
{
    return type_is_integer(k->type) ||
           most * terms + (double)ADDED_MOST <= fuzz_exact(k->type);
}

// Return a reduction that is exact: of `terms` values up to `most`.
static const char *draw_reducer(struct fuzz_kernel *k, double most,
                                double terms)
{
    static const char *const any[] = {"sum", "sum", "sum", "max",
                                      "min", "sum", "prod"};
    const char *name = draw_one(k->random, any);
    bool is_integer = type_is_integer(k->type);
    if ((!is_integer || k->type.kind == TYPE_int) && name[0] == 'p')
        name = "max";
    if (name[0] == 's' && !is_exact_sum(k, most, terms))
        name = "min";
    return name;
}

// Return how often an axis has, at most, an element.
static double longest(const struct fuzz_kernel *k, struct fuzz_dim d)
{
    int64_t most = 0;
    for (unsigned i = 0; i < k->n_sets; i++)
        most =
            k->axes[d.axis].values[i] > most ? k->axes[d.axis].values[i] : most;
    return (double)(most + d.extra);
}

// Append a reduction of an expression over the last `n_reduced` indices of a
// scope.
static struct fuzz_array *draw_rows(struct fuzz_kernel *k, char letter,
                                    const struct fuzz_scope *all,
                                    uint32_t n_reduced,
                                    const struct fuzz_array *must)
{
    struct fuzz_scope own = *all;
    struct buf value = {0};
    double terms = 1;
    own.n -= n_reduced;
    unsigned depth = (unsigned)draw_below(k->random, 2);
    double most = fuzz_expr(k, all, must, depth, &value);
    for (uint32_t i = own.n; i < all->n; i++)
        terms *= longest(k, all->dims[i]);
    const char *name = draw_reducer(k, most, terms);
    struct fuzz_array *a = begin(k, letter, &own);
    a->most = name[0] == 's' ? most * terms : most;
    buf_printf(&k->body, "%s(", name);
    for (uint32_t i = own.n; i < all->n; i++) {
        buf_printf(&k->body, "%s%s in ", i > own.n ? ", " : "", all->names[i]);
        fuzz_dim_print(k, all->dims[i], &k->body);
    }
    buf_printf(&k->body, ") %s\n", value.data);
    buf_free(&value);
    return a;
}

static void draw_reduction(struct fuzz_kernel *k)
{
    struct fuzz_scope s = draw_scope(k, 1, 4);
    const struct fuzz_array *must = NULL;
    uint32_t n = 1 + (s.n > 2 && draw_chance(k->random, 30));
    bool is_result = draw_chance(k->random, 35);
    if (draw_chance(k->random, 35))
        must = draw_elements(k, 'S', &s, NULL);
    struct fuzz_array *a = draw_rows(k, is_result ? 'C' : 'S', &s, n, must);
    if (!is_result)
        draw_epilogue(k, a);
}

// Declare the factors of a product, one over the first index and the last, one
// over the last and what is left.
static void declare_factors(struct fuzz_kernel *k, const struct fuzz_scope *s,
                            const struct fuzz_array *factors[2])
{
    struct fuzz_dim left[2] = {s->dims[0], s->dims[s->n - 1]};
    struct fuzz_dim right[2] = {s->dims[s->n - 1], s->dims[s->n - 2]};
    struct fuzz_scope pre = scope_of(2, left);
    bool has_stage = draw_chance(k->random, 35);
    factors[0] = has_stage ? draw_elements(k, 'S', &pre, NULL)
                           : fuzz_parameter(k, 'A', 2, left);
    factors[1] = fuzz_parameter(k, 'A', s->n > 2 ? 2 : 1, right);
}

static void draw_contraction(struct fuzz_kernel *k)
{
    const struct fuzz_array *factors[2];
    struct fuzz_scope s = draw_scope(k, 2, 3);
    bool is_result = draw_chance(k->random, 35);
    const char *r = s.names[s.n - 1];
    declare_factors(k, &s, factors);
    double most = factors[0]->most * factors[1]->most;
    double terms = longest(k, s.dims[s.n - 1]);
    bool is_exact = is_exact_sum(k, most, terms);
    struct fuzz_scope own = s;
    own.n--;
    struct fuzz_array *a = begin(k, is_result ? 'C' : 'S', &own);
    a->most = most * terms;
    buf_printf(&k->body, "%s(%s in ", is_exact ? "sum" : "max", r);
    fuzz_dim_print(k, s.dims[s.n - 1], &k->body);
    buf_text(&k->body, ") ");
    fuzz_element(k, factors[0], arena_printf(k->arena, "%s, %s", s.names[0], r),
                 &k->body);
    buf_text(&k->body, " * ");
    fuzz_element(k, factors[1],
                 s.n > 2 ? arena_printf(k->arena, "%s, %s", r, s.names[1]) : r,
                 &k->body);
    buf_text(&k->body, "\n");
    if (!is_result)
        draw_epilogue(k, a);
}

// Append an element of an array, with another name for the index `scanned` if
// there is one.
static void draw_operand(struct fuzz_kernel *k, const struct fuzz_scope *s,
                         const struct fuzz_array *of, uint32_t scanned)
{
    struct buf at = {0};
    for (uint32_t i = 0; i < s->n; i++)
        buf_printf(&at, "%s%s", i ? ", " : "",
                   i == scanned ? "u" : s->names[i]);
    fuzz_element(k, of, at.data, &k->body);
    buf_free(&at);
}

static void draw_scan(struct fuzz_kernel *k)
{
    struct fuzz_scope s = draw_scope(k, 1, 3);
    uint32_t scanned = (uint32_t)draw_below(k->random, s.n);
    const struct fuzz_array *of = fuzz_parameter(k, 'A', s.n, s.dims);
    bool is_result = draw_chance(k->random, 50);
    double terms = longest(k, s.dims[scanned]);
    bool is_sum =
        draw_chance(k->random, 50) && is_exact_sum(k, of->most, terms);
    struct fuzz_array *a = begin(k, is_result ? 'C' : 'S', &s);
    a->most = is_sum ? of->most * terms : of->most;
    buf_printf(
        &k->body, "scan(u %s %s) %s ",
        is_sum && draw_chance(k->random, 50) ? "<" : "<=", s.names[scanned],
        is_sum                       ? "sum"
        : draw_chance(k->random, 50) ? "max"
                                     : "min");
    draw_operand(k, &s, of, scanned);
    buf_text(&k->body, "\n");
    if (!is_result)
        draw_epilogue(k, a);
}

// What a compaction keeps, where, and along which dimension.
struct compaction {
    struct fuzz_scope s;
    const struct fuzz_array *of, *at;
    uint32_t along;
    bool is_inclusive;
};

// Append the result of a compaction, or with `last` what its scan ends with.
static void draw_kept(struct fuzz_kernel *k, const struct compaction *c,
                      bool last)
{
    bool is_result = draw_chance(k->random, 70);
    const struct fuzz_array *to =
        fuzz_parameter(k, is_result ? 'C' : 'X', c->s.n, c->s.dims);
    buf_printf(&k->body, "    %s[", to->name);
    for (uint32_t i = 0; i < c->s.n; i++) {
        buf_text(&k->body, i ? ", " : "");
        if (i != c->along || last)
            buf_text(&k->body, i != c->along ? c->s.names[i] : "0");
        else
            draw_operand(k, &c->s, c->at, FUZZ_RANK);
        if (i == c->along && !last && c->is_inclusive)
            buf_text(&k->body, " - 1");
    }
    buf_text(&k->body, "] = ");
    draw_operand(k, &c->s, last ? c->at : c->of, FUZZ_RANK);
    buf_text(&k->body, " if ");
    if (last) {
        buf_printf(&k->body, "%s == ", c->s.names[c->along]);
        fuzz_dim_print(k, c->s.dims[c->along], &k->body);
        buf_text(&k->body, " - 1");
    } else {
        draw_operand(k, &c->s, c->of, FUZZ_RANK);
        buf_text(&k->body, " > 0");
    }
    buf_text(&k->body, is_result ? " else -5\n" : "\n");
}

// Find the places of what is positive, and put it there.
static void draw_compaction(struct fuzz_kernel *k)
{
    struct compaction c = {.s = draw_scope(k, 1, 2),
                           .is_inclusive = draw_chance(k->random, 60)};
    c.along = (uint32_t)draw_below(k->random, c.s.n);
    k->type = type_scalar(TYPE_i32);
    k->is_mixed = false;
    c.of = fuzz_parameter(k, 'A', c.s.n, c.s.dims);
    struct fuzz_array *at = begin(k, 'S', &c.s);
    c.at = at;
    at->most = longest(k, c.s.dims[c.along]);
    buf_printf(&k->body, "scan(u %s %s) sum ", c.is_inclusive ? "<=" : "<",
               c.s.names[c.along]);
    draw_operand(k, &c.s, c.of, c.along);
    buf_text(&k->body, " > 0 ? i32(1) : i32(0)\n");
    draw_kept(k, &c, false);
    if (draw_chance(k->random, 60))
        draw_kept(k, &c, true);
    if (draw_chance(k->random, 30))
        draw_epilogue(k, at);
}

// Scatter a parameter over one dimension, or over that and a row of its own.
static void draw_scatter(struct fuzz_kernel *k)
{
    static const enum type_kind kinds[] = {TYPE_i32, TYPE_i32, TYPE_u32,
                                           TYPE_i64};
    static const char *const how[] = {"+=", "+=", "max=", "min=", "^="};
    struct fuzz_scope s = draw_scope(k, 1, 3);
    bool has_rows = s.n > 1 && draw_chance(k->random, 40);
    k->type = type_scalar(draw_one(k->random, kinds));
    k->is_mixed = false;
    const struct fuzz_array *of = fuzz_parameter(k, 'A', s.n, s.dims);
    const struct fuzz_array *at = fuzz_parameter(k, 'A', s.n, s.dims);
    const char *to = fuzz_name(k, 'C');
    buf_printf(&k->results, "%s%s: %s[", k->results.n ? ", " : "", to,
               type_name(k->type));
    buf_printf(&k->body, "    %s[", to);
    if (has_rows) {
        fuzz_dim_print(k, s.dims[0], &k->results);
        buf_text(&k->results, ", ");
        buf_printf(&k->body, "%s, ", s.names[0]);
    }
    buf_printf(&k->results, "%d]", SCATTERED);
    draw_operand(k, &s, at, FUZZ_RANK);
    buf_printf(&k->body, " & %d] %s ", SCATTERED - 1, draw_one(k->random, how));
    draw_operand(k, &s, of, FUZZ_RANK);
    buf_text(&k->body, "\n");
}

static void draw_inplace(struct fuzz_kernel *k)
{
    struct fuzz_scope s = draw_scope(k, 1, 3);
    const struct fuzz_array *x = fuzz_parameter(k, 'X', s.n, s.dims);
    struct buf at = {0};
    for (uint32_t i = 0; i < s.n; i++)
        buf_printf(&at, "%s%s", i ? ", " : "[", s.names[i]);
    buf_printf(&k->body, "    %s%s] = %s%s] * 3 + ", x->name, at.data, x->name,
               at.data);
    fuzz_expr(k, &s, NULL, 1, &k->body);
    buf_text(&k->body, "\n");
    if (draw_chance(k->random, 40)) {
        begin(k, 'C', &s);
        buf_printf(&k->body, "%s%s] - 1\n", x->name, at.data);
    }
    buf_free(&at);
}

void fuzz_part_draw(struct fuzz_kernel *k, enum fuzz_kind kind)
{
    switch (kind) {
    case KIND_pointwise: draw_pointwise(k); break;
    case KIND_chain: draw_chain(k); break;
    case KIND_stencil: draw_stencil(k); break;
    case KIND_reduction: draw_reduction(k); break;
    case KIND_contraction: draw_contraction(k); break;
    case KIND_weights: fuzz_weights_draw(k); break;
    case KIND_inplace: draw_inplace(k); break;
    case KIND_fragments: fuzz_fragments_draw(k); break;
    case KIND_bytes: fuzz_bytes_draw(k); break;
    case KIND_streamed: fuzz_streamed_draw(k); break;
    case KIND_handed: fuzz_handed_draw(k); break;
    case KIND_pingpong: fuzz_pingpong_draw(k); break;
    case KIND_grid: fuzz_grid_draw(k); break;
    case KIND_relay: fuzz_relay_draw(k); break;
    case KIND_cluster: fuzz_cluster_draw(k); break;
    case KIND_scan: draw_scan(k); break;
    case KIND_compaction: draw_compaction(k); break;
    case KIND_scatter: draw_scatter(k); break;
    case KIND_loops: fuzz_loops_draw(k); break;
    case KIND_COUNT: break;
    }
}
