// Random expressions.

#include "tests/fuzz/schedule/kernel.h"
#include "tests/support/draw.h"

double fuzz_exact(struct type t)
{
    switch (t.kind) {
    case TYPE_bf16: return 256;
    case TYPE_f16: return 2048;
    case TYPE_f32: return 16777216;
    case TYPE_f64: return 9007199254740992;
    default: return 0;
    }
}

// Return an index of the scope over that axis, or s->n if there is none.
static uint32_t find_index(struct fuzz_kernel *k, const struct fuzz_scope *s,
                           uint32_t axis)
{
    uint32_t start = (uint32_t)draw_below(k->random, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t at = (start + i) % s->n;
        if (s->dims[at].axis == axis)
            return at;
    }
    return s->n;
}

// Append one index of an access, and to `guard` what it must fulfil.
static void print_index(struct fuzz_kernel *k, const struct fuzz_scope *s,
                        struct fuzz_dim d, struct buf *out, struct buf *guard)
{
    uint32_t at = find_index(k, s, d.axis);
    const char *name = s->names[at];
    uint32_t more = s->dims[at].extra;
    uint32_t room = d.extra > more ? d.extra - more : 0;
    uint64_t form = draw_below(k->random, 12);
    if (more > d.extra || form == 0) {
        unsigned shift = more > d.extra ? (more - d.extra + 1) / 2 : 1;
        buf_printf(guard, "%s%u <= %s && %s < ", guard->n ? " && " : "", shift,
                   name, name);
        fuzz_dim_print(k, d, guard);
        buf_printf(guard, " + %u", shift);
        buf_printf(out, "%s - %u", name, shift);
    } else if (form == 1 && more == d.extra) {
        fuzz_dim_print(k, d, out);
        buf_printf(out, " - 1 - %s", name);
    } else if (form == 2) {
        buf_printf(out, "%s / 2", name);
    } else {
        uint64_t shift = draw_below(k->random, room + 1);
        buf_text(out, name);
        if (shift)
            buf_printf(out, " + %u", (unsigned)shift);
    }
}

void fuzz_access(struct fuzz_kernel *k, const struct fuzz_scope *s,
                 const struct fuzz_array *a, struct buf *out)
{
    struct buf guard = {0}, index = {0};
    for (uint32_t i = 0; i < a->rank; i++) {
        buf_text(&index, i ? ", " : "");
        print_index(k, s, a->dims[i], &index, &guard);
    }
    if (guard.n)
        buf_printf(out, "(%s ? ", guard.data);
    fuzz_element(k, a, index.n ? index.data : "", out);
    if (guard.n)
        buf_printf(out, " : %u)", (unsigned)draw_below(k->random, 3));
    buf_free(&guard);
    buf_free(&index);
}

// Return whether each dimension of an array has an index in the scope.
static bool fits(struct fuzz_kernel *k, const struct fuzz_scope *s,
                 const struct fuzz_array *a)
{
    bool all = s->n > 0 || a->rank == 0;
    for (uint32_t i = 0; i < a->rank && all; i++)
        all = find_index(k, s, a->dims[i].axis) < s->n;
    return all;
}

// Return an array of the part that can be read in the scope, or declare one.
static const struct fuzz_array *draw_array(struct fuzz_kernel *k,
                                           const struct fuzz_scope *s)
{
    struct fuzz_dim dims[FUZZ_RANK];
    uint32_t rank = 0;
    for (uint32_t i = k->first; i < k->n_arrays; i++) {
        const struct fuzz_array *a = &k->arrays[i];
        if (a->name[0] != 'C' && a->name[0] != 'X' &&
            draw_chance(k->random, 40) && fits(k, s, a))
            return a;
    }
    if (k->n_arrays == FUZZ_ARRAYS - 4)
        return NULL;
    for (uint32_t i = 0; i < s->n && rank < FUZZ_RANK; i++) {
        if (draw_chance(k->random, 12) && s->n > 1)
            continue;
        dims[rank] = s->dims[i];
        dims[rank++].extra += draw_chance(k->random, 15) ? 1 : 0;
    }
    if (rank > 1 && draw_chance(k->random, 25)) {
        struct fuzz_dim d = dims[0];
        dims[0] = dims[rank - 1];
        dims[rank - 1] = d;
    }
    return fuzz_parameter(k, 'A', rank, dims);
}

// Append a number, an index or an element.
static double draw_leaf(struct fuzz_kernel *k, const struct fuzz_scope *s,
                        const struct fuzz_array *must, struct buf *out)
{
    uint64_t form = draw_below(k->random, 10);
    const struct fuzz_array *a = must       ? must
                                 : form > 2 ? draw_array(k, s)
                                            : NULL;
    if (a) {
        fuzz_access(k, s, a, out);
        return a->most;
    }
    if (form == 1 && k->is_mixed) {
        buf_printf(out, "%s(%s)", type_name(k->type), fuzz_number(k));
        return 3;
    }
    if (form > 0 || s->n == 0) {
        unsigned value = (unsigned)draw_below(k->random, 5) + 1;
        buf_printf(out, "%s(%u)", type_name(k->type), value);
        return value;
    }
    uint32_t at = (uint32_t)draw_below(k->random, s->n);
    buf_printf(out, "%s(%s)", type_name(k->type), s->names[at]);
    return 300;
}

// Append an operation that both integers and floating numbers have.
static double draw_common(struct fuzz_kernel *k, const struct fuzz_scope *s,
                          const struct fuzz_array *must, unsigned depth,
                          struct buf *out)
{
    static const char *const calls[] = {"max", "min"};
    uint64_t form = draw_below(k->random, 6);
    double x, y;
    if (form < 2)
        buf_printf(out, "%s(", calls[form]);
    else
        buf_text(out, "(");
    x = fuzz_expr(k, s, must, depth - 1, out);
    buf_text(out, form < 2 ? ", " : form == 2 ? " - " : " + ");
    y = fuzz_expr(k, s, NULL, depth - 1, out);
    buf_text(out, ")");
    return form < 2 ? (x > y ? x : y) : x + y;
}

// Append an operation on integers alone.
static double draw_integer(struct fuzz_kernel *k, const struct fuzz_scope *s,
                           const struct fuzz_array *must, unsigned depth,
                           struct buf *out)
{
    static const char *const forms[] = {" ^ 5)", " & 7)", " >> 1)",
                                        " / 3)", " % 5)", " | 2)"};
    buf_text(out, "(");
    double most = fuzz_expr(k, s, must, depth - 1, out);
    buf_text(out, draw_one(k->random, forms));
    return most + 8;
}

// Append a choice by the position or by an element.
static double draw_select(struct fuzz_kernel *k, const struct fuzz_scope *s,
                          const struct fuzz_array *must, unsigned depth,
                          struct buf *out)
{
    uint32_t at = (uint32_t)draw_below(k->random, s->n);
    unsigned by = (unsigned)draw_below(k->random, 3) + 2;
    if (draw_chance(k->random, 50))
        buf_printf(out, "(%s %% %u == 0 ? ", s->names[at], by);
    else
        buf_printf(out, "(%s < %u ? ", s->names[at], by);
    double x = fuzz_expr(k, s, must, depth - 1, out);
    buf_text(out, " : ");
    double y = fuzz_expr(k, s, NULL, depth - 1, out);
    buf_text(out, ")");
    return x > y ? x : y;
}

// Append a multiple where it is exact: with a sum it is rounded once or twice.
static double draw_multiple(struct fuzz_kernel *k, const struct fuzz_scope *s,
                            const struct fuzz_array *must, unsigned depth,
                            struct buf *out)
{
    struct buf value = {0};
    unsigned by = (unsigned)draw_below(k->random, 3) + 2;
    double most = fuzz_expr(k, s, must, depth - 1, &value);
    bool is_exact =
        type_is_integer(k->type) || most * by <= fuzz_exact(k->type);
    if (is_exact)
        buf_printf(out, "(%s * %u)", value.data, by);
    else
        buf_text(out, value.data);
    buf_free(&value);
    return is_exact ? most * by : most;
}

double fuzz_expr(struct fuzz_kernel *k, const struct fuzz_scope *s,
                 const struct fuzz_array *must, unsigned depth, struct buf *out)
{
    uint64_t form = draw_below(k->random, 10);
    bool is_integer = type_is_integer(k->type);
    if (depth == 0)
        return draw_leaf(k, s, must, out);
    if (form < 2)
        return draw_multiple(k, s, must, depth, out);
    if (form < 3 && s->n)
        return draw_select(k, s, must, depth, out);
    if (form < 5 && is_integer)
        return draw_integer(k, s, must, depth, out);
    return draw_common(k, s, must, depth, out);
}
