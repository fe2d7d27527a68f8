// Types and the declarations of arrays:
//
//   A: f16[M, K] strides [ld, 1] align 16

#include "ir/text/parse.h"

#include "ir/base/suggest.h"
#include "ir/build.h"

bool parse_type(struct parser *p, struct type *out)
{
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "a type");
    if (!name || type_find(name, out))
        return name != NULL;
    char text[256];
    struct suggest s = {.wanted = name};
    for (int i = 0; i < TYPE_COUNT; i++)
        suggest_offer(&s, type_name(type_scalar((enum type_kind)i)));
    diag_error(p->diags, span, D_unknown_type, name);
    suggest_text(&s, text, sizeof text);
    if (suggest_any(&s))
        diag_help(p->diags, "did you mean %s?", text);
    return false;
}

// Parse comma-separated numbers of type `int` up to `]`.
static bool parse_sizes(struct parser *p, const char *what,
                        struct ir_expr ***out, uint32_t *n)
{
    struct VEC(struct ir_expr *) list = {0};
    while (!parse_is(p, "]")) {
        struct ir_expr *x = parse_typed(p, type_scalar(TYPE_int), what);
        if (!x)
            return false;
        vec_push(p->arena, &list, x);
        if (!parse_take(p, ","))
            break;
    }
    *out = list.at;
    *n = (uint32_t)list.n;
    return parse_expect(p, "]", "behind the sizes");
}

// Parse `in space`.
static bool parse_space(struct parser *p, struct ir_buffer *b)
{
    if (!parse_expect(p, "in", "behind the shape of an allocation"))
        return false;
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "a memory space");
    if (!name || space_find(name, &b->space))
        return name != NULL;
    diag_error(p->diags, span, D_unknown_space, name);
    diag_help(p->diags, "the spaces are global, shared, local and constant");
    return false;
}

// Parse `strides [...]` behind its word.
static bool parse_strides(struct parser *p, struct ir_buffer *b)
{
    uint32_t n;
    struct span span = parse_peek(p, 0)->span;
    if (!parse_expect(p, "[", "behind `strides`") ||
        !parse_sizes(p, "a stride", &b->strides, &n))
        return false;
    if (n == b->rank)
        return true;
    diag_error(p->diags, span, D_stride_count, (long long)b->rank,
               (long long)n);
    return false;
}

// Parse the number of `align n` behind its word.
static bool parse_align(struct parser *p, struct ir_buffer *b)
{
    const struct token *t = parse_peek(p, 0);
    uint64_t n = t->integer;
    if (t->kind == TOKEN_INT && n && n <= 4096 && (n & (n - 1)) == 0) {
        p->at++;
        b->align = (uint32_t)n;
        return true;
    }
    diag_error(p->diags, t->span, D_bad_alignment);
    return false;
}

// Parse what may follow the shape of an array, in any order.
static bool parse_traits(struct parser *p, struct ir_buffer *b)
{
    for (;;) {
        if (parse_take(p, "strides")) {
            if (!parse_strides(p, b))
                return false;
        } else if (parse_take(p, "align")) {
            if (!parse_align(p, b))
                return false;
        } else if (parse_take(p, "inout")) {
            b->role = ROLE_inout;
        } else {
            return true;
        }
    }
}

struct ir_buffer *parse_buffer(struct parser *p, const char *name,
                               struct span span, bool with_space)
{
    struct type elem;
    struct ir_expr **shape;
    uint32_t rank;
    if (!parse_expect(p, ":", "behind the name of an array") ||
        !parse_type(p, &elem) ||
        !parse_expect(p, "[", "behind the type of the elements") ||
        !parse_sizes(p, "an extent", &shape, &rank))
        return NULL;
    struct ir_buffer *b = ir_buffer_new(p->arena, name, elem, rank, shape);
    b->span = span;
    bool ok = (!with_space || parse_space(p, b)) && parse_traits(p, b);
    return ok ? b : NULL;
}
