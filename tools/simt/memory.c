// Memory: arrays on pages of their own in an arena of address space, so that
// an address names its array, and room between them that belongs to none.
// Pages that nobody accesses cost nothing, so arrays may have any size.

#define _DEFAULT_SOURCE // MAP_ANONYMOUS, MAP_NORESERVE

#include "tools/simt/machine.h"

#include <string.h>
#include <sys/mman.h>

#define ARENA_BYTES ((size_t)1 << 42)
enum { PAGE_SHIFT = 16, CELL_SHIFT_MOST = 3 };
#define PAGE_BYTES  ((size_t)1 << PAGE_SHIFT)
#define PAGES_BYTES (ARENA_BYTES / PAGE_BYTES * sizeof(uint16_t))

// Return zero pages, or NULL.
static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

struct machine *machine_open(void)
{
    struct machine *m = reserve(sizeof *m);
    if (!m)
        return NULL;
    m->n_regions = 1;
    m->fibers = m->all;
    m->used = PAGE_BYTES;
    m->arena = reserve(ARENA_BYTES);
    m->pages = reserve(PAGES_BYTES);
    memset(m->sink, 0xcd, sizeof m->sink);
    if (m->arena && m->pages)
        return m;
    machine_close(m);
    return NULL;
}

// Give the pages back that note who accessed an array.
static void free_records(struct region *r)
{
    if (r->cells)
        munmap(r->cells, r->n_cells * sizeof *r->cells);
    if (r->is_split)
        munmap(r->is_split, r->n_cells << r->shift >> GROUPS_SHIFT);
}

void machine_close(struct machine *m)
{
    for (size_t i = 1; i < m->n_regions; i++)
        free_records(&m->regions[i]);
    if (m->arena)
        munmap(m->arena, ARENA_BYTES);
    if (m->pages)
        munmap(m->pages, PAGES_BYTES);
    if (m->stacks)
        munmap(m->stacks, m->stack_bytes * FIBERS_MOST);
    async_close(m);
    munmap(m, sizeof *m);
}

// Return log2 of the bytes that one record stands for.
static unsigned cell_shift(size_t elem)
{
    unsigned shift = 0;
    while (shift < CELL_SHIFT_MOST && (size_t)2 << shift <= elem)
        shift++;
    return shift;
}

// Give a region its pages.
static void take_pages(struct machine *m, struct region *r, size_t room)
{
    uint16_t number = (uint16_t)(r - m->regions);
    r->base = m->arena + m->used;
    for (size_t page = 0; page < room >> PAGE_SHIFT; page++)
        m->pages[(m->used >> PAGE_SHIFT) + page] = number;
    m->used += room + PAGE_BYTES;
}

// Make the records of an array, whole pages of groups of them.  False if there
// is no room.
static bool make_records(struct region *r)
{
    size_t page = (size_t)1 << GROUPS_SHIFT;
    r->n_cells = ((r->bytes + page) & ~(page - 1)) >> r->shift;
    r->cells = reserve(r->n_cells * sizeof *r->cells);
    if (r->space == SPACE_shared)
        r->is_split = reserve(r->n_cells << r->shift >> GROUPS_SHIFT);
    return r->cells && (r->is_split || r->space != SPACE_shared);
}

struct region *region_add(struct machine *m, const char *name, enum space space,
                          size_t bytes, size_t elem, size_t copies)
{
    struct region *r = &m->regions[m->n_regions];
    size_t stride =
        copies > 1 ? (bytes + SINK_BYTES - 1) & ~(SINK_BYTES - 1UL) : bytes;
    if (m->n_regions == REGIONS_MOST || bytes > ARENA_BYTES / 2 / copies)
        return NULL;
    size_t room = (stride * copies + PAGE_BYTES) & ~(PAGE_BYTES - 1);
    *r = (struct region){.name = name,
                         .space = space,
                         .bytes = stride * copies,
                         .stride = copies > 1 ? stride : 0,
                         .part = bytes,
                         .elem = elem,
                         .shift = cell_shift(elem)};
    if (m->used + room + PAGE_BYTES > ARENA_BYTES || !make_records(r))
        return NULL;
    take_pages(m, r, room);
    m->n_regions++;
    return r;
}

struct region *region_add_shared(struct machine *m, const char *name,
                                 size_t bytes, size_t elem, size_t align,
                                 uint32_t blocks)
{
    uintptr_t start = (uintptr_t)m->arena + m->used;
    size_t copies = blocks > 1 ? blocks + 1 : 1;
    m->shared = (m->shared + align - 1) & ~(align - 1);
    uintptr_t at =
        ((start + SHARED_WINDOW - 1) & ~(SHARED_WINDOW - 1)) + m->shared;
    m->used += at - start;
    size_t skipped = m->used & (PAGE_BYTES - 1);
    m->used -= skipped;
    struct region *r =
        region_add(m, name, SPACE_shared,
                   skipped + SHARED_WINDOW * (copies - 1) + bytes, elem, 1);
    if (!r)
        return NULL;
    r->base += skipped;
    r->bytes -= skipped;
    r->part = bytes;
    r->copy = copies > 1 ? SHARED_WINDOW : 0;
    m->shared += bytes;
    return r;
}

struct region *region_add_constant(struct machine *m, const char *name,
                                   const void *at, size_t bytes)
{
    struct region *r = &m->regions[m->n_regions];
    if (m->n_regions == REGIONS_MOST)
        return NULL;
    *r = (struct region){.name = name,
                         .space = SPACE_constant,
                         .base = (unsigned char *)at,
                         .bytes = bytes,
                         .elem = 1,
                         .is_defined = true,
                         .is_read_only = true};
    m->n_regions++;
    return r;
}

void regions_drop(struct machine *m, size_t n)
{
    for (; m->n_regions > n; m->n_regions--) {
        struct region *r = &m->regions[m->n_regions - 1];
        size_t room = (r->bytes + PAGE_BYTES) & ~(PAGE_BYTES - 1);
        size_t page = (size_t)(r->base - m->arena) >> PAGE_SHIFT;
        if (!r->cells)
            continue;
        free_records(r);
        madvise(r->base, room, MADV_DONTNEED);
        memset(&m->pages[page], 0, (room >> PAGE_SHIFT) * sizeof *m->pages);
        m->used = (size_t)(r->base - m->arena);
    }
}

void region_describe(struct region *r, const struct ir_buffer *buffer,
                     const int64_t *strides)
{
    r->buffer = buffer;
    r->name = buffer->name;
    r->rank = buffer->rank <= SIMT_RANK_MOST ? buffer->rank : 0;
    for (uint32_t i = 0; i < r->rank; i++)
        r->strides[i] = strides[i];
}

// Return the constant that an address outside of the arena lies in.
static struct region *constant_of(struct machine *m, const unsigned char *p)
{
    for (size_t i = 1; i < m->n_regions; i++) {
        struct region *r = &m->regions[i];
        if (!r->cells && p >= r->base && p < r->base + r->bytes)
            return r;
    }
    return &m->regions[0];
}

struct region *region_of(struct machine *m, const void *p)
{
    size_t at = (size_t)((const unsigned char *)p - m->arena);
    if (at >= ARENA_BYTES)
        return constant_of(m, p);
    return &m->regions[m->pages[at >> PAGE_SHIFT]];
}
