// Finds divisions that are comments: to who writes Python, `a // 2` is a division of integers.
//
//   C[i] = A[i] // 2     ->     warning: `// 2` is a comment
//
// A comment is one if it stands behind the value of a statement, and all of it is an expression
// whose names are known there. Words about the value hardly ever are.

#include "ir/text/parse.h"

#include <string.h>

// Return whether a statement of these tokens ends with a value behind `=`.
static bool ends_with_value(const struct token *from, const struct token *to)
{
    const struct token *last = to - 1;
    for (const struct token *t = from; t < last; t++)
        if (t->kind == TOKEN_PUNCT && t->text[strlen(t->text) - 1] == '=')
            return last->kind != TOKEN_PUNCT || strchr(")]", last->text[0]);
    return false;
}

// Return the comment in the line of a token, behind it; an empty span if there is none.
static struct span comment_behind(const struct token *t)
{
    const char *text = t->span.source->text;
    uint32_t from = t->span.to;
    from += (uint32_t)strspn(text + from, " \t");
    bool is_comment = text[from] == '/' && text[from + 1] == '/';
    uint32_t to =
        from + (is_comment ? (uint32_t)strcspn(text + from, "\r\n") : 0);
    return (struct span){t->span.source, from, to};
}

// Return whether what stands behind the `//` of a comment is an expression here. Nothing is
// reported.
static bool is_expression(const struct parser *p, struct span comment)
{
    struct parser inner = *p;
    struct diag_list diags = {.arena = p->arena};
    struct tokens tokens;
    struct source *source = arena_new(p->arena, struct source);
    *source = (struct source){.name = comment.source->name,
                              .size = comment.to - comment.from - 2};
    source->text = arena_copy(p->arena, comment.source->text + comment.from + 2,
                              source->size);
    if (!lex_source(p->arena, p->names, source, &diags, &tokens))
        return false;
    inner.diags = &diags;
    inner.tokens = tokens.at;
    inner.at = 0;
    bool ok = parse_expr(&inner) != NULL;
    parse_skip_newlines(&inner);
    return ok && parse_peek(&inner, 0)->kind == TOKEN_END;
}

void parse_check_comment(struct parser *p, size_t first)
{
    if (p->at == first ||
        !ends_with_value(p->tokens + first, p->tokens + p->at))
        return;
    struct span comment = comment_behind(p->tokens + p->at - 1);
    if (comment.to == comment.from || !is_expression(p, comment) ||
        diag_was_said(p->diags, comment, D_comment_divides))
        return;
    diag_warning(p->diags, comment, D_comment_divides,
                 arena_copy(p->arena, comment.source->text + comment.from,
                            comment.to - comment.from));
    diag_help(p->diags, "integers are divided by `/`; a comment about the "
                        "value has a line of its own");
}
