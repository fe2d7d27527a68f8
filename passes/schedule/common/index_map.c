// Index maps made of digits.

#include "passes/schedule/common/index_map.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "passes/analysis/facts.h"

// A map being taken apart.
struct dissection {
    struct pass *pass;
    const struct sched_map *map;
    struct ir_expr *const *extents;
    struct facts facts;
    const struct ir_expr *at; // the expression that is no sum of digits
    const char *fault;        // why
};

// Note why an expression is no sum of digits.
static bool stop(struct dissection *d, const struct ir_expr *x,
                 const char *fault)
{
    d->at = x;
    d->fault = fault;
    return false;
}

// Return the largest sum of the first n digits, or INT64_MAX.
static int64_t most_of(const struct index_digits *digits, size_t n)
{
    int64_t sum = 0, part;
    for (size_t i = 0; i < n; i++) {
        const struct index_digit *g = &digits->at[i];
        if (!g->extent || !num_mul(g->extent - 1, g->scale, &part) ||
            !num_add(sum, part, &sum))
            return INT64_MAX;
    }
    return sum;
}

// Add a digit where its scale belongs.
static void insert(struct dissection *d, struct index_digits *digits,
                   struct index_digit digit)
{
    vec_push(d->pass->scratch, digits, digit);
    size_t at = digits->n - 1;
    for (; at && digits->at[at - 1].scale > digit.scale; at--)
        digits->at[at] = digits->at[at - 1];
    digits->at[at] = digit;
}

// Take a variable: one digit.
static bool of_var(struct dissection *d, struct ir_expr *x,
                   struct index_digits *out)
{
    uint32_t i = 0;
    int64_t extent = 0;
    while (i < d->map->n && d->map->vars[i] != x->u.var)
        i++;
    ir_int_value(d->extents[i], &extent);
    struct index_digit digit = {.var = i,
                                .lower = 1,
                                .extent = extent,
                                .size = d->extents[i],
                                .is_last = true,
                                .scale = 1};
    insert(d, out, digit);
    return true;
}

static bool dissect(struct dissection *d, struct ir_expr *x,
                    struct index_digits *out);

// Take a sum.
static bool of_sum(struct dissection *d, struct ir_expr *x,
                   struct index_digits *out)
{
    struct index_digits right = {0};
    if (!dissect(d, x->args[0], out) || !dissect(d, x->args[1], &right))
        return false;
    for (size_t i = 0; i < right.n; i++)
        insert(d, out, right.at[i]);
    return true;
}

// Take a multiple.
static bool of_product(struct dissection *d, struct ir_expr *x,
                       struct index_digits *out)
{
    int64_t factor;
    bool is_right = ir_int_value(x->args[1], &factor);
    if (!is_right && !ir_int_value(x->args[0], &factor))
        return stop(d, x, "it multiplies indices");
    if (factor <= 0)
        return stop(d, x, "it multiplies by a number that is not positive");
    if (!dissect(d, x->args[is_right ? 0 : 1], out))
        return false;
    for (size_t i = 0; i < out->n; i++)
        if (!num_mul(out->at[i].scale, factor, &out->at[i].scale))
            return stop(d, x, "it does not fit in 64 bits");
    return true;
}

// Return how many values a digit has above a number of them.
static struct ir_expr *size_above(struct dissection *d,
                                  const struct index_digit *g, int64_t low)
{
    struct arena *a = d->pass->arena;
    struct affine form = affine_of(d->facts.arena, g->size);
    bool exact = facts_multiple(&d->facts, &form, low);
    return ir_binary(a, exact ? OP_div : OP_ceildiv, g->size, ir_int(a, low));
}

// Cut digit `i` in two, the lower one with `low` values; false if that is no
// digit.
static bool cut(struct dissection *d, struct index_digits *digits, size_t i,
                int64_t low)
{
    struct index_digit below = digits->at[i], above = below;
    if (!below.is_last && below.extent % low)
        return false;
    below.extent = low;
    below.size = ir_int(d->pass->arena, low);
    below.is_last = false;
    above.size = size_above(d, &above, low);
    above.extent = 0;
    ir_int_value(above.size, &above.extent);
    if (!num_mul(above.lower, low, &above.lower) ||
        !num_mul(above.scale, low, &above.scale))
        return false;
    digits->at[i] = below;
    insert(d, digits, above);
    return true;
}

// Take a quotient or a remainder.
static bool of_division(struct dissection *d, struct ir_expr *x,
                        struct index_digits *out)
{
    int64_t by;
    size_t n = 0;
    struct index_digits all = {0};
    if (!ir_int_value(x->args[1], &by) || by <= 0)
        return stop(d, x, "it divides by what is no positive number");
    if (!dissect(d, x->args[0], &all))
        return false;
    while (n < all.n && all.at[n].scale < by) {
        struct index_digit *g = &all.at[n];
        bool over = !g->extent || g->extent > (by - 1) / g->scale + 1;
        if (over && (by % g->scale || !cut(d, &all, n, by / g->scale)))
            return stop(d, x, "the divisor does not fit the parts");
        n++;
    }
    bool fits = most_of(&all, n) < by;
    for (size_t i = n; i < all.n && fits; i++)
        fits = all.at[i].scale % by == 0;
    if (!fits)
        return stop(d, x, "the divisor does not fit the parts");
    for (size_t i = x->op == OP_mod ? 0 : n; i < (x->op == OP_mod ? n : all.n);
         i++) {
        struct index_digit digit = all.at[i];
        digit.scale /= x->op == OP_mod ? 1 : by;
        insert(d, out, digit);
    }
    return true;
}

// Take an expression apart.
static bool dissect(struct dissection *d, struct ir_expr *x,
                    struct index_digits *out)
{
    switch ((int)x->op) {
    case OP_var: return of_var(d, x, out);
    case OP_add: return of_sum(d, x, out);
    case OP_mul: return of_product(d, x, out);
    case OP_div:
    case OP_mod: return of_division(d, x, out);
    case OP_const: return x->u.i == 0 || stop(d, x, "it adds a number");
    }
    return stop(d, x, "it subtracts");
}

// Return the number of values of a sum of digits, as an expression.
static struct ir_expr *extent_of(struct dissection *d,
                                 const struct index_digits *digits)
{
    struct arena *a = d->pass->arena;
    if (!digits->n)
        return ir_int(a, 1);
    const struct index_digit *last = &digits->at[digits->n - 1];
    return ir_mul(a, last->size, ir_int(a, last->scale));
}

// Return whether the digits of a new index count it without gaps.
static bool is_dense(const struct index_digits *digits)
{
    int64_t next = 1;
    for (size_t i = 0; i < digits->n; i++) {
        const struct index_digit *g = &digits->at[i];
        if (g->scale != next || (!g->extent && i + 1 < digits->n) ||
            (g->extent && !num_mul(next, g->extent, &next)))
            return false;
    }
    return true;
}

// Return the digit of a variable that begins at `lower`, or NULL; `n` becomes
// how many there are.
static const struct index_digit *
digit_at(const struct index_map *m, uint32_t var, int64_t lower, size_t *n)
{
    const struct index_digit *found = NULL;
    *n = 0;
    vec_foreach(g, &m->digits) {
        if (g->var != var || g->lower != lower)
            continue;
        found = g;
        ++*n;
    }
    return found;
}

// Return what is wrong with how the digits make up a variable, or NULL.
static const char *fault_of_var(struct dissection *d, struct index_map *m,
                                uint32_t var)
{
    size_t n, total = 0, used = 0;
    int64_t lower = 1;
    const char *name = d->map->vars[var]->name;
    const struct index_digit *g = NULL;
    for (size_t i = 0; i < m->digits.n; i++)
        total += m->digits.at[i].var == var;
    do {
        g = digit_at(m, var, lower, &n);
        if (n != 1)
            return arena_printf(
                d->pass->scratch,
                n ? "`%s` is in it twice" : "part of `%s` is lost", name);
        used++;
        if (!g->is_last && !num_mul(lower, g->extent, &lower))
            return "it does not fit in 64 bits";
    } while (!g->is_last);
    for (size_t i = 0; i < m->digits.n; i++) {
        int64_t whole;
        g = &m->digits.at[i];
        struct affine form = affine_of(d->facts.arena, d->extents[var]);
        if (g->var == var && g->is_last && g->lower > 1)
            m->pads |= ir_int_value(d->extents[var], &whole)
                           ? whole % g->lower != 0
                           : !facts_multiple(&d->facts, &form, g->lower);
    }
    return used == total
               ? NULL
               : arena_printf(d->pass->scratch, "parts of `%s` overlap", name);
}

// Report a map.
static bool refuse(const struct sched_call *c, const struct sched_map *map,
                   const char *name, const char *fault)
{
    diag_error(c->pass->diags, map->span, D_map_not_one_to_one, name, fault);
    diag_help(c->pass->diags,
              "each index must be used whole, or in parts such as `i / 4` and "
              "`i %% 4`, each once; parts are joined as in `j * 4 + i %% 4`");
    return false;
}

// Take the new indices apart.
static bool dissect_all(const struct sched_call *c, struct dissection *d,
                        const char *name, struct index_map *out)
{
    for (uint32_t i = 0; i < d->map->m; i++) {
        struct index_digits digits = {0};
        if (!dissect(d, d->map->to[i], &digits)) {
            refuse(c, d->map, name, d->fault);
            return diag_note(c->pass->diags, d->at->span, "in this index");
        }
        if (!is_dense(&digits)) {
            refuse(c, d->map, name, "an index has gaps, or its parts overlap");
            return diag_note(c->pass->diags, d->map->to[i]->span, "this index");
        }
        out->extents[i] = extent_of(d, &digits);
        for (size_t k = 0; k < digits.n; k++) {
            digits.at[k].result = i;
            vec_push(d->pass->scratch, &out->digits, digits.at[k]);
        }
    }
    return true;
}

bool index_map_check(const struct sched_call *c, const struct sched_map *map,
                     struct ir_expr *const *extents, uint32_t n,
                     const char *name, struct index_map *out)
{
    struct pass *p = c->pass;
    struct dissection d = {.pass = p, .map = map, .extents = extents};
    if (map->n != n || !map->m)
        return diag_error(p->diags, map->span, D_map_shape, name, (long long)n,
                          (long long)map->n, (long long)map->m);
    facts_start(&d.facts, p->scratch, p->kernel);
    *out = (struct index_map){.map = map, .from = extents};
    out->extents = arena_array(p->arena, struct ir_expr *, map->m);
    if (!dissect_all(c, &d, name, out))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const char *fault = fault_of_var(&d, out, i);
        if (fault)
            return refuse(c, map, name, fault);
    }
    return true;
}

struct ir_expr **index_map_apply(struct pass *p, const struct sched_map *map,
                                 struct ir_expr *const *index)
{
    struct map vars = {.arena = p->scratch};
    for (uint32_t i = 0; i < map->n; i++)
        map_set(&vars, map->vars[i], index[i]);
    return ir_substitute_all(p->arena, map->m, map->to, &vars, NULL);
}

// Return the value of a digit from the new indices.
static struct ir_expr *digit_value(struct pass *p, const struct index_map *m,
                                   size_t i, struct ir_expr *const *index)
{
    struct arena *a = p->arena;
    const struct index_digit *g = &m->digits.at[i];
    bool is_top =
        i + 1 == m->digits.n || m->digits.at[i + 1].result != g->result;
    struct ir_expr *x = index[g->result];
    if (g->scale > 1)
        x = ir_binary(a, OP_div, x, ir_int(a, g->scale));
    return is_top ? x : ir_binary(a, OP_mod, x, g->size);
}

struct ir_expr **index_map_invert(struct pass *p, const struct index_map *m,
                                  struct ir_expr *const *index)
{
    struct arena *a = p->arena;
    struct ir_expr **r = arena_array(a, struct ir_expr *, m->map->n);
    for (uint32_t v = 0; v < m->map->n; v++) {
        size_t n;
        int64_t lower = 1;
        const struct index_digit *g;
        r[v] = ir_int(a, 0);
        do {
            g = digit_at(m, v, lower, &n);
            size_t i = (size_t)(g - m->digits.at);
            struct ir_expr *part =
                ir_mul(a, digit_value(p, m, i, index), ir_int(a, lower));
            r[v] = lower == 1 ? part : ir_add(a, part, r[v]);
            lower *= g->is_last ? 1 : g->extent;
        } while (!g->is_last);
    }
    return r;
}

struct ir_expr *index_map_inside(struct pass *p, const struct index_map *m,
                                 struct ir_expr *const *index)
{
    struct ir_expr *all = NULL;
    for (size_t i = 0; i < m->digits.n && m->pads; i++) {
        const struct index_digit *g = &m->digits.at[i];
        int64_t whole;
        bool fits =
            ir_int_value(m->from[g->var], &whole) && whole % g->lower == 0;
        if (!g->is_last || g->lower == 1 || fits)
            continue;
        struct ir_expr *below =
            ir_binary(p->arena, OP_lt, index[g->var], m->from[g->var]);
        all = all ? ir_binary(p->arena, OP_and, all, below) : below;
    }
    return all;
}
