// Reads the text of a `print`.

#include "ir/printed.h"

#include <math.h>

// The types of print.def, in C.
typedef int print_i32;
typedef unsigned print_u32;
typedef long long print_i64;
typedef unsigned long long print_u64;

// Return the character that a letter behind a backslash stands for, or 0.
static char escaped(char letter)
{
    switch (letter) {
    case 'n': return '\n';
    case 't': return '\t';
    case '"':
    case '\\': return letter;
    default: return 0;
    }
}

enum printed_kind printed_next(const char **at, char *c)
{
    const char *s = *at;
    bool is_brace = *s == '{' || *s == '}';
    *c = *s == '\\' ? escaped(s[1]) : *s;
    if (!*s)
        return PRINTED_END;
    if (*s == '{' && s[1] == '}') {
        *at += 2;
        return PRINTED_PLACE;
    }
    if (!*c || (is_brace && s[1] != *s))
        return PRINTED_FAULT;
    *at += *s == '\\' || is_brace ? 2 : 1;
    return PRINTED_CHAR;
}

const char *printed_fault(struct arena *a, const char *text, uint32_t *places)
{
    char c;
    enum printed_kind kind;
    *places = 0;
    while ((kind = printed_next(&text, &c)) != PRINTED_END) {
        if (kind == PRINTED_FAULT)
            return *text == '\\'
                       ? arena_printf(a, "`\\%c` is no character", text[1])
                       : arena_printf(a, "this `%c` is alone", *text);
        *places += kind == PRINTED_PLACE;
    }
    return NULL;
}

// Append a floating number with a conversion of printf.
#define APPEND_f64(out, conversion, value)                                     \
    isnan((value).f) ? buf_text(out, "nan")                                    \
                     : buf_printf(out, conversion, (value).f)
// The same for integers.
#define APPEND_i32(out, conversion, value)                                     \
    buf_printf(out, conversion, (print_i32)(value).i)
#define APPEND_u32(out, conversion, value)                                     \
    buf_printf(out, conversion, (print_u32)(value).i)
#define APPEND_i64(out, conversion, value)                                     \
    buf_printf(out, conversion, (print_i64)(value).i)
#define APPEND_u64(out, conversion, value)                                     \
    buf_printf(out, conversion, (print_u64)(value).i)

void printed_value(struct buf *out, struct type type, union number value)
{
    switch ((enum type_kind)type.kind) {
#define PRINT(type, as, conversion)                                            \
    case TYPE_##type:                                                          \
        APPEND_##as(out, conversion, value);                                   \
        return;
#include "ir/print.def"
#undef PRINT
    case TYPE_COUNT: return;
    }
}
