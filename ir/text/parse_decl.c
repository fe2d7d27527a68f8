// Types and the declarations of arrays:
//
//   A: f16[M, K] strides [ld, 1] align 16
//   alloc T: f32[32, 32] in shared pad(0, 1)

#include "ir/text/parse.h"

#include "ir/base/suggest.h"
#include "ir/build.h"
#include "ir/layout.h"

#include <string.h>

bool parse_type(struct parser *p, struct type *out)
{
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "a type");
    if (!name || parse_find_type(p, name, out))
        return name != NULL;
    struct suggest s = {.wanted = name};
    for (int i = 0; i < TYPE_COUNT; i++)
        suggest_offer(&s, type_name(type_scalar((enum type_kind)i)));
    diag_error(p->diags, span, D_unknown_type, name);
    return suggest_help(p->diags, &s);
}

// Parse a number of type `int`; say where a size that is not known is declared.
static struct ir_expr *parse_one_size(struct parser *p, const char *what)
{
    const struct token *t = parse_peek(p, 0);
    bool is_new = t->kind == TOKEN_NAME && !scope_find(p, t->text) &&
                  strchr(",]", *t[1].text) && !parse_is_static(p);
    struct ir_expr *x = parse_typed(p, type_scalar(TYPE_int), what);
    if (!x && is_new)
        diag_help(p->diags,
                  "a size is a parameter in front of the arrays: `%s: int`",
                  t->text);
    return x;
}

// Parse comma-separated numbers of type `int` up to `]`.
static bool parse_sizes(struct parser *p, const char *what,
                        struct ir_expr ***out, uint32_t *n)
{
    struct VEC(struct ir_expr *) list = {0};
    while (!parse_is(p, "]")) {
        struct ir_expr *x = parse_one_size(p, what);
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

// Parse `(a, b ...)`, numbers of which the last may be left out.
static bool parse_numbers(struct parser *p, uint32_t n, bool all, uint32_t *out)
{
    if (!parse_expect(p, "(", "before the numbers"))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (i && i + 1 == n && !all && parse_is(p, ")"))
            break;
        if ((i && !parse_expect(p, ",", "between two numbers")) ||
            !parse_count(p, &out[i]))
            return false;
    }
    return parse_expect(p, ")", "behind the numbers");
}

// Parse `(dimension, pad)`, or `(dimension, factor, offset)` if `aligned`.
static bool parse_pitch(struct parser *p, struct ir_buffer *b, bool aligned)
{
    struct span span = parse_peek(p, 0)->span;
    uint32_t to[3] = {0};
    if (!parse_numbers(p, aligned ? 3 : 2, true, to))
        return false;
    struct ir_pitch pitch = layout_pitch(b, to[0]);
    if (aligned) {
        pitch.factor = to[1];
        pitch.offset = to[2];
    } else {
        pitch.pad = to[1];
    }
    const char *wrong = layout_pitch_fault(b, to[0], pitch);
    if (wrong)
        diag_error(p->diags, span, D_layout_pitch, b->name, wrong);
    else
        layout_set_pitch(p->arena, b, to[0], pitch);
    return !wrong;
}

// Parse `(bits, base, shift)`; the last may be left out.
static bool parse_swizzle(struct parser *p, struct ir_buffer *b)
{
    struct span span = parse_peek(p, 0)->span;
    uint32_t to[3] = {0};
    if (!parse_numbers(p, 3, false, to))
        return false;
    struct ir_swizzle swizzle = {to[0], to[1], to[2]};
    const char *wrong = layout_swizzle_fault(b, swizzle);
    if (wrong)
        diag_error(p->diags, span, D_layout_swizzle, b->name, wrong);
    else
        b->swizzle = swizzle;
    return !wrong;
}

// Parse `(dimensions)`.
static bool parse_positions(struct parser *p, struct ir_buffer *b)
{
    struct span span = parse_peek(p, 0)->span;
    uint32_t to[3] = {0};
    if (!parse_numbers(p, 1, true, to))
        return false;
    b->threads = to[0];
    return (b->space == SPACE_local && to[0] <= b->rank) ||
           diag_error(p->diags, span, D_layout_threads, b->name,
                      (long long)to[0]);
}

// Parse what may follow the shape of an array, in any order; the layout only
// of one that is declared here, `inout` of a parameter.
static bool parse_traits(struct parser *p, struct ir_buffer *b)
{
    bool with_layout = b->role == ROLE_alloc;
    for (;;) {
        if (with_layout && parse_take(p, "pad")) {
            if (!parse_pitch(p, b, false))
                return false;
        } else if (with_layout && parse_take(p, "swizzle")) {
            if (!parse_swizzle(p, b))
                return false;
        } else if (with_layout && parse_take(p, "double")) {
            b->is_double = true;
        } else if (with_layout && parse_take(p, "ordered")) {
            b->is_ordered = true;
        } else if (with_layout && b->space == SPACE_shared &&
                   parse_take(p, "cluster")) {
            b->of_cluster = true;
        } else if (with_layout && parse_take(p, "threads")) {
            if (!parse_positions(p, b))
                return false;
        } else if (parse_take(p, "strides")) {
            if (!parse_strides(p, b))
                return false;
        } else if (p->instance && !with_layout && parse_take(p, "layout")) {
            if (!parse_layout(p, b))
                return false;
        } else if (parse_take(p, "align")) {
            bool is_pitch = with_layout && parse_is(p, "(");
            if (is_pitch ? !parse_pitch(p, b, true) : !parse_align(p, b))
                return false;
        } else if (b->role == ROLE_input && parse_take(p, "inout")) {
            b->role = ROLE_inout;
        } else {
            return true;
        }
    }
}

struct ir_buffer *parse_buffer(struct parser *p, const char *name,
                               struct span span, enum buffer_role role)
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
    b->role = role;
    bool ok = (role != ROLE_alloc || parse_space(p, b)) && parse_traits(p, b);
    return ok ? b : NULL;
}
