// reciprocals: replaces divisions by sizes that are repeated with products.
//
//   for k in 0..n {            let divisor = max(u32(c), 1)
//     let q = (k + t) / c      let reciprocal = 4294967295 / divisor
//     let r = (k + t) % c  =>  for k in 0..n {
//   }                            let about = mulhi(u32(k + t), reciprocal)
//                                let over = u32(k + t) - about * divisor
//                                let q = idx32(over < divisor ? about : about + 1)
//                                let r = idx32(min(over, over - divisor))
//                              }
//
// With B bits, for a number n from 0 to 2^(B-1) - 1 and a divisor d from 1 to
// 2^(B-1), this is exact.  Let r = floor((2^B - 1) / d).  Then 2^B - r d is from 1
// to d, so that
//
//   n / d - n r / 2^B = n (2^B - r d) / (2^B d)   is from 0 to n / 2^B < 1
//
// and about = floor(n r / 2^B) is floor(n / d) or one less.  So over is from 0 to
// 2 d - 1, below 2^B: the rest, or d more.  Less d, it wraps to 2^(B-1) or more
// where it is the rest, so that the rest is the lesser of the two.
//
// B is 32 if n is proved to be below 2^31, of whatever type it is: a divisor
// beyond 2^31 is as good as 2^31, the quotient is 0 and the rest n.  Else it is 64.
//
// Only the names that `quotients` has left in loops, or several divisions by the
// same size.

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"
#include "passes/pass.h"

// A size that numbers are divided by, in one width.
struct divisor {
    struct ir_expr *size;
    enum type_kind width;  // u32 or u64
    struct ir_expr *first; // number that it divides
    bool pays;
    struct ir_var *divisor, *reciprocal;
};

// A `let` that names a quotient or a rest.
struct division {
    struct ir_stmt *let;
    struct ir_expr *x; // n / d or n % d
    uint32_t by;       // which divisor
};

// A number, a divisor, and about and over of them.
struct estimate {
    const struct ir_expr *number;
    uint32_t by;
    struct ir_var *about, *over;
};

// The state of the walk.
struct reciprocals {
    struct pass *p;
    struct facts facts;
    struct VEC(struct divisor) divisors;   // of the launch
    struct VEC(struct division) divisions; // of the launch, in order
    struct VEC(struct estimate) known;     // at the place of the walk
    bool changed;
};

// Return the division that a `let` names; NULL if it names no quotient or rest by
// an open size.
static struct ir_expr *division_of(const struct ir_stmt *s)
{
    struct ir_expr *x = s->kind == STMT_let ? s->u.let.value : NULL;
    if (x && x->op == OP_cast && type_is_index(x->type))
        x = x->args[0];
    bool divides = x && (x->op == OP_div || x->op == OP_mod) &&
                   type_is_index(x->type) && x->type.lanes == 1;
    return divides && !ir_is_const(x->args[1]) && ir_is_of_params(x->args[1])
               ? x
               : NULL;
}

// ---- Which divisions ------------------------------------------------------

// Return the width in which a number can be divided; bool if it may be negative.
static enum type_kind width_of(struct reciprocals *r, struct ir_expr *number)
{
    struct affine form = affine_of(r->facts.arena, number);
    struct interval range = facts_range(&r->facts, number);
    if (range.lo < 0 && !facts_nonnegative(&r->facts, &form))
        return TYPE_bool;
    bool is_narrow = type_bits(number->type) == 32 || range.hi <= INT32_MAX;
    return is_narrow ? TYPE_u32 : TYPE_u64;
}

// Return the number of a divisor of the launch.
static uint32_t divisor_of(struct reciprocals *r, const struct ir_expr *x,
                           enum type_kind width)
{
    for (uint32_t i = 0; i < r->divisors.n; i++)
        if (r->divisors.at[i].width == width &&
            ir_expr_equal(r->divisors.at[i].size, x->args[1]))
            return i;
    vec_push(r->p->scratch, &r->divisors,
             ((struct divisor){
                 .size = x->args[1], .width = width, .first = x->args[0]}));
    return (uint32_t)r->divisors.n - 1;
}

// Note the division that a statement names.
static void note_division(struct reciprocals *r, struct ir_stmt *s,
                          bool in_loop)
{
    struct ir_expr *x = division_of(s);
    enum type_kind width = x ? width_of(r, x->args[0]) : TYPE_bool;
    if (width == TYPE_bool)
        return;
    struct division found = {s, x, divisor_of(r, x, width)};
    struct divisor *d = &r->divisors.at[found.by];
    d->pays |= in_loop || !ir_expr_equal(d->first, x->args[0]);
    vec_push(r->p->scratch, &r->divisions, found);
}

// Note the divisions that a block names.
static void find_divisions(struct reciprocals *r, struct ir_block *block,
                           bool in_loop)
{
    vec_foreach_value(s, block) {
        note_division(r, s, in_loop);
        facts_foreach_inside(inner, &r->facts, s)
            find_divisions(r, inner, in_loop || s->kind == STMT_for);
    }
}

// Return the division of a statement that pays; NULL if it is none.
static struct division *paying(struct reciprocals *r, const struct ir_stmt *s)
{
    vec_foreach(d, &r->divisions)
        if (d->let == s && r->divisors.at[d->by].pays)
            return d;
    return NULL;
}

// ---- What takes their place -----------------------------------------------

// Put `let name = value` before statement *at of a block, which moves on.
static struct ir_var *declare(struct reciprocals *r, struct ir_block *block,
                              size_t *at, const char *name,
                              struct ir_expr *value)
{
    struct arena *a = r->p->arena;
    struct ir_stmt *s = block->at[*at];
    struct ir_var *var = ir_var_new(a, str_name(r->p->names, name), value->type,
                                    VAR_let, s->span);
    ir_insert(a, block, (*at)++, ir_stmt_from(ir_stmt_let(a, var, value), s));
    return var;
}

// Return how many divisions by divisor `by` there are in a block and below, and set
// the first statement in it that has any.
static size_t divisions_in(struct reciprocals *r, struct ir_block *block,
                           uint32_t by, size_t *first)
{
    size_t n = 0;
    for (size_t i = block->n; i-- > 0;) {
        size_t before = n;
        ir_foreach_stmt_from(s, block->at[i]) {
            const struct division *d = paying(r, s);
            n += d && d->by == by;
        }
        *first = n > before ? i : *first;
    }
    return n;
}

// Return the block in front of whose statement *at the reciprocal of a divisor
// stands: outside all loops, and in a branch if only that one divides.
static struct ir_block *place_of(struct reciprocals *r, struct ir_block *block,
                                 uint32_t by, size_t *at)
{
    struct ir_block *inner[IR_BLOCKS_MOST];
    size_t all = divisions_in(r, block, by, at), below = 0;
    uint32_t n = ir_stmt_blocks(block->at[*at], inner);
    for (uint32_t k = 0; k < n && block->at[*at]->kind == STMT_if; k++)
        if (divisions_in(r, inner[k], by, &below) == all)
            return place_of(r, inner[k], by, at);
    return block;
}

// Return a size as a divisor: from 1 to 2^31 in 32 bits, to 2^63 in 64.
static struct ir_expr *divisor_value(struct arena *a, const struct divisor *d)
{
    struct type width = type_scalar(d->width);
    struct ir_expr *size = d->size;
    if (d->width == TYPE_u32 && type_bits(size->type) > 32)
        size = ir_binary(a, OP_min, size,
                         ir_const_int(a, size->type, INT64_C(1) << 31));
    return ir_binary(a, OP_max, ir_cast(a, width, size),
                     ir_const_int(a, width, 1));
}

// Declare the divisors of a launch that pay, and their reciprocals.
static void declare_divisors(struct reciprocals *r, struct ir_block *body)
{
    struct arena *a = r->p->arena;
    for (uint32_t i = 0; i < r->divisors.n; i++) {
        size_t at = 0;
        struct divisor *d = &r->divisors.at[i];
        if (!d->pays)
            continue;
        struct ir_block *block = place_of(r, body, i, &at);
        d->divisor = declare(r, block, &at, "divisor", divisor_value(a, d));
        int64_t most = d->width == TYPE_u32 ? (int64_t)UINT32_MAX : -1;
        struct ir_expr *all = ir_const_int(a, type_scalar(d->width), most);
        d->reciprocal =
            declare(r, block, &at, "reciprocal",
                    ir_binary(a, OP_div, all, ir_read(a, d->divisor)));
    }
}

// Return about and over of a division, declared before statement *at.
static struct estimate estimate(struct reciprocals *r, struct ir_block *block,
                                size_t *at, const struct division *of)
{
    struct arena *a = r->p->arena;
    const struct divisor *d = &r->divisors.at[of->by];
    vec_foreach(e, &r->known)
        if (e->by == of->by && ir_expr_equal(e->number, of->x->args[0]))
            return *e;
    struct estimate e = {.number = of->x->args[0], .by = of->by};
    struct ir_expr *n = ir_cast(a, type_scalar(d->width), of->x->args[0]);
    struct ir_expr *high = ir_binary(a, OP_mulhi, n, ir_read(a, d->reciprocal));
    e.about = declare(r, block, at, "about", high);
    struct ir_expr *whole =
        ir_mul(a, ir_read(a, e.about), ir_read(a, d->divisor));
    e.over = declare(r, block, at, "over", ir_binary(a, OP_sub, n, whole));
    vec_push(r->p->scratch, &r->known, e);
    return e;
}

// Replace the division that statement `at` of a block names.  Returns where the
// statement is then.
static size_t multiply(struct reciprocals *r, struct ir_block *block, size_t at,
                       const struct division *of)
{
    struct arena *a = r->p->arena;
    struct estimate e = estimate(r, block, &at, of);
    struct ir_expr *about = ir_read(a, e.about), *over = ir_read(a, e.over);
    struct ir_expr *by = ir_read(a, r->divisors.at[of->by].divisor);
    struct ir_expr *one = ir_const_int(a, about->type, 1);
    struct ir_expr *rest =
        ir_binary(a, OP_min, over, ir_binary(a, OP_sub, over, by));
    struct ir_expr *quotient = ir_select(a, ir_binary(a, OP_lt, over, by),
                                         about, ir_add(a, about, one));
    of->let->u.let.value = ir_cast(a, of->let->u.let.var->type,
                                   of->x->op == OP_mod ? rest : quotient);
    r->changed = true;
    return at;
}

// Replace the divisions of a block that pay.
static void replace_in(struct reciprocals *r, struct ir_block *block)
{
    size_t known = r->known.n;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_block *inner[IR_BLOCKS_MOST];
        const struct division *d = paying(r, block->at[i]);
        uint32_t n = ir_stmt_blocks(block->at[i], inner);
        if (d)
            i = multiply(r, block, i, d);
        for (uint32_t k = 0; k < n; k++)
            replace_in(r, inner[k]);
    }
    r->known.n = known;
}

enum pass_result pass_reciprocals(struct pass *p)
{
    struct reciprocals r = {.p = p};
    facts_start(&r.facts, p->scratch, p->kernel);
    vec_foreach_value(s, &p->kernel->body) {
        if (s->kind != STMT_launch)
            continue;
        r.divisors.n = r.divisions.n = 0;
        facts_foreach_inside(inner, &r.facts, s)
            find_divisions(&r, inner, false);
        declare_divisors(&r, &s->u.launch.body);
        replace_in(&r, &s->u.launch.body);
    }
    return r.changed ? PASS_CHANGED : PASS_SAME;
}
