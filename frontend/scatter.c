// Scatter reductions: definitions whose left side is indexed by data, and that
// accumulate.  Elements of a result start from the identity, those of an
// `inout` from what the caller put there.
//
//   H[X[i]] += 1
//     =>
//   for ax0 in 0..256 { stage H.init(v0 in 256 = ax0) { H[v0] = 0 } }
//   for i in 0..n { stage H(vi in n = i) { atomic_add(H[X[vi]], 1) } }

#include "frontend/define.h"

#include "ir/build.h"
#include "ir/neutral.h"
#include "ir/text/parse_expr.h"

#include <string.h>

// A row of scatter.def.
struct accumulation {
    const char *spelling;
    enum ir_op op;
};

static const struct accumulation accumulations[] = {
#define SCATTER(spelling, op) {spelling, OP_##op},
#include "frontend/scatter.def"
#undef SCATTER
};
enum { ACCUMULATIONS = sizeof accumulations / sizeof *accumulations };

bool scatter_is_new(const struct parser *p, const struct token *t)
{
    return t->kind == TOKEN_NAME && strcmp(t[1].text, "(") != 0 &&
           !lex_is_reserved(t->text) && !scope_find(p, t->text);
}

// Return how much a token opens, or closes if that is negative.
static int depth_of(const struct token *t)
{
    return strcmp(t->text, "[") == 0 || strcmp(t->text, "(") == 0   ? 1
           : strcmp(t->text, "]") == 0 || strcmp(t->text, ")") == 0 ? -1
                                                                    : 0;
}

// Return whether a name behind `[` or `,` is a subscript by itself.
static bool is_alone(const struct token *t)
{
    return (strcmp(t[-1].text, "[") == 0 || strcmp(t[-1].text, ",") == 0) &&
           (strcmp(t[1].text, "]") == 0 || strcmp(t[1].text, ",") == 0);
}

bool scatter_is_next(const struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    bool has_new = false, has_other = false, has_data = false;
    int depth = 1;
    if (t->kind != TOKEN_NAME || strcmp(t[1].text, "[") != 0)
        return false;
    for (t += 2; depth > 0 && !define_ends_line(t); t++) {
        bool is_new = scatter_is_new(p, t);
        depth += depth_of(t);
        has_new |= is_new;
        has_data |= strcmp(t->text, "[") == 0;
        has_other |=
            depth == 1 && strcmp(t->text, ",") != 0 && !(is_new && is_alone(t));
        if (strcmp(t->text, "in") == 0)
            return false;
    }
    return depth == 0 && has_new && has_other &&
           (has_data || strcmp(t->text, "=") != 0);
}

// Declare the indices that the left side names first, up to its `]`.  One that
// is a subscript by itself ranges over that dimension.
static void declare_indices(struct parser *p, struct definition *d)
{
    const struct element *e = &d->elements[0];
    uint32_t subscript = 0;
    int depth = 1;
    for (const struct token *t = parse_peek(p, 0); depth > 0; t++) {
        struct ir_expr *extent = NULL;
        depth += depth_of(t);
        subscript += depth == 1 && strcmp(t->text, ",") == 0;
        if (!scatter_is_new(p, t))
            continue;
        if (depth == 1 && is_alone(t) && subscript < e->buffer->rank)
            extent = e->buffer->shape[define_dimension_of(p, e, subscript)];
        define_add_iter(p, d, t->text, t->span, extent, false);
    }
}

// Parse the subscripts, `]` included.
static bool parse_subscripts(struct parser *p, struct definition *d,
                             size_t first)
{
    struct element *e = &d->elements[0];
    struct VEC(struct ir_expr *) index = {0};
    do {
        struct ir_expr *x = parse_index(p, "a subscript");
        if (!x || !define_check_reads(p, d, x))
            return false;
        vec_push(p->arena, &index, x);
    } while (parse_take(p, ","));
    if (!parse_expect(p, "]", "behind the subscripts"))
        return false;
    e->n = (uint32_t)index.n;
    if (e->n != e->buffer->rank) {
        parse_wrong_rank(p, parse_span(p, first), e->buffer, e->n);
        return false;
    }
    e->index = arena_array(p->arena, struct ir_expr *, e->n);
    for (uint32_t i = 0; i < e->n; i++)
        e->index[define_dimension_of(p, e, i)] = index.at[i];
    return true;
}

// Parse how the sides are combined, or return NULL after an error.
static const struct accumulation *parse_accumulation(struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    bool is_word = t->kind == TOKEN_NAME && strcmp(t[1].text, "=") == 0;
    const char *text =
        is_word ? arena_printf(p->arena, "%s=", t->text) : t->text;
    for (int i = 0; i < ACCUMULATIONS; i++) {
        if (strcmp(accumulations[i].spelling, text) != 0)
            continue;
        p->at += is_word ? 2 : 1;
        return &accumulations[i];
    }
    diag_error(p->diags, t->span, D_scatter_operation, text);
    diag_help(p->diags, "several may be the same element: accumulate with "
                        "+=, min=, max=, &=, |= or ^=");
    diag_help(p->diags, "if no two are, say which are stored: "
                        "`= x if condition`");
    return NULL;
}

// Report a sum whose last digits depend on the order of the threads, where the
// text does not say how much that may be.
static bool check_order(struct parser *p, const struct element *e,
                        const struct accumulation *how)
{
    if (how->op != OP_atomic_add || !type_is_float(e->buffer->elem) ||
        p->kernel->terms.tolerance)
        return true;
    diag_error(p->diags, e->span, D_scatter_order, e->name);
    diag_help(p->diags, "write `tolerance 1e-5` behind the parameters, or the "
                        "most that its elements may differ");
    return false;
}

// Parse the right side, and let the stage accumulate it.
static bool parse_right(struct parser *p, struct definition *d,
                        const struct accumulation *how, size_t first)
{
    struct element *e = &d->elements[0];
    struct ir_expr *x = parse_typed(p, e->buffer->elem, "the value");
    if (!x || !define_check_reads(p, d, x))
        return false;
    x = parse_atomic_on(p, how->op, e->buffer, e->n, e->index, 1, &x,
                        parse_span(p, first));
    if (!x)
        return false;
    struct ir_stmt *s = ir_stmt_eval(p->arena, x);
    s->span = x->span;
    ir_append(p->arena, &d->stage->u.stage.body, s);
    return define_infer_extents(p, d);
}

void scatter_start(struct parser *p, const struct definition *d,
                   struct ir_expr *value, struct ir_block *out)
{
    struct arena *a = p->arena;
    struct ir_buffer *b = d->elements[0].buffer;
    struct ir_expr **index = arena_array(a, struct ir_expr *, b->rank);
    const char *name = arena_printf(a, "%s.init", b->name);
    struct ir_stmt *s = ir_stmt_stage(a, str_name(p->names, name));
    struct definition start = {.stage = s};
    s->span = d->elements[0].span;
    for (uint32_t i = 0; i < b->rank; i++) {
        const char *loop = arena_printf(a, "ax%u", i);
        index[i] = ir_read(a, define_iter(p, &start, str_name(p->names, loop),
                                          s->span, b->shape[i], false));
    }
    struct ir_stmt *store = ir_stmt_store(a, b, b->rank, index, value);
    store->span = s->span;
    ir_append(a, &s->u.stage.body, store);
    define_close_nest(p, &start, out);
}

bool scatter_left(struct parser *p, struct definition *d)
{
    size_t first = p->at;
    struct element *e = &d->elements[d->n_elements++];
    e->span = parse_peek(p, 0)->span;
    e->name = parse_name(p, "an array");
    d->is_reduction = true;
    d->stage = ir_stmt_stage(p->arena, e->name);
    if (!define_find_target(p, d, e))
        return false;
    p->at++;
    declare_indices(p, d);
    return parse_subscripts(p, d, first);
}

bool scatter_parse(struct parser *p, struct definition *d,
                   struct ir_block *block)
{
    size_t first = p->at;
    struct element *e = &d->elements[0];
    const struct accumulation *how = NULL;
    if (!scatter_left(p, d) || !(how = parse_accumulation(p)) ||
        !check_order(p, e, how) || !parse_right(p, d, how, first))
        return false;
    if (e->buffer->role != ROLE_inout)
        scatter_start(p, d, ir_neutral(p->arena, how->op, e->buffer->elem),
                      block);
    return true;
}
