// vprintf: what `print` of a kernel writes.

#include "tools/simt/intrinsics.h"

#include <math.h>
#include <string.h>

enum { PRINTED_MOST = 1 << 20 };

// Where the values of a call lie.
struct values {
    const unsigned char *at;
    size_t offset;
};

// Copy the next value, which is aligned to its size.
static void take(struct values *v, void *out, size_t bytes)
{
    v->offset = (v->offset + bytes - 1) / bytes * bytes;
    memcpy(out, v->at + v->offset, bytes);
    v->offset += bytes;
}

// What the types of print.def are in C.
typedef int print_i32;
typedef unsigned print_u32;
typedef long long print_i64;
typedef unsigned long long print_u64;
typedef double print_f64;

// Append the value that a conversion asks for, and step over the conversion; false
// if it is none of print.def.
static bool append_value(struct buf *out, const char **format, struct values *v)
{
    const char *at = *format;
#define PRINT(type, as, conversion)                                            \
    if (*format == at && strncmp(at, conversion, strlen(conversion)) == 0) {   \
        print_##as value;                                                      \
        take(v, &value, sizeof value);                                         \
        if (isnan((double)value))                                              \
            buf_text(out, "nan");                                              \
        else                                                                   \
            buf_printf(out, conversion, value);                                \
        *format += strlen(conversion);                                         \
    }
#include "ir/print.def"
#undef PRINT
    return *format != at;
}

uint64_t print_line(struct machine *m, const struct site *s, const uint64_t *o)
{
    struct buf *out = m->printed;
    const char *format = pointer_of(o[0]);
    struct values v = {pointer_of(o[1]), 0};
    (void)s;
    if (!out || out->n > PRINTED_MOST)
        return 0;
    while (*format) {
        if (*format == '%' && append_value(out, &format, &v))
            continue;
        format += *format == '%';
        buf_char(out, *format++);
    }
    return 1;
}
