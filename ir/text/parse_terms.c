// What a kernel says of its data and results, behind its parameters:
//
//   defines compact
//   range K in 0..n, X in -1.0..1.0, P in 0..n ascending
//   unordered Y by count
//   tolerance 1e-5
//   try n = 1, n = 1000003

#include "ir/build.h"
#include "ir/text/parse_stmt.h"

// What a clause needs a parameter for.
struct wanted {
    enum diag_code code; // where the parameter is not of that kind
    bool (*fits)(const struct ir_param *param);
};

// Return whether a parameter holds elements before the kernel runs.
static bool has_elements(const struct ir_param *param)
{
    return param->buffer && param->buffer->role != ROLE_output &&
           param->buffer->elem.kind != TYPE_bool;
}

// Return whether a parameter is a result.
static bool is_result(const struct ir_param *param)
{
    return param->buffer && param->buffer->role != ROLE_input;
}

// Return whether a parameter is a result that can count.
static bool is_count(const struct ir_param *param)
{
    return is_result(param) && type_is_integer(param->buffer->elem);
}

// Return whether a parameter is a size, or another integer.
static bool is_size(const struct ir_param *param)
{
    return param->var && type_is_integer(param->var->type);
}

// Return whether a parameter has a name; names are interned.
static bool is_named(const struct ir_param *param, const char *name)
{
    return (param->var ? param->var->name : param->buffer->name) == name;
}

// Parse the name of a parameter; false after reporting that there is none, or
// that the clause means others.
static bool parse_parameter(struct parser *p, const struct wanted *wanted,
                            uint32_t *out)
{
    const struct ir_kernel *k = p->kernel;
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "a parameter");
    for (uint32_t i = 0; name && i < k->params.n; i++) {
        if (!is_named(&k->params.at[i], name))
            continue;
        *out = i;
        if (!wanted->fits(&k->params.at[i]))
            diag_error(p->diags, span, wanted->code, name);
        return wanted->fits(&k->params.at[i]);
    }
    if (name)
        scope_unknown(p, span, name);
    return false;
}

// Parse a bound of the elements of an array.
static struct ir_expr *parse_bound(struct parser *p,
                                   const struct ir_buffer *buffer)
{
    if (!type_is_float(buffer->elem))
        return parse_index(p, "a bound");
    struct ir_expr *x = parse_typed(p, type_scalar(TYPE_f64), "a bound");
    if (!x || x->op == OP_const)
        return x;
    diag_error(p->diags, x->span, D_not_a_value);
    return NULL;
}

// Parse `A in low..high`, and perhaps `ascending`.
static bool parse_range(struct parser *p)
{
    static const struct wanted wanted = {D_no_elements, has_elements};
    struct ir_terms *t = &p->kernel->terms;
    struct ir_range r = {0};
    struct span span = parse_peek(p, 0)->span;
    if (!parse_parameter(p, &wanted, &r.parameter) ||
        !parse_expect(p, "in", "behind the name of an array"))
        return false;
    const struct ir_buffer *b = p->kernel->params.at[r.parameter].buffer;
    for (size_t i = 0; i < t->ranges.n; i++)
        if (t->ranges.at[i].parameter == r.parameter)
            diag_error(p->diags, span, D_said_twice, b->name);
    if (!(r.low = parse_bound(p, b)) ||
        !parse_expect(p, "..", "between the bounds") ||
        !(r.high = parse_bound(p, b)))
        return false;
    r.ascends = parse_take(p, "ascending");
    vec_push(p->arena, &t->ranges, r);
    return true;
}

// Parse `Y` or `Y by count`.
static bool parse_unordered(struct parser *p)
{
    static const struct wanted result = {D_not_a_result, is_result};
    static const struct wanted count = {D_not_a_count_of, is_count};
    struct ir_unordered u = {0};
    if (!parse_parameter(p, &result, &u.parameter))
        return false;
    u.has_count = parse_take(p, "by");
    if (u.has_count && !parse_parameter(p, &count, &u.count))
        return false;
    vec_push(p->arena, &p->kernel->terms.unordered, u);
    return true;
}

// Parse `n = 1`.
static bool parse_try(struct parser *p)
{
    static const struct wanted wanted = {D_not_a_size, is_size};
    struct ir_try t = {0};
    if (!parse_parameter(p, &wanted, &t.parameter) ||
        !parse_expect(p, "=", "behind the name of a size"))
        return false;
    struct ir_expr *x = parse_index(p, "a size");
    if (x && !ir_int_value(x, &t.value)) {
        diag_error(p->diags, x->span, D_not_a_value);
        return false;
    }
    vec_push(p->arena, &p->kernel->terms.tries, t);
    return x != NULL;
}

// Parse a list with commas.
static bool parse_list(struct parser *p, bool (*parse)(struct parser *p))
{
    do {
        if (!parse(p))
            return false;
    } while (parse_take(p, ","));
    return true;
}

// Parse the number behind `tolerance`.
static bool parse_tolerance(struct parser *p)
{
    struct ir_terms *t = &p->kernel->terms;
    struct span span = parse_peek(p, 0)->span;
    struct ir_expr *x = parse_typed(p, type_scalar(TYPE_f64), "the tolerance");
    if (!x)
        return false;
    if (x->op != OP_const || !(x->u.f >= 0))
        diag_error(p->diags, x->span, D_bad_tolerance);
    else if (t->tolerance)
        diag_error(p->diags, span, D_said_twice, "tolerance");
    t->tolerance = x;
    return true;
}

// Parse the name behind `defines`.
static bool parse_defines(struct parser *p)
{
    struct ir_terms *t = &p->kernel->terms;
    struct span span = parse_peek(p, 0)->span;
    if (t->defines)
        diag_error(p->diags, span, D_said_twice, "defines");
    t->defines_at = span;
    t->defines =
        p->instance ? parse_pattern(p, "a kernel") : parse_name(p, "a kernel");
    if (t->defines && p->instance)
        t->defines = static_fill(p, t->defines, &p->instance->statics);
    return t->defines != NULL;
}

bool parse_terms(struct parser *p, bool *ok)
{
    if (parse_take(p, "range"))
        *ok = parse_list(p, parse_range);
    else if (parse_take(p, "unordered"))
        *ok = parse_list(p, parse_unordered);
    else if (parse_take(p, "tolerance"))
        *ok = parse_tolerance(p);
    else if (parse_take(p, "try"))
        *ok = parse_list(p, parse_try);
    else if (parse_take(p, "defines"))
        *ok = parse_defines(p);
    else
        return false;
    return true;
}
