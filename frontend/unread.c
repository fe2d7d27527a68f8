// Blocks of a library's defs and rules.

#include "frontend/unread.h"

// A block and all that parsing it takes.
struct unread {
    struct sched_unread base;
    struct sched_item *item;
    unread_parse *parse;
    bool is_parsed;
    struct span block;
    struct arena *arena;
    struct str_table *names;
    struct diag_list *diags;
};

// Parse a block.
static void parse_now(struct unread *u)
{
    struct arena own = {0};
    struct tokens tokens;
    bool ok = lex_span(&own, u->names, u->block, u->diags, &tokens);
    struct parser p = {.arena = u->arena,
                       .names = u->names,
                       .diags = u->diags,
                       .tokens = tokens.at};
    if (ok)
        u->parse(&p, u->item);
    arena_reset(&own);
    u->is_parsed = true;
}

// Parse a block, the first time; other threads that ask for it wait.
static void read_block(struct sched_unread *base)
{
    struct unread *u = (struct unread *)base;
    str_hold(u->names);
    if (!u->is_parsed)
        parse_now(u);
    str_release(u->names);
}

struct sched_unread *unread_new(struct parser *p, struct sched_item *item,
                                unread_parse *parse)
{
    struct unread *u = arena_new(p->arena, struct unread);
    *u = (struct unread){.base.read = read_block,
                         .item = item,
                         .parse = parse,
                         .block = parse_peek(p, 0)->span,
                         .arena = p->arena,
                         .names = p->names,
                         .diags = p->diags};
    return &u->base;
}
