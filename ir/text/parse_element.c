// Elements of arrays and their indices.

#include "ir/text/parse_expr.h"

#include "ir/build.h"
#include "ir/type.h"

// Report a value that is no index.
static struct ir_expr *not_an_index(struct parser *p, const struct ir_expr *x,
                                    const char *what)
{
    diag_error(p->diags, x->span, D_not_an_index, what,
               ir_type_text(p->arena, x->type));
    return NULL;
}

// Parse an index, which may be a vector.
static struct ir_expr *parse_vector_index(struct parser *p, const char *what)
{
    struct ir_expr *x = parse_close(p, parse_expr(p));
    if (!x || type_is_index(x->type))
        return x;
    if (type_is_integer(x->type))
        return parse_convert(
            p, x, type_vector(type_scalar(TYPE_int), x->type.lanes), what);
    return not_an_index(p, x, what);
}

// Parse comma-separated indices up to `]`.
static bool parse_indices(struct parser *p, struct ir_expr ***out, uint32_t *n)
{
    struct VEC(struct ir_expr *) list = {0};
    while (!parse_is(p, "]")) {
        struct ir_expr *x = parse_vector_index(p, "an index");
        if (!x)
            return false;
        vec_push(p->arena, &list, x);
        if (!parse_take(p, ","))
            break;
    }
    *out = list.at;
    *n = (uint32_t)list.n;
    return parse_expect(p, "]", "behind the indices");
}

// Return how many indices an element has.
static uint32_t rank_of(const struct parser *p, const struct ir_buffer *buffer)
{
    bool is_flat = p->kernel && p->kernel->level == LEVEL_flat;
    return is_flat ? ir_flat_rank(buffer) : buffer->rank;
}

void parse_wrong_rank(struct parser *p, struct span span,
                      const struct ir_buffer *buffer, uint32_t n)
{
    uint32_t rank = rank_of(p, buffer);
    diag_error(p->diags, span, D_wrong_rank, buffer->name, (long long)rank,
               rank == 1 ? "index" : "indices", (long long)n);
    diag_note(p->diags, buffer->span, "`%s` is declared here", buffer->name);
    if (parse_is(p, "["))
        diag_help(p->diags, "all indices stand in one bracket: `%s[i, j]`",
                  buffer->name);
    else if (!rank && n)
        diag_help(p->diags, "declare its shape: `%s: %s[n]`", buffer->name,
                  type_name(buffer->elem));
}

// Return indices in the order of the array's dimensions.
static struct ir_expr **in_order(struct parser *p,
                                 const struct ir_buffer *buffer,
                                 struct ir_expr **index, uint32_t n)
{
    struct ir_expr **out = arena_array(p->arena, struct ir_expr *, n);
    for (uint32_t d = 0; d < n; d++)
        out[d] = index[parse_position(p, buffer, d)];
    return out;
}

bool parse_element(struct parser *p, const struct ir_buffer *buffer,
                   size_t first, struct ir_expr ***index, uint32_t *n)
{
    if (!parse_expect(p, "[", "behind the name of an array") ||
        !parse_indices(p, index, n))
        return false;
    for (uint32_t i = 0; i + 1 < *n; i++) {
        if ((*index)[i]->type.lanes > 1)
            return not_an_index(p, (*index)[i], "an index before the last");
    }
    if (*n != rank_of(p, buffer)) {
        parse_wrong_rank(p, parse_span(p, first), buffer, *n);
        return false;
    }
    *index = in_order(p, buffer, *index, *n);
    return true;
}

struct ir_buffer *parse_buffer_name(struct parser *p)
{
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "an array");
    const struct scope_entry *e = name ? scope_find(p, name) : NULL;
    if (e && e->kind == ENTRY_BUFFER)
        return e->buffer;
    if (name && !e)
        scope_unknown(p, span, name);
    else if (e && e->kind == ENTRY_VAR)
        diag_error(p->diags, span, D_not_an_array, name);
    return NULL;
}

bool parse_check_writable(struct parser *p, const struct ir_buffer *buffer,
                          struct span span)
{
    if (buffer->role != ROLE_input && buffer->space != SPACE_constant)
        return true;
    diag_error(p->diags, span, D_read_only, buffer->name);
    diag_note(p->diags, buffer->span, "`%s` is declared here", buffer->name);
    if (buffer->role == ROLE_input)
        diag_help(p->diags, "declare it `inout` to change it in place");
    return false;
}

struct ir_expr *parse_index(struct parser *p, const char *what)
{
    struct ir_expr *x = parse_vector_index(p, what);
    return !x || x->type.lanes == 1 ? x : not_an_index(p, x, what);
}

struct ir_expr *parse_size(struct parser *p, const char *what)
{
    struct ir_expr *x = parse_index(p, what);
    return x ? parse_convert(p, x, type_scalar(TYPE_int), what) : NULL;
}
