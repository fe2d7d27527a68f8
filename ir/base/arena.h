// A bump allocator.  Memory comes zeroed, lives as long as its arena, and is
// released all at once.  One arena lives as long as a compilation, another
// as long as one pass.

#ifndef IR_BASE_ARENA_H
#define IR_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

// Memory from which requests are served one after another.
struct arena_chunk {
    struct arena_chunk *next; // the chunk filled before this one
    size_t size, used;        // of `data`, in bytes
    size_t padding;           // keeps `data` aligned
    char data[];
};

#ifdef __SANITIZE_ADDRESS__
enum { ARENA_ALIGNMENT = 1 };
#else
enum { ARENA_ALIGNMENT = 16 };
#endif

// An arena; all zero is an empty one.
struct arena {
    struct arena_chunk *chunks; // newest first
    struct arena_chunk *spare;  // released and empty, newest first
    size_t bytes;               // handed out since the last reset
};

// Put a chunk with room for `size` bytes in front.
// Out of memory ends the process: the one place where that happens.
struct arena_chunk *arena_grow(struct arena *a, size_t size);

// Return `size` zeroed bytes aligned for any type.
static inline void *arena_alloc(struct arena *a, size_t size)
{
    size_t align = ARENA_ALIGNMENT;
    size = (size + align - 1) & ~(align - 1);
    struct arena_chunk *c = a->chunks;
    if (!c || c->size - c->used < size)
        c = arena_grow(a, size);
    void *p = c->data + c->used;
    c->used += size;
    a->bytes += size;
    return p;
}

// Return a copy of the `size` bytes at `data`, followed by a NUL byte.
char *arena_copy(struct arena *a, const void *data, size_t size);

// Return the text that printf would write.
char *arena_printf(struct arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Release everything and give the memory back; the arena is empty and usable
// again.
void arena_reset(struct arena *a);

// Release everything; the memory serves what is allocated next.
void arena_clear(struct arena *a);

// A point in the life of an arena.
struct arena_mark {
    struct arena_chunk *chunk; // that served requests then
    size_t used, bytes;        // of that chunk; of the arena
};
struct arena_mark arena_mark(const struct arena *a);

// Release what was allocated since the mark.
void arena_release(struct arena *a, struct arena_mark mark);

#define arena_new(a, type) ((type *)arena_alloc(a, sizeof(type)))
#define arena_array(a, type, n)                                                \
    ((type *)arena_alloc(a, sizeof(type) * (size_t)(n)))

#endif
