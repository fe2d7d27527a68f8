// Finds elements of one fragment in another one, whose tiles are parts of those of the
// first:
//
//   D: a tile of 16 x 8 of an accumulator        A: one of 16 x 16 of an operand
//   lane l has rows l / 4 and l / 4 + 8,         it has the same rows, columns
//   columns l % 4 * 2 and the next one           l % 4 * 2, the next, and both + 8
//
// so the thread that computes elements of A from those of D has them: of the tile whose
// number is the digit of A that D lacks. Where threads count the same digits of a row or
// a column, what is left are numbers of elements and of tiles.

#include "passes/lower/fragments.h"

#include "ir/build.h"

// Return how many columns, or rows, a digit counts.
static uint32_t reach(const struct matrix_digit *d)
{
    return d->weight * d->extent;
}

// Find the digit of the stage's layout that counts what a digit of a fragment does; false
// if none does.
static bool find_digit(const struct spread *x, int side,
                       const struct matrix_digit *d, uint32_t *out)
{
    for (uint32_t i = 0; i < x->like->layout.n[side]; i++) {
        const struct matrix_digit *own = &x->like->layout.digit[side][i];
        *out = i;
        if (own->by == d->by && own->weight <= d->weight &&
            d->weight % own->weight == 0 && reach(own) >= reach(d) &&
            (d->by == MATRIX_BY_ELEMENT ||
             (own->step == d->step && own->weight == d->weight &&
              own->extent == d->extent)))
            return true;
    }
    return false;
}

// Return whether a side of a fragment's tile is a part of that of the stage's: each digit
// of it is one of the stage's, or a part of that, and they are all that count what is
// inside of the tile.
static bool is_side_within(const struct spread *x, const struct fragment *f,
                           int side)
{
    uint32_t at, inside = 1;
    bool found = x->like->tile[side] % f->tile[side] == 0;
    for (uint32_t i = 0; found && i < f->layout.n[side]; i++) {
        inside *= f->layout.digit[side][i].extent;
        found = find_digit(x, side, &f->layout.digit[side][i], &at);
    }
    for (uint32_t i = 0; found && i < x->like->layout.n[side]; i++) {
        const struct matrix_digit *own = &x->like->layout.digit[side][i];
        found = own->by == MATRIX_BY_ELEMENT || reach(own) <= f->tile[side];
    }
    return found && inside == f->tile[side];
}

bool spread_is_within(const struct spread *x, const struct fragment *f)
{
    bool found = true;
    for (uint32_t i = 0; i < x->n; i++)
        found &= !x->loops[i].element;
    for (int side = 0; side < 2; side++)
        if (f->dim[side] != FRAGMENT_NONE)
            found = found && x->like->dim[side] != FRAGMENT_NONE &&
                    is_side_within(x, f, side);
    return found;
}

struct ir_expr *spread_tile_within(struct spread *x, const struct fragment *f,
                                   int side)
{
    struct arena *a = x->f->p->arena;
    struct ir_expr *sum = ir_int(a, 0);
    for (uint32_t i = 0; i < x->layout.n[side]; i++) {
        const struct matrix_digit *own = &x->layout.digit[side][i];
        if (reach(own) <= f->tile[side])
            continue;
        struct ir_expr *value = spread_digit(x, side, i);
        if (own->weight >= f->tile[side])
            value = ir_mul(a, value, ir_int(a, own->weight / f->tile[side]));
        else
            value = ir_binary(a, OP_div, value,
                              ir_int(a, f->tile[side] / own->weight));
        sum = ir_add(a, sum, value);
    }
    return sum;
}

struct ir_expr *spread_element_within(struct spread *x,
                                      const struct fragment *f)
{
    struct arena *a = x->f->p->arena;
    struct ir_expr *sum = ir_int(a, 0);
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < f->layout.n[side]; i++) {
            const struct matrix_digit *d = &f->layout.digit[side][i];
            uint32_t at;
            if (d->by != MATRIX_BY_ELEMENT || !find_digit(x, side, d, &at))
                continue;
            const struct matrix_digit *own = &x->layout.digit[side][at];
            struct ir_expr *value = spread_digit(x, side, at);
            if (d->weight > own->weight)
                value = ir_binary(a, OP_div, value,
                                  ir_int(a, d->weight / own->weight));
            if (reach(own) > reach(d))
                value = ir_binary(a, OP_mod, value, ir_int(a, d->extent));
            sum = ir_add(a, sum, ir_mul(a, value, ir_int(a, d->step)));
        }
    }
    return sum;
}
