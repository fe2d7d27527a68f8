// Source text and places in it.

#ifndef IR_BASE_SOURCE_H
#define IR_BASE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

// A file, or a text that stands for one.  `text` is NUL-terminated.
struct source {
    const char *name; // as the user wrote it
    const char *text;
    size_t size; // without the NUL
};

// The bytes from..to (exclusive) of a source; source NULL means no place.
struct span {
    const struct source *source;
    uint32_t from, to;
};

// A line of a source, without its newline or carriage return.
struct source_line {
    const char *text;
    size_t n;
    uint32_t number; // from 1
    uint32_t column; // of the byte asked for, from 1
};

// Return the line that holds byte `at`.
struct source_line source_line(const struct source *s, uint32_t at);

// Return how many bytes the UTF-8 character at `text` has, of `left` bytes; 0
// if there is none.
size_t source_character(const char *text, size_t left);

// Return the smallest span that covers both; one without a place is ignored.
struct span span_join(struct span a, struct span b);

#endif
