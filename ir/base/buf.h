// Growable text and bytes: everything that prints writes into one.

#ifndef IR_BASE_BUF_H
#define IR_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

// A buffer on the heap; all zero is an empty one.  `data` is NUL-terminated
// once anything was written.
struct buf {
    char *data;
    size_t n, cap;
};

// Append `n` bytes.
void buf_bytes(struct buf *b, const void *data, size_t n);

// Append a NUL-terminated text.
void buf_text(struct buf *b, const char *text);

// Append one character.
void buf_char(struct buf *b, char c);

// Append `n` spaces.
void buf_indent(struct buf *b, int n);

// Append what printf would write.
void buf_printf(struct buf *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Append what vprintf would write.
void buf_vprintf(struct buf *b, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

// Release the memory; the buffer is empty and usable again.
void buf_free(struct buf *b);

#endif
