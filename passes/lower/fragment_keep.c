// Loops over columns that stay around the elements of a thread.
//
//   for c in 0..4 {                               for c in 0..4 {
//     for i in 0..64 { for j in 0..64 {             for e in 0..8 { ...
//       S[i, j] = D[i, c * 64 + j]          =>        S[.., ..] = D[c * 32 + e * 4 ..]
//     } }                                           }
//     use S                                         use S
//   }                                             }
//
// A WGMMA tile has up to 256 columns, and each thread has some in every 8. So a
// loop over groups of columns need not be spread over the threads, and other
// statements may stand in it.

#include "passes/lower/fragments.h"

// Return the innermost of the loops that other statements stand in, or that
// are around such ones, counted from 1; 0: none.
static uint32_t count_shared(const struct spread *x)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->loops[i].loop->u.loop.body.n != 1)
            n = i + 1;
    return n;
}

// Return the digit of the elements whose upper part a loop counts, or NULL.
static struct matrix_digit *digit_of(struct spread *x,
                                     const struct spread_loop *l)
{
    for (uint32_t i = 0; l->side >= 0 && i < x->layout.n[l->side]; i++) {
        struct matrix_digit *d = &x->layout.digit[l->side][i];
        if (d->by == MATRIX_BY_ELEMENT && l->factor % d->weight == 0 &&
            l->factor * l->inside == (int64_t)d->weight * d->extent)
            return d;
    }
    return NULL;
}

void spread_keep(struct spread *x)
{
    uint32_t n = count_shared(x);
    x->layout = x->like->layout;
    for (uint32_t i = 0; i < n; i++) {
        struct spread_loop *l = &x->loops[i];
        if (!l->inside)
            continue;
        struct matrix_digit *d = l->inside == l->extent ? digit_of(x, l) : NULL;
        if (!d)
            return;
        l->element = l->factor / d->weight * d->step;
        d->extent = (uint32_t)(l->factor / d->weight);
    }
}
