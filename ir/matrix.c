// The table of instructions on matrices, and the digits of its layouts.

#include "ir/matrix.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { N_MOST = 256, CORE = 8, LANES = 32 };

// The types of PTX, those that hold them here, and the low bits that no
// instruction looks at.
#define PRECISIONS(P)                                                          \
    P(f16, f16, 0)                                                             \
    P(bf16, bf16, 0)                                                           \
    P(tf32, f32, 13)                                                           \
    P(f32, f32, 0)                                                             \
    P(f64, f64, 0)                                                             \
    P(e4m3, f8e4m3, 0)                                                         \
    P(e5m2, f8e5m2, 0)                                                         \
    P(s8, i8, 0)                                                               \
    P(u8, u8, 0)                                                               \
    P(s32, i32, 0)                                                             \
    P(b16, u16, 0)

enum precision {
#define P(name, type, unused) PRECISION_##name,
    PRECISIONS(P)
#undef P
};

static const struct {
    const char *name;
    enum type_kind kind;
    uint32_t unused;
} precisions[] = {
#define P(name, type, unused) {#name, TYPE_##type, unused},
    PRECISIONS(P)
#undef P
};

// A row of matrix.def.
struct row {
    const char *name;
    enum matrix_kind kind;
    uint32_t threads, m, n, k;
    enum precision inputs, result;
    const char *layout[MATRIX_OPERANDS];
    const char *set;
    uint32_t version;
    const char *ptx;
};

static const struct row rows[] = {
#define MATRIX(name, kind, threads, m, n, k, inputs, result, A, B, D, set,     \
               version, ptx)                                                   \
    {#name,                                                                    \
     MATRIX_##kind,                                                            \
     threads,                                                                  \
     m,                                                                        \
     n,                                                                        \
     k,                                                                        \
     PRECISION_##inputs,                                                       \
     PRECISION_##result,                                                       \
     {D, A, B},                                                                \
     set,                                                                      \
     version,                                                                  \
     ptx},
#include "ir/matrix.def"
#undef MATRIX
};

enum { ROWS = sizeof rows / sizeof *rows };

// Return an operand of a size.
static struct matrix_part part(enum precision precision, const char *layout,
                               uint32_t n_rows, uint32_t columns)
{
    return (struct matrix_part){n_rows,
                                columns,
                                type_scalar(precisions[precision].kind),
                                precisions[precision].name,
                                layout,
                                precisions[precision].unused};
}

struct matrix_info matrix_info(struct ir_matrix m)
{
    const struct row *r = &rows[m.row];
    struct matrix_info info = {.name = r->name,
                               .ptx = r->ptx,
                               .kind = r->kind,
                               .threads = r->threads,
                               .m = r->m,
                               .n = m.n,
                               .k = r->k,
                               .set = r->set,
                               .version = r->version,
                               .is_transposed = strstr(r->name, "_trans")};
    info.part[MATRIX_D] = part(r->result, r->layout[MATRIX_D], r->m, m.n);
    info.part[MATRIX_A] = part(r->inputs, r->layout[MATRIX_A], r->m, r->k);
    info.part[MATRIX_B] = part(r->inputs, r->layout[MATRIX_B], r->k, m.n);
    return info;
}

// Compare a text with a pattern in which `*` stands for a number.  Return
// whether they agree, and the number, 0 without one.
static bool fits(const char *pattern, const char *text, uint32_t *number)
{
    *number = 0;
    const char *star = strchr(pattern, '*');
    if (!star)
        return strcmp(pattern, text) == 0;
    size_t head = (size_t)(star - pattern);
    if (strncmp(pattern, text, head) != 0 || text[head] < '1' ||
        text[head] > '9')
        return false;
    char *rest;
    unsigned long value = strtoul(text + head, &rest, 10);
    *number = value <= N_MOST ? (uint32_t)value : 0;
    return *number && strcmp(rest, star + 1) == 0;
}

// Take row `i` if the text is its pattern, with a number that it allows.
static bool take(size_t i, const char *pattern, const char *text,
                 struct ir_matrix *out)
{
    uint32_t n;
    if (!fits(pattern, text, &n) || n % rows[i].n)
        return false;
    *out = (struct ir_matrix){(uint16_t)i, (uint16_t)(n ? n : rows[i].n)};
    return true;
}

bool matrix_find(const char *name, struct ir_matrix *out)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (take(i, rows[i].name, name, out))
            return true;
    }
    return false;
}

// Return whether a row is of a kind and a precision, as matrix_of_kind says.
static bool is_of_kind(const struct row *r, const char *kind,
                       const char *precision)
{
    const char *name = r->kind == MATRIX_MMA     ? "mma"
                       : r->kind == MATRIX_WGMMA ? "wgmma"
                                                 : "";
    bool fits = precision ? strcmp(precisions[r->inputs].name, precision) == 0
                          : !precisions[r->inputs].unused;
    return strcmp(name, kind) == 0 && fits;
}

bool matrix_of_kind(const char *kind, const char *precision, uint32_t n,
                    size_t i, struct ir_matrix *out)
{
    for (size_t row = 0; row < ROWS; row++) {
        const struct row *r = &rows[row];
        bool is_open = strchr(r->name, '*');
        if (!is_of_kind(r, kind, precision) ||
            (is_open && (!n || n > N_MOST || n % r->n)) || i--)
            continue;
        *out =
            (struct ir_matrix){(uint16_t)row, (uint16_t)(is_open ? n : r->n)};
        return true;
    }
    return false;
}

bool matrix_find_ptx(const char *ptx, bool a_in_registers,
                     struct ir_matrix *out)
{
    for (size_t i = 0; i < ROWS; i++) {
        bool is_shared = strcmp(rows[i].layout[MATRIX_A], "shared") == 0;
        if (is_shared != a_in_registers && take(i, rows[i].ptx, ptx, out))
            return true;
    }
    return false;
}

// Append a pattern with the number in place of `*`.
static void fill(struct buf *out, const char *pattern, uint32_t number)
{
    const char *star = strchr(pattern, '*');
    if (star)
        buf_printf(out, "%.*s%u%s", (int)(star - pattern), pattern, number,
                   star + 1);
    else
        buf_text(out, pattern);
}

void matrix_name(struct buf *out, struct ir_matrix m)
{
    fill(out, rows[m.row].name, m.n);
}

void matrix_ptx(struct buf *out, struct ir_matrix m)
{
    fill(out, rows[m.row].ptx, m.n);
}

// A digit as it is written: its holder, its number and its extent.
struct written {
    char by;
    uint32_t rank, extent, side;
};

// Read the digits of a layout that have more than one value; return how many
// there are.
static size_t read_digits(const char *text, uint32_t n, struct written *out)
{
    size_t count = 0;
    uint32_t side = 0;
    for (const char *p = text; *p; p++) {
        side += *p == ',';
        if (!islower((unsigned char)*p))
            continue;
        struct written w = {*p, (uint32_t)(p[1] - '0'), n / CORE, side};
        p += 3;
        if (*p != '*')
            w.extent = (uint32_t)strtoul(p, NULL, 10);
        if (w.extent > 1)
            out[count++] = w;
    }
    return count;
}

// Return what one count of a digit is worth to its holder: the product of the
// extents of the digits that vary faster.
static uint32_t step_of(const struct written *all, size_t n,
                        const struct written *w)
{
    uint32_t step = 1;
    for (size_t i = 0; i < n; i++) {
        if (all[i].by == w->by && all[i].rank < w->rank)
            step *= all[i].extent;
    }
    return step;
}

bool matrix_layout(struct ir_matrix m, enum matrix_operand which,
                   struct matrix_layout *out)
{
    struct written all[2 * MATRIX_DIGITS_MOST];
    const char *text = rows[m.row].layout[which];
    *out = (struct matrix_layout){.elements = 1};
    if (!strchr(text, ':'))
        return false;
    size_t n = read_digits(text, m.n, all);
    for (size_t i = 0; i < n; i++) {
        const struct written *w = &all[i];
        struct matrix_digit d = {w->by == 'e'   ? MATRIX_BY_ELEMENT
                                 : w->by == 'l' ? MATRIX_BY_LANE
                                                : MATRIX_BY_WARP,
                                 w->extent, 1, step_of(all, n, w)};
        for (size_t k = i + 1; k < n && all[k].side == w->side; k++)
            d.weight *= all[k].extent;
        out->elements *= w->by == 'e' ? w->extent : 1;
        out->digit[w->side][out->n[w->side]++] = d;
    }
    return true;
}

void matrix_position(const struct matrix_layout *layout, uint32_t thread,
                     uint32_t element, uint32_t *row, uint32_t *column)
{
    uint32_t at[2] = {0, 0};
    const uint32_t of[] = {[MATRIX_BY_ELEMENT] = element,
                           [MATRIX_BY_LANE] = thread % LANES,
                           [MATRIX_BY_WARP] = thread / LANES};
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < layout->n[side]; i++) {
            const struct matrix_digit *d = &layout->digit[side][i];
            at[side] += of[d->by] / d->step % d->extent * d->weight;
        }
    }
    *row = at[0];
    *column = at[1];
}

bool matrix_places(struct ir_matrix m, enum matrix_operand which,
                   struct matrix_places *out)
{
    struct matrix_info info = matrix_info(m);
    struct matrix_layout layout;
    uint32_t row, column, columns = info.part[which].columns;
    if (!matrix_layout(m, which, &layout))
        return false;
    out->threads = info.threads;
    out->elements = layout.elements;
    for (uint32_t t = 0; t < out->threads; t++) {
        matrix_position(&layout, t, 0, &row, &column);
        out->of_thread[t] = row * columns + column;
    }
    for (uint32_t e = 0; e < out->elements; e++) {
        matrix_position(&layout, 0, e, &row, &column);
        out->of_element[e] = row * columns + column;
    }
    return true;
}
