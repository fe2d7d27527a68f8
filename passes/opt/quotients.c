// quotients: names quotients and rests by open sizes in front of the statement
// that computes them.
//
//   for k in 0..K {                    for k in 0..K {
//     copy S[k], X[(8 * k + t) / C,      let quotient = (8 * k + t) / C
//                  (8 * k + t) % C]  =>  let rest = (8 * k + t) % C
//   }                                    copy S[k], X[quotient, rest]
//                                      }
//
// A quotient by a product of sizes is one of a quotient that is computed anyway:
//
//   i / (H * W), i / W % H, i % W  =>  i / W / H, i / W % H, i % W
//
// so that it is as narrow as i, and shares its division with the rest.
//
// Only in loops, or where a launch divides several numbers by the same size:
// there `reciprocals` replaces the divisions of these names.  A divisor that is
// not proved to be positive is max(d, 1), as a name is computed even where the
// condition of its place does not hold.

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"
#include "passes/pass.h"

// A division that a launch has.
struct division {
    struct ir_expr *x; // n / d or n % d
    bool in_loop;
};
struct divisions VEC(struct division);

// A quotient or a rest, and the variable that it has become.
struct named {
    struct ir_expr *x;
    struct ir_var *var;
};

// The state of the walk.
struct quotients {
    struct pass *p;
    struct facts facts;
    struct divisions asked;         // of the launch
    struct VEC(struct named) names; // known at the place of the walk
    struct ir_block before;         // `let`s in front of the statement
    bool changed;
};

// Return whether an expression divides an index by an open size.
static bool divides_by_size(const struct ir_expr *x)
{
    return (x->op == OP_div || x->op == OP_mod) && type_is_index(x->type) &&
           x->type.lanes == 1 && !ir_is_const(x->args[1]) &&
           ir_is_of_params(x->args[1]) && !ir_is_of_params(x->args[0]) &&
           ir_is_stable(x->args[0]);
}

// Note the divisions by sizes of a block.
static void find_divisions(struct quotients *q, struct ir_block *block,
                           bool in_loop)
{
    vec_foreach_value(s, block) {
        struct ir_block *inner[IR_BLOCKS_MOST];
        ir_foreach_expr_of(x, s)
            if (divides_by_size(x))
                vec_push(q->p->scratch, &q->asked,
                         ((struct division){x, in_loop}));
        uint32_t n = ir_stmt_blocks(s, inner);
        for (uint32_t k = 0; k < n; k++)
            find_divisions(q, inner[k], in_loop || s->kind == STMT_for);
    }
}

// Return y where x = y * z; NULL if they are no products of that form.
static struct ir_expr *factor_beside(struct arena *a, struct ir_expr *x,
                                     struct ir_expr *z)
{
    struct affine whole = affine_of(a, x), part = affine_of(a, z);
    struct affine quotient, rest;
    if (whole.terms.n != 1 || part.terms.n != 1 || whole.constant ||
        part.constant || !affine_divide(a, &whole, &part, &quotient, &rest) ||
        !affine_is_number(&rest) || rest.constant || quotient.failed)
        return NULL;
    return affine_expr(a, &quotient, x->type);
}

// Replace n / (y * z) by n / z / y where n / z or n % z is asked for, too.
static struct ir_expr *divide_again(struct arena *a, struct ir_expr *x,
                                    void *context)
{
    struct quotients *q = context;
    if (x->op != OP_div || !divides_by_size(x))
        return x;
    vec_foreach(other, &q->asked) {
        struct ir_expr *n = other->x->args[0], *d = other->x->args[1];
        if (!ir_expr_equal(n, x->args[0]) || ir_expr_equal(d, x->args[1]))
            continue;
        struct ir_expr *y = factor_beside(a, x->args[1], d);
        if (!y)
            continue;
        q->changed = true;
        return ir_binary(a, OP_div, ir_binary(a, OP_div, n, d), y);
    }
    return x;
}

// Return whether divisions by that size gain from a reciprocal: one is in a loop,
// or there are two of different numbers.
static bool pays(const struct quotients *q, const struct ir_expr *size)
{
    const struct ir_expr *first = NULL;
    vec_foreach(one, &q->asked) {
        if (!ir_expr_equal(one->x->args[1], size))
            continue;
        if (one->in_loop || (first && !ir_expr_equal(first, one->x->args[0])))
            return true;
        first = one->x->args[0];
    }
    return false;
}

// Return the same division by a number that is not 0; NULL if its operand is not
// proved to be defined.
static struct ir_expr *defined(struct quotients *q, struct ir_expr *x)
{
    struct arena *a = q->p->arena;
    if (facts_is_total(&q->facts, x))
        return x;
    if (!facts_is_total(&q->facts, x->args[0]))
        return NULL;
    struct ir_expr *d = ir_binary(a, OP_max, x->args[1], ir_int(a, 1));
    return ir_binary(a, x->op, x->args[0], d);
}

// Replace a division by its name, declared in front of the statement.
static struct ir_expr *replace(struct arena *a, struct ir_expr *x,
                               void *context)
{
    struct quotients *q = context;
    struct pass *p = q->p;
    if (!divides_by_size(x) || !pays(q, x->args[1]))
        return x;
    vec_foreach(known, &q->names)
        if (ir_expr_equal(known->x, x))
            return ir_read(a, known->var);
    struct ir_expr *value = defined(q, x);
    if (!value)
        return x;
    const char *name = x->op == OP_mod ? "rest" : "quotient";
    struct ir_var *var =
        ir_var_new(a, str_name(p->names, name), x->type, VAR_let, x->span);
    ir_append(a, &q->before, ir_stmt_let(a, var, value));
    facts_enter(&q->facts, q->before.at[q->before.n - 1]);
    vec_push(p->scratch, &q->names, ((struct named){x, var}));
    return ir_read(a, var);
}

// Name the divisions of a statement itself, and put the names in front of it;
// returns how many there are.
static size_t name_in(struct quotients *q, struct ir_block *block, size_t at)
{
    struct arena *a = q->p->arena;
    struct ir_stmt *s = block->at[at];
    q->before = (struct ir_block){0};
    if (s->kind == STMT_launch)
        return 0;
    ir_foreach_place(place, s)
        *place = ir_rewrite(a, *place, replace, q);
    vec_foreach_value(let, &q->before)
        ir_stmt_from(let, s);
    ir_insert_all(a, block, at, &q->before);
    q->changed |= q->before.n > 0;
    return q->before.n;
}

// Walk the statements of a block.
static void walk(struct quotients *q, struct ir_block *block)
{
    size_t known = q->names.n;
    for (size_t i = 0; i < block->n; i++) {
        i += name_in(q, block, i);
        facts_foreach_inside(inner, &q->facts, block->at[i])
            walk(q, inner);
    }
    q->names.n = known;
}

// Divide again where that helps, then name the divisions of a launch.
static void name_launch(struct quotients *q, struct ir_stmt *launch)
{
    struct ir_block *body = &launch->u.launch.body;
    q->asked.n = 0;
    find_divisions(q, body, false);
    if (q->asked.n == 0)
        return;
    ir_rewrite_in(q->p->arena, body, divide_again, q);
    q->asked.n = 0;
    find_divisions(q, body, false);
    facts_foreach_inside(inner, &q->facts, launch)
        walk(q, inner);
}

enum pass_result pass_quotients(struct pass *p)
{
    struct quotients q = {.p = p};
    facts_start(&q.facts, p->scratch, p->kernel);
    vec_foreach_value(s, &p->kernel->body)
        if (s->kind == STMT_launch)
            name_launch(&q, s);
    return q.changed ? PASS_CHANGED : PASS_SAME;
}
