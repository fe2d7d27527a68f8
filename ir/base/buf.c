// Growable text and bytes.

#include "ir/base/buf.h"

#include "ir/base/exhausted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Make room for `n` more bytes and a NUL.
static void buf_reserve(struct buf *b, size_t n)
{
    if (b->cap - b->n > n)
        return;
    size_t cap = b->cap ? b->cap * 2 : 256;
    while (cap - b->n <= n)
        cap *= 2;
    char *data = realloc(b->data, cap);
    if (!data)
        memory_exhausted();
    b->data = data;
    b->cap = cap;
}

void buf_bytes(struct buf *b, const void *data, size_t n)
{
    buf_reserve(b, n);
    if (n)
        memcpy(b->data + b->n, data, n);
    b->n += n;
    b->data[b->n] = '\0';
}

void buf_text(struct buf *b, const char *text)
{
    buf_bytes(b, text, strlen(text));
}

void buf_char(struct buf *b, char c)
{
    buf_bytes(b, &c, 1);
}

void buf_indent(struct buf *b, int n)
{
    while (n-- > 0)
        buf_char(b, ' ');
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
}

void buf_vprintf(struct buf *b, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n > 0) {
        buf_reserve(b, (size_t)n);
        vsnprintf(b->data + b->n, (size_t)n + 1, format, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void buf_free(struct buf *b)
{
    free(b->data);
    *b = (struct buf){0};
}
