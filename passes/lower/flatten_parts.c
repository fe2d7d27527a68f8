// The offset of an element as the sum of two: what a loop does not change of its
// indices, and what it does.
//
//   let n, h, w = .. row ..             let n, h, w = .. row ..
//   for k {                             for k {
//     let r, s, c = .. k ..       =>      let r, s, c = .. k ..
//     .. X[n, h + r, w + s, c]            .. X[((n * H + h) * W + w) * C +
//   }                                          ((r * W) + s) * C + c]
//
// LLVM keeps the first one in a register, and computes the second one once for
// all rows of an iteration. Only where an index in front of the last one adds
// names of both kinds: of other sums LLVM finds by itself what loops change.

#include "passes/lower/flatten.h"

#include "ir/build.h"
#include "ir/walk.h"

// The parts of an index: which a loop does not change, and which it does.
struct parts {
    struct affine kept, moved;
    bool has_kept, has_moved; // names of the kind
};

// Whether a product has names that are declared in the innermost loop around, or
// others.
struct names {
    bool inside, outside;
};

// Return which names a product has.
static struct names names_of(const struct flatten *f,
                             const struct affine_term *term)
{
    struct names found = {false, false};
    for (uint32_t i = 0; i < term->n; i++)
        ir_foreach_expr(x, term->atoms[i]) {
            bool is_name = x->op == OP_var && x->u.var->kind == VAR_let;
            bool inside =
                is_name && map_get(&f->lets, x->u.var) == (void *)f->loop;
            found.inside |= inside;
            found.outside |= is_name && !inside;
        }
    return found;
}

// Return whether the innermost loop around changes a product, by its variable or
// by names inside.
static bool is_moved(const struct flatten *f, const struct affine_term *term)
{
    for (uint32_t i = 0; i < term->n; i++) {
        if (!ir_is_stable(term->atoms[i]))
            return true;
        ir_foreach_expr(x, term->atoms[i])
            if (x->op == OP_var && x->u.var == f->loop->u.loop.var)
                return true;
    }
    return names_of(f, term).inside;
}

// Take an index apart; the number in it goes with what moves.
static struct parts parts_of(struct flatten *f, struct ir_expr *index)
{
    struct arena *a = f->facts.arena;
    struct affine form = affine_of(a, index);
    struct parts p = {affine_number(0), affine_number(form.constant), false,
                      false};
    p.moved.failed = form.failed;
    vec_foreach(term, &form.terms) {
        struct affine one = affine_number(0);
        vec_push(a, &one.terms, *term);
        struct affine *part = is_moved(f, term) ? &p.moved : &p.kept;
        *part = affine_add(a, part, 1, &one);
        p.has_kept |= part == &p.kept && names_of(f, term).outside;
        p.has_moved |= part == &p.moved && names_of(f, term).inside;
    }
    return p;
}

// Return whether an index in front of the last one adds names of both kinds.
static bool is_mixed(struct flatten *f, const struct ir_buffer *b,
                     struct ir_expr *const *index)
{
    bool mixed = false, known = f->loop && !b->strides;
    for (uint32_t i = 0; i < b->rank && known; i++) {
        struct parts p = parts_of(f, index[i]);
        known = !p.moved.failed;
        mixed |= i + 1 < b->rank && p.has_kept && p.has_moved;
    }
    return known && mixed;
}

// Return a value in the width of offsets: of the array if it is narrow, where
// parts may leave 32 bits and their sum does not, else of 64 bits.
static struct ir_expr *in_width(struct flatten *f, struct ir_expr *x,
                                enum type_kind width)
{
    struct ir_expr *flat = flatten_expr(f, x);
    return width == TYPE_u32 ? ir_cast(f->arena, type_scalar(TYPE_u32), flat)
                             : flatten_in_width(f, flat, width);
}

// Return the offset of the parts of an index that move, or of those that do not.
static struct ir_expr *offset_of(struct flatten *f, const struct ir_buffer *b,
                                 struct ir_expr *const *index, bool moved,
                                 enum type_kind width)
{
    struct arena *a = f->arena;
    struct ir_expr *sum = NULL;
    for (uint32_t i = 0; i < b->rank; i++) {
        struct parts p = parts_of(f, index[i]);
        struct ir_expr *x =
            affine_expr(a, moved ? &p.moved : &p.kept, type_scalar(TYPE_int));
        struct ir_expr *term = in_width(f, x, width);
        if (sum)
            sum = ir_mul(a, sum, in_width(f, b->shape[i], width));
        sum = sum ? ir_add(a, sum, term) : term;
    }
    return sum;
}

struct ir_expr *flatten_parts(struct flatten *f, const struct ir_buffer *b,
                              struct ir_expr *const *index, bool is_small)
{
    if (!is_mixed(f, b, index))
        return NULL;
    enum type_kind width = is_small ? TYPE_u32 : TYPE_idx64;
    struct ir_expr *kept = offset_of(f, b, index, false, width);
    struct ir_expr *moved = offset_of(f, b, index, true, width);
    struct ir_expr *sum = ir_add(f->arena, kept, moved);
    return is_small ? flatten_in_width(f, sum, TYPE_idx32) : sum;
}
