// The table of marks, and the marks of a loop or a stage.

#include "ir/marks.h"

#include "ir/matrix.h"

#include <string.h>

enum { ON_LOOP = STMT_for, ON_STAGE = STMT_stage };

static const struct ir_mark_info marks[] = {
#define MARK(name, on, takes, least, most, words, by, until, last, meaning)    \
    {#name,                                                                    \
     (enum ir_stmt_kind)ON_##on,                                               \
     MARK_TAKES_##takes,                                                       \
     least,                                                                    \
     most,                                                                     \
     words,                                                                    \
     by,                                                                       \
     #until,                                                                   \
     LEVEL_##last,                                                             \
     meaning},
#include "ir/marks.def"
#undef MARK
};

const struct ir_mark_info *ir_mark_info(enum ir_mark mark)
{
    return &marks[mark];
}

enum ir_mark ir_mark_named(const char *name)
{
    int i = 0;
    while (i < MARK_note && strcmp(marks[i].name, name) != 0)
        i++;
    return (enum ir_mark)i;
}

// Return whether a list of words, separated by spaces, has a word.
static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (n && strncmp(at, word, n) == 0 && (at[n] == ' ' || !at[n]))
            return true;
    }
    return false;
}

void ir_mark_takes(struct buf *out, const struct ir_mark_info *info)
{
    switch (info->takes) {
    case MARK_TAKES_NUMBER:
        if (info->least == info->most) {
            buf_printf(out, "%lld", (long long)info->least);
            return;
        }
        buf_printf(out, "a number from %lld to %lld", (long long)info->least,
                   (long long)info->most);
        return;
    case MARK_TAKES_WORD: buf_printf(out, "one of %s", info->words); return;
    case MARK_TAKES_MATRIX: buf_text(out, "a matrix instruction"); return;
    }
}

// Return whether a mark takes the value that it has.
static bool suits(const struct ir_mark_info *info, const struct ir_attr *attr)
{
    struct ir_matrix op;
    switch (info->takes) {
    case MARK_TAKES_NUMBER:
        return !attr->word && attr->value >= info->least &&
               attr->value <= info->most;
    case MARK_TAKES_WORD:
        return attr->word && has_word(info->words, attr->word);
    case MARK_TAKES_MATRIX: return attr->word && matrix_find(attr->word, &op);
    }
    return false;
}

// Return, as text, that a mark takes something else.
static const char *wrong_value(struct arena *a, const struct ir_mark_info *info)
{
    struct buf text = {0};
    buf_printf(&text, "`@%s` takes ", info->name);
    ir_mark_takes(&text, info);
    const char *fault = arena_printf(a, "%s", text.data);
    buf_free(&text);
    return fault;
}

const char *ir_attr_fault(struct arena *a, const struct ir_attr *attr,
                          enum ir_stmt_kind on, enum ir_level level)
{
    if (attr->mark != ir_mark_named(attr->name))
        return arena_printf(a, "`@%s` is called another mark", attr->name);
    if (attr->mark == MARK_note)
        return attr->word ? arena_printf(a,
                                         "no mark is called `@%s`; a note "
                                         "has a number",
                                         attr->name)
                          : NULL;
    const struct ir_mark_info *info = &marks[attr->mark];
    if (info->on != on)
        return arena_printf(a, "`@%s` is a mark of %s", info->name,
                            info->on == STMT_for ? "loops" : "stages");
    if (!suits(info, attr))
        return wrong_value(a, info);
    return level > info->last ? arena_printf(a, "`@%s` has survived `%s`",
                                             info->name, info->until)
                              : NULL;
}

struct ir_attrs *ir_attrs_of(struct ir_stmt *s)
{
    return s->kind == STMT_for     ? &s->u.loop.attrs
           : s->kind == STMT_stage ? &s->u.stage.attrs
                                   : NULL;
}

// Return a mark of a list, or NULL.
static struct ir_attr *find(const struct ir_attrs *attrs, enum ir_mark mark)
{
    for (size_t i = 0; attrs && i < attrs->n; i++) {
        if (attrs->at[i].mark == mark)
            return &attrs->at[i];
    }
    return NULL;
}

const struct ir_attr *ir_attr_get(const struct ir_stmt *s, enum ir_mark mark)
{
    return find(ir_attrs_of((struct ir_stmt *)s), mark);
}

int64_t ir_attr_value(const struct ir_stmt *s, enum ir_mark mark)
{
    const struct ir_attr *attr = ir_attr_get(s, mark);
    return attr ? attr->value : 0;
}

const char *ir_attrs_word(const struct ir_attrs *attrs, enum ir_mark mark)
{
    const struct ir_attr *attr = find(attrs, mark);
    return attr ? attr->word : NULL;
}

// Give a statement a mark, in the place of the same mark if it has it.
static void set(struct arena *a, struct ir_stmt *s, const struct ir_attr *attr)
{
    struct ir_attrs *attrs = ir_attrs_of(s);
    struct ir_attr *old = find(attrs, attr->mark);
    if (old)
        *old = *attr;
    else
        vec_push(a, attrs, *attr);
}

void ir_attr_set(struct arena *a, struct ir_stmt *s, enum ir_mark mark,
                 int64_t value)
{
    const struct ir_attr attr = {mark, marks[mark].name, value, NULL};
    set(a, s, &attr);
}

void ir_attr_set_word(struct arena *a, struct ir_stmt *s, enum ir_mark mark,
                      const char *word)
{
    const struct ir_attr attr = {mark, marks[mark].name, 0, word};
    set(a, s, &attr);
}

void ir_attrs_remove(struct ir_attrs *attrs, enum ir_mark mark)
{
    size_t n = 0;
    for (size_t i = 0; i < attrs->n; i++) {
        if (attrs->at[i].mark != mark)
            attrs->at[n++] = attrs->at[i];
    }
    attrs->n = n;
}

void ir_attr_remove(struct ir_stmt *s, enum ir_mark mark)
{
    struct ir_attrs *attrs = ir_attrs_of(s);
    if (attrs)
        ir_attrs_remove(attrs, mark);
}
