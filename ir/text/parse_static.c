// Compile-time parameters of kernels: types, sizes, flags and layouts.
//
//   kernel gemm[T, R = T, b](M: int, N: int, K: int,
//                            A: T[M, K], B: T[K, N] layout b) -> C: R[M, N]
//       for T in [f16, bf16], b in [n, t] as gemm_{T}_n{b}
//
// A kernel is parsed once for each instance, with the parameters' values in its
// scope.  In a kernel without instances, and in what passes print, nothing of
// this exists.

#include "ir/text/parse.h"

#include "ir/build.h"
#include "ir/type.h"

#include <string.h>

// ---- Values

const struct ir_static *static_find(const struct ir_statics *statics,
                                    const char *name)
{
    vec_foreach(s, statics)
        if (s->name == name)
            return s;
    return NULL;
}

const char *static_text(struct parser *p, const struct ir_static *value)
{
    if (value->kind == STATIC_int)
        return arena_printf(p->arena, "%lld", (long long)value->number);
    if (value->kind == STATIC_flag)
        return value->number ? "true" : "false";
    return value->word;
}

// Parse a value: a type, a number, `true`, `false` or another word.
static bool parse_value(struct parser *p, struct ir_statics *out)
{
    const struct token *t = parse_peek(p, 0);
    struct ir_static s = {.span = t->span, .word = t->text};
    bool is_true = parse_is(p, "true");
    if (t->kind == TOKEN_INT && t->integer <= INT32_MAX) {
        s.kind = STATIC_int;
        s.number = (int64_t)t->integer;
        p->at++;
    } else if (is_true || parse_is(p, "false")) {
        s.kind = STATIC_flag;
        s.number = is_true;
        p->at++;
    } else {
        s.kind = type_find(t->text, &s.type) ? STATIC_type : STATIC_word;
        if (!parse_name(p, "a type, a number or a word"))
            return false;
    }
    vec_push(p->arena, out, s);
    return true;
}

// Parse `[a, b]` behind `in`.
static bool parse_list(struct parser *p, struct ir_statics *out)
{
    if (!parse_expect(p, "[", "before the values"))
        return false;
    do {
        if (!parse_value(p, out))
            return false;
    } while (parse_take(p, ","));
    return parse_expect(p, "]", "behind the values");
}

// Parse `T in [f16, bf16]`, `R = T` or, if it is `bare`, `T`.
static bool parse_given(struct parser *p, bool bare,
                        struct instance_clause *out)
{
    struct static_values v = {.parameter.span = parse_peek(p, 0)->span};
    v.parameter.name = parse_name(p, "a compile-time parameter");
    if (!v.parameter.name)
        return false;
    vec_foreach(g, &out->given) {
        if (g->parameter.name != v.parameter.name)
            continue;
        diag_error(p->diags, v.parameter.span, D_declared_twice,
                   v.parameter.name);
        return false;
    }
    bool ok = true;
    if (parse_take(p, "="))
        ok = parse_value(p, &v.values);
    else if (!bare)
        ok = parse_expect(p, "in", "behind the name of the parameter") &&
             parse_list(p, &v.values);
    vec_push(p->arena, &out->given, v);
    return ok;
}

// Parse parameters with commas, as parse_given does.
static bool parse_all_given(struct parser *p, bool bare,
                            struct instance_clause *out)
{
    do {
        if (!parse_given(p, bare, out))
            return false;
    } while (parse_take(p, ","));
    return true;
}

bool parse_static_parameters(struct parser *p, struct instance_clause *out)
{
    return parse_expect(p, "[", "behind the name of the kernel") &&
           parse_all_given(p, true, out) &&
           parse_expect(p, "]", "behind the compile-time parameters");
}

bool parse_instance_clause(struct parser *p, struct instance_clause *out)
{
    size_t first = p->at;
    if (!parse_expect(p, "for", "before the values of the parameters") ||
        !parse_all_given(p, false, out))
        return false;
    if (parse_take(p, "as") &&
        !(out->pattern = parse_pattern(p, "the name of the instances")))
        return false;
    out->span = parse_span(p, first);
    return true;
}

// ---- Names of instances

// Return whether a token stands directly behind the last one that was read.
static bool is_adjacent(const struct parser *p, const struct token *t)
{
    return p->tokens[p->at - 1].span.to == t->span.from;
}

// Return whether `{T}` comes next, directly behind the last token.
static bool is_hole(const struct parser *p)
{
    return is_adjacent(p, parse_peek(p, 0)) && parse_is(p, "{") &&
           parse_peek(p, 1)->kind == TOKEN_NAME &&
           strcmp(parse_peek(p, 2)->text, "}") == 0;
}

const char *parse_pattern(struct parser *p, const char *what)
{
    const char *text = parse_name(p, what);
    while (text) {
        const struct token *t = parse_peek(p, 0);
        size_t n = is_hole(p) ? 3 : 1;
        bool is_word = t->kind == TOKEN_NAME || t->kind == TOKEN_INT;
        if (n == 1 && !(is_word && is_adjacent(p, t)))
            return text;
        for (size_t i = 0; i < n; i++)
            text = arena_printf(p->arena, "%s%s", text, t[i].text);
        p->at += n;
    }
    return NULL;
}

const char *static_fill(struct parser *p, const char *pattern,
                        const struct ir_statics *statics)
{
    const char *text = pattern, *open;
    while ((open = strchr(text, '{'))) {
        const char *close = strchr(open, '}');
        const char *name =
            str_intern(p->names, open + 1, (size_t)(close - open - 1));
        const struct ir_static *s = static_find(statics, name);
        text = arena_printf(p->arena, "%.*s%s%s", (int)(open - text), text,
                            s ? static_text(p, s) : name, close + 1);
    }
    return str_name(p->names, text);
}

// ---- Uses

// Return the parameter of that name that is in scope, or NULL.
static const struct ir_static *in_scope(const struct parser *p,
                                        const char *name)
{
    const struct scope_entry *e = scope_find(p, name);
    return e && e->kind == ENTRY_STATIC ? e->value : NULL;
}

bool parse_find_type(const struct parser *p, const char *name, struct type *out)
{
    const struct ir_static *s = in_scope(p, name);
    if (!s || s->kind != STATIC_type)
        return type_find(name, out);
    *out = s->type;
    return true;
}

// Return whether `==` or `!=` is token number `ahead`.
static bool is_comparison(const struct parser *p, size_t ahead)
{
    const char *text = parse_peek(p, ahead)->text;
    return strcmp(text, "==") == 0 || strcmp(text, "!=") == 0;
}

bool parse_is_static(const struct parser *p)
{
    struct type type;
    const char *name = parse_peek(p, 0)->text;
    return in_scope(p, name) ||
           (p->instance && is_comparison(p, 1) && type_find(name, &type));
}

const char *static_word(struct parser *p)
{
    const char *name = parse_name(p, "a type or a word");
    const struct ir_static *s = name ? in_scope(p, name) : NULL;
    return s ? static_text(p, s) : name;
}

// Parse the right side of a comparison, and set `same` to whether it is the
// same type, or the same word, as the left side.
static bool parse_same(struct parser *p, const char *left, bool *same)
{
    struct type type, other;
    if (parse_find_type(p, left, &type)) {
        bool ok = parse_type(p, &other);
        *same = ok && type_equal(type, other);
        return ok;
    }
    const char *right = static_word(p);
    *same = right && strcmp(left, right) == 0;
    return right != NULL;
}

// Parse `T == f16` or `T != f16`, the values of both sides known.
static struct ir_expr *parse_comparison(struct parser *p)
{
    size_t first = p->at;
    bool same;
    const char *left = static_word(p);
    bool is_equal = parse_is(p, "==");
    p->at++;
    if (!parse_same(p, left, &same))
        return NULL;
    return ir_at(p->arena, ir_bool(p->arena, same == is_equal),
                 parse_span(p, first));
}

// Return a size as an open literal, or a flag.
static struct ir_expr *constant(struct parser *p, const struct ir_static *s)
{
    if (s->kind == STATIC_flag)
        return ir_bool(p->arena, s->number);
    struct ir_expr *x = ir_int(p->arena, s->number);
    x->is_open = true;
    return x;
}

struct ir_expr *parse_static(struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    const struct ir_static *s = in_scope(p, t->text);
    bool is_constant = s && (s->kind == STATIC_int || s->kind == STATIC_flag);
    if (!is_constant && is_comparison(p, 1))
        return parse_comparison(p);
    p->at++;
    if (is_constant)
        return ir_at(p->arena, constant(p, s), t->span);
    diag_error(p->diags, t->span, D_static_value, t->text);
    return NULL;
}
