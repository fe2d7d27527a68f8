// Names in printed text: equal ones that are visible together get numbers.

#include "ir/text/lex.h"
#include "ir/text/print.h"

void print_start(struct printer *p, struct buf *out, bool is_numbering)
{
    *p = (struct printer){.out = out, .is_numbering = is_numbering};
    p->names.arena = p->texts.arena = p->visible.arena = &p->arena;
}

const char *print_name(const struct printer *p, const void *what,
                       const char *name)
{
    const char *printed = map_get(&p->names, what);
    return printed ? printed : name;
}

// Count the declarations of a printed name that are visible up or down.
static void count(struct printer *p, const char *name, int change)
{
    intptr_t n = (intptr_t)map_get(&p->visible, name) + change;
    map_set(&p->visible, name, (void *)n);
}

// Return the text of a name with a number.
static const char *numbered(struct printer *p, const char *name, uint32_t n)
{
    return str_name(&p->texts, arena_printf(&p->arena, "%s_%u", name, n));
}

// Return a name with a number that is free although one less is not: the
// smallest, where the numbers in use have no gaps.
static const char *first_free(struct printer *p, const char *name)
{
    uint32_t taken = 0, open = 1;
    while (map_get(&p->visible, numbered(p, name, open))) {
        taken = open;
        open *= 2;
    }
    while (open - taken > 1) {
        uint32_t middle = taken + (open - taken) / 2;
        if (map_get(&p->visible, numbered(p, name, middle)))
            taken = middle;
        else
            open = middle;
    }
    return numbered(p, name, open);
}

const char *print_declare(struct printer *p, const void *what, const char *name)
{
    const char *printed = str_name(&p->texts, name);
    bool is_taken = map_get(&p->visible, printed) || lex_is_reserved(printed);
    if (p->is_numbering && is_taken)
        printed = first_free(p, name);
    vec_push(&p->arena, &p->scope, printed);
    count(p, printed, 1);
    map_set(&p->names, what, (void *)(uintptr_t)printed);
    return printed;
}

void print_close(struct printer *p, size_t mark)
{
    while (p->scope.n > mark)
        count(p, p->scope.at[--p->scope.n], -1);
}
