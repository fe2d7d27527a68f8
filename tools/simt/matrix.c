// Matrix instructions: the lanes' registers become matrices by the layouts of
// ir/matrix.def, and back. Products are exact; each sum is rounded once.

#include "tools/simt/matrix.h"

#include <string.h>

enum { ROW_BYTES = 16, ROW_ELEMENTS = 8, REGISTER_BITS = 32 };

// ---- Registers and matrices -----------------------------------------------

// Return the bits that an element of a type takes in a register.
static uint32_t bits_of(struct type t)
{
    return 8 * (uint32_t)type_bytes(t);
}

double matrix_load(const struct matrix_part *part, const void *at)
{
    if (part->unused) {
        uint32_t bits;
        memcpy(&bits, at, sizeof bits);
        bits = bits >> part->unused << part->unused;
        return eval_load_float(part->type, &bits);
    }
    return type_is_float(part->type) ? eval_load_float(part->type, at)
                                     : (double)eval_load_int(part->type, at);
}

// Return where a thread has element `i` of those of `bits`, and by how many bits
// it is shifted: a register has 32 bits, or one element.
static uint64_t *place(struct machine *m, const struct fiber *first,
                       const struct ptx_argument *a, uint32_t thread,
                       uint32_t i, uint32_t bits, uint32_t *shift)
{
    uint32_t width = bits > REGISTER_BITS ? bits : REGISTER_BITS;
    *shift = i * bits % width;
    return &values_of(m, first + thread)[a->slot[i * bits / width]];
}

void matrix_gather(struct machine *m, const struct fiber *first,
                   const struct ptx_step *step, enum matrix_operand which,
                   const struct ptx_argument *a, double *out)
{
    struct matrix_info info = matrix_info(step->matrix);
    const struct matrix_part *part = &info.part[which];
    struct matrix_places at;
    uint32_t shift, bits = bits_of(part->type);
    matrix_places(step->matrix, which, &at);
    m->moved += (uint64_t)at.threads * at.elements;
    for (uint32_t t = 0; t < at.threads; t++)
        for (uint32_t e = 0; e < at.elements; e++) {
            uint64_t v = *place(m, first, a, t, e, bits, &shift);
            v >>= shift;
            out[at.of_thread[t] + at.of_element[e]] = matrix_load(part, &v);
        }
}

// Return the bits of an element.
static uint64_t bits_from(struct type t, double x)
{
    uint64_t bits = 0;
    if (type_is_float(t))
        eval_store_float(t, &bits, x);
    else
        bits = (uint64_t)(int64_t)x;
    return bits;
}

void matrix_scatter(struct machine *m, const struct fiber *first,
                    const struct ptx_step *step, const double *d)
{
    struct matrix_info info = matrix_info(step->matrix);
    struct type type = info.part[MATRIX_D].type;
    struct matrix_places at;
    uint32_t shift, bits = bits_of(type);
    matrix_places(step->matrix, MATRIX_D, &at);
    m->moved += (uint64_t)at.threads * at.elements;
    for (uint32_t t = 0; t < at.threads; t++)
        for (uint32_t e = 0; e < at.elements; e++) {
            uint64_t *to =
                place(m, first, &step->argument[0], t, e, bits, &shift);
            uint64_t mask = UINT64_MAX >> (64 - bits);
            uint64_t x = bits_from(type, d[at.of_thread[t] + at.of_element[e]]);
            *to = (*to & ~(mask << shift)) | (x & mask) << shift;
        }
}

void matrix_multiply(const struct matrix_info *info, const double *a,
                     const double *b, double *d)
{
    for (uint32_t i = 0; i < info->m; i++)
        for (uint32_t k = 0; k < info->k; k++) {
            double x = a[i * info->k + k];
            for (uint32_t j = 0; j < info->n; j++)
                d[i * info->n + j] += x * b[k * info->n + j];
        }
}

// ---- Of a warp ------------------------------------------------------------

// D = A * B + C, for the lanes from `first` on.
static void multiply(struct machine *m, const struct fiber *first,
                     const struct ptx_step *step)
{
    struct matrix_info info = matrix_info(step->matrix);
    double a[16 * 32], b[32 * 8], d[16 * 8];
    matrix_gather(m, first, step, MATRIX_A, &step->argument[1], a);
    matrix_gather(m, first, step, MATRIX_B, &step->argument[2], b);
    matrix_gather(m, first, step, MATRIX_D, &step->argument[3], d);
    matrix_multiply(&info, a, b, d);
    matrix_scatter(m, first, step, d);
}

// Return the bytes of the row that a lane has the address of.
static unsigned char *row_of(struct machine *m, const struct fiber *f)
{
    return (unsigned char *)&values_of(m, f)[OPERANDS_MOST - 2];
}

// Pass elements between rows and registers: each lane has the row whose number
// is its own.
static void pass_rows(struct machine *m, const struct fiber *first,
                      const struct ptx_step *step, bool is_load)
{
    const struct ptx_argument *a = &step->argument[is_load ? 0 : 1];
    struct matrix_places places;
    uint32_t shift;
    matrix_places(step->matrix, MATRIX_D, &places);
    for (uint32_t t = 0; t < WARP_LANES; t++)
        for (uint32_t e = 0; e < places.elements; e++) {
            uint64_t *at = place(m, first, a, t, e, 16, &shift);
            uint32_t n = places.of_thread[t] + places.of_element[e];
            uint16_t x = (uint16_t)(*at >> shift), *there;
            there = (uint16_t *)(void *)row_of(m, first + n / ROW_ELEMENTS) +
                    n % ROW_ELEMENTS;
            if (!is_load)
                *there = x;
            else
                *at = (*at & ~(UINT64_C(0xffff) << shift)) | (uint64_t)*there
                                                                 << shift;
        }
}

// Load or store the row of this lane, if it has one.
static void access_row(struct machine *m, const struct site *s,
                       const struct ptx_step *step, const uint64_t *v,
                       bool is_load)
{
    struct matrix_info info = matrix_info(step->matrix);
    struct fiber *f = m->current;
    const struct ptx_argument *a = &step->argument[is_load ? 1 : 0];
    if (f->tid % WARP_LANES >= info.m)
        return;
    unsigned char *p = shared_pointer(m, f, v[*a->slot]);
    p = access_now(m, p, ROW_BYTES, is_load ? ACCESS_READ : ACCESS_WRITE, s);
    if (p && is_load)
        memcpy(row_of(m, f), p, ROW_BYTES);
    else if (p)
        memcpy(p, row_of(m, f), ROW_BYTES);
}

void ptx_matrix(struct machine *m, const struct site *s,
                const struct ptx_step *step, uint64_t *v)
{
    enum matrix_kind kind = matrix_info(step->matrix).kind;
    const struct fiber *f = m->current, *first = f - f->tid % WARP_LANES;
    if (kind == MATRIX_WGMMA) {
        product_issue(m, s, step);
        return;
    }
    if (kind == MATRIX_LOAD)
        access_row(m, s, step, v, true);
    bool is_last =
        simt_collective(m, COLLECTIVE_together, UINT32_MAX, 0, 0, 0, s);
    if (is_last && kind == MATRIX_MMA)
        multiply(m, first, step);
    else if (is_last)
        pass_rows(m, first, step, kind == MATRIX_LOAD);
    if (kind == MATRIX_STORE)
        access_row(m, s, step, v, false);
}
