// Chunks of growing size in a list; the newest one serves requests.
//
// Under the address sanitizer every request has a chunk of its own, freed when
// it is released, so that the sanitizer knows where each request ends.

#include "ir/base/arena.h"

#include "ir/base/exhausted.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
enum { FIRST_CHUNK = 0, LARGEST_CHUNK = 0, KEEPS_SPARE = 0 };
#else
enum { FIRST_CHUNK = 16 * 1024, LARGEST_CHUNK = 1024 * 1024 };
enum { KEEPS_SPARE = 1 };
#endif

// Put the newest spare chunk in front if it has room for `size` bytes.
static struct arena_chunk *arena_reuse(struct arena *a, size_t size)
{
    struct arena_chunk *c = a->spare;
    if (!c || c->size < size)
        return NULL;
    a->spare = c->next;
    c->next = a->chunks;
    a->chunks = c;
    return c;
}

struct arena_chunk *arena_grow(struct arena *a, size_t size)
{
    struct arena_chunk *again = arena_reuse(a, size);
    if (again)
        return again;
    size_t want = a->chunks ? a->chunks->size * 2 : FIRST_CHUNK;
    if (want > LARGEST_CHUNK)
        want = LARGEST_CHUNK;
    if (want < size)
        want = size;
    struct arena_chunk *c = calloc(1, sizeof *c + want);
    if (!c)
        memory_exhausted();
    c->size = want;
    c->next = a->chunks;
    a->chunks = c;
    return c;
}

char *arena_copy(struct arena *a, const void *data, size_t size)
{
    char *p = arena_alloc(a, size + 1);
    if (size)
        memcpy(p, data, size);
    return p;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *p = arena_alloc(a, (size_t)(n < 0 ? 0 : n) + 1);
    va_start(args, format);
    vsnprintf(p, (size_t)(n < 0 ? 0 : n) + 1, format, args);
    va_end(args);
    return p;
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){a->chunks, a->chunks ? a->chunks->used : 0,
                               a->bytes};
}

// Keep a chunk for later growth: memory that was touched costs less.
static void arena_drop(struct arena *a, struct arena_chunk *c)
{
    if (!KEEPS_SPARE) {
        free(c);
        return;
    }
    memset(c->data, 0, c->used);
    c->used = 0;
    c->next = a->spare;
    a->spare = c;
}

void arena_release(struct arena *a, struct arena_mark mark)
{
    while (a->chunks != mark.chunk) {
        struct arena_chunk *next = a->chunks->next;
        arena_drop(a, a->chunks);
        a->chunks = next;
    }
    if (a->chunks) {
        memset(a->chunks->data + mark.used, 0, a->chunks->used - mark.used);
        a->chunks->used = mark.used;
    }
    a->bytes = mark.bytes;
}

void arena_clear(struct arena *a)
{
    arena_release(a, (struct arena_mark){0});
}

// Give chunks back.
static void free_chunks(struct arena_chunk *c)
{
    while (c) {
        struct arena_chunk *next = c->next;
        free(c);
        c = next;
    }
}

void arena_reset(struct arena *a)
{
    free_chunks(a->chunks);
    free_chunks(a->spare);
    *a = (struct arena){0};
}
