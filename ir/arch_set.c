// Sets of architectures as text: the one place that knows what a suffix means.

#include "ir/arch_set.h"

#include <string.h>

enum { FAMILY = 10, NUMBER_MOST = 9999 };

// A part of a set: a number, and 'a', 'f', '+' or 0 behind it.
struct part {
    unsigned number;
    char mark;
};

// Return whether a character ends a part.
static bool is_end(char c)
{
    return c == ' ' || c == '\0';
}

// Read a part of a set.  Returns false if it is written otherwise.
static bool read_part(const char *p, struct part *out)
{
    *out = (struct part){0};
    if (strncmp(p, "sm_", 3) == 0)
        p += 3;
    const char *first = p;
    while (*p >= '0' && *p <= '9' && out->number <= NUMBER_MOST)
        out->number = out->number * 10 + (unsigned)(*p++ - '0');
    if (p == first || out->number > NUMBER_MOST)
        return false;
    if (*p == 'a' || *p == 'f' || *p == '+')
        out->mark = *p++;
    return is_end(*p);
}

// Step to the next part of a set that can be read.  Returns false at its end.
static bool next_part(const char **at, struct part *out)
{
    const char *p = *at;
    bool ok = false;
    while (*p && !ok) {
        while (*p == ' ')
            p++;
        ok = read_part(p, out);
        while (!is_end(*p))
            p++;
    }
    *at = p;
    return ok;
}

// Return whether a later member of the family of `f` has that number.
static bool is_later(const struct part *f, unsigned number)
{
    return number / FAMILY == f->number / FAMILY && number >= f->number;
}

// Return whether a part holds an architecture.
static bool holds(const struct part *p, unsigned number, char suffix)
{
    switch (p->mark) {
    case '+': return number >= p->number;
    case 'a': return number == p->number && suffix == 'a';
    case 'f': return suffix && is_later(p, number);
    }
    return number == p->number;
}

// Return whether all that a part holds is in another one.
static bool is_within(const struct part *x, const struct part *other)
{
    bool is_one = x->mark != '+' && x->mark != 'f';
    switch (other->mark) {
    case '+': return x->number >= other->number;
    case 'a': return x->mark == 'a' && x->number == other->number;
    case 'f':
        return (x->mark == 'a' || x->mark == 'f') && is_later(other, x->number);
    }
    return is_one && x->number == other->number;
}

bool arch_set_has(const char *set, unsigned number, char suffix)
{
    struct part p;
    while (next_part(&set, &p))
        if (holds(&p, number, suffix))
            return true;
    return false;
}

bool arch_set_within(const char *set, const char *other)
{
    struct part x, y;
    bool is_in = true;
    while (is_in && next_part(&set, &x)) {
        const char *at = other;
        is_in = false;
        while (!is_in && next_part(&at, &y))
            is_in = is_within(&x, &y);
    }
    return is_in;
}

// Return the parts with what stands between two, and in place of `+`.
static const char *join(struct arena *a, const char *set, const char *between,
                        const char *newer)
{
    const char *text = "";
    struct part p;
    while (next_part(&set, &p)) {
        const char own[] = {p.mark, '\0'};
        text = arena_printf(a, "%s%ssm_%u%s", text, *text ? between : "",
                            p.number, p.mark == '+' ? newer : own);
    }
    return text;
}

const char *arch_set_names(struct arena *a, const char *set)
{
    return join(a, set, ", ", "+");
}

const char *arch_set_words(struct arena *a, const char *set)
{
    return join(a, set, " or ", " or a newer one");
}
