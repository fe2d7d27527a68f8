// `print("i={} x={}", i, x) when c`: a line of text, for debugging.

#include "ir/text/parse_stmt.h"

#include "ir/build.h"
#include "ir/printed.h"
#include "ir/text/parse_expr.h"

// Parse the text, and count its places; NULL after an error.
static const char *parse_text(struct parser *p, uint32_t *places)
{
    const struct token *t = parse_peek(p, 0);
    if (t->kind != TOKEN_TEXT) {
        diag_error(p->diags, t->span, D_expected, "\"", "before a text",
                   parse_described(p, t));
        return NULL;
    }
    p->at++;
    const char *wrong = printed_fault(p->arena, t->text, places);
    if (wrong)
        diag_error(p->diags, t->span, D_print_text, wrong);
    return wrong ? NULL : t->text;
}

// Parse the text and the values, and what closes them; NULL after an error.
static struct ir_stmt *parse_printed(struct parser *p, size_t first)
{
    uint32_t places = 0;
    struct VEC(struct ir_expr *) values = {0};
    const char *text =
        parse_expect(p, "(", "behind `print`") ? parse_text(p, &places) : NULL;
    while (text && parse_take(p, ",")) {
        struct ir_expr *x = parse_close(p, parse_expr(p));
        if (!x)
            return NULL;
        vec_push(p->arena, &values, x);
    }
    if (!text || !parse_expect(p, ")", "behind the values"))
        return NULL;
    if (places == values.n)
        return ir_stmt_print(p->arena, text, places, values.at);
    diag_error(p->diags, parse_span(p, first), D_print_count, (long long)places,
               (long long)values.n);
    return NULL;
}

bool parse_print(struct parser *p, struct ir_block *out, size_t first)
{
    struct ir_expr *cond = NULL;
    struct ir_stmt *print = parse_printed(p, first);
    if (!print)
        return false;
    print->span = parse_span(p, first);
    if (parse_take(p, "when") && !(cond = parse_condition(p, "`when`")))
        return false;
    struct ir_stmt *s = cond ? ir_stmt_if(p->arena, cond) : print;
    s->span = parse_span(p, first);
    if (cond)
        ir_append(p->arena, &s->u.branch.then, print);
    ir_append(p->arena, out, s);
    return true;
}
