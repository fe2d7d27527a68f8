// Copies by the asynchronous proxy: TMA tiles of tensors (TMA) and runs of
// bytes, into shared memory, where they signal an mbarrier, and out of it,
// where their thread waits for them in groups.

#include "tools/simt/async.h"

#include "ir/arith.h"
#include "tools/simt/intrinsics.h"

#include <string.h>

enum { CHUNK = 16, SHARED_ALIGNMENT = 128, LINE = 128, BULK = 16 };
enum { RANK = 7, OWN_BLOCK = 8 }; // of the numbers of rows

// ---- Places ---------------------------------------------------------------

// Return the elements of a TMA tile.
static uint64_t elements_of(const struct tma_copy *c)
{
    uint64_t n = 1;
    for (uint32_t d = 0; d < c->map.rank; d++)
        n *= c->map.box[d];
    return n;
}

// Return where a byte of the TMA tile lies in shared memory.
static unsigned char *place_in_shared(const struct tma_copy *c, uint64_t offset)
{
    uintptr_t p = (uintptr_t)c->shared + offset;
    uintptr_t mask = c->map.swizzle ? c->map.swizzle / CHUNK - 1 : 0;
    return pointer_of(p ^ (p / LINE & mask) * CHUNK);
}

// Return where an element of the TMA tile lies in the tensor, NULL outside of
// it.
static unsigned char *place_in_global(const struct tma_copy *c, uint64_t i)
{
    uint64_t p = (uintptr_t)c->map.base;
    for (uint32_t d = 0; d < c->map.rank; d++) {
        int64_t at = c->at[d] + (int64_t)(i % c->map.box[d]);
        i /= c->map.box[d];
        if (at < 0 || at >= c->map.size[d])
            return NULL;
        p += (uint64_t)(at * c->map.stride[d]);
    }
    return pointer_of(p);
}

// ---- Records --------------------------------------------------------------

// Describe one side of a copy.
static struct under_way side_of(const struct tma_copy *c, uint32_t bytes,
                                bool is_write)
{
    return (struct under_way){.bytes = bytes,
                              .align = bytes & -bytes,
                              .kind = (is_write ? ACCESS_WRITE : ACCESS_READ) |
                                      ACCESS_LATER,
                              .agent = c->agent,
                              .by_proxy = true,
                              .site = c->site};
}

// Return whether the TMA tile begins where hardware copies from and to: at a
// multiple of 128 bytes in shared memory, and of 16 bytes in a row of the tensor.
static bool is_aligned(const struct tma_copy *c)
{
    if (c->is_bulk)
        return (uintptr_t)c->shared % CHUNK == 0;
    return (uintptr_t)c->shared % SHARED_ALIGNMENT == 0 &&
           c->at[0] * (int64_t)c->map.bytes % CHUNK == 0;
}

// Note that the copy of the TMA tile in shared memory is in flight. Returns
// false if the tile is not where it may be.
static bool begin_shared(struct machine *m, const struct tma_copy *c)
{
    struct under_way u = side_of(c, CHUNK, c->is_load);
    uint64_t n = elements_of(c) * c->map.bytes;
    if (!is_aligned(c)) {
        finding_add(m, SIMT_FAULT_misaligned, c->site, region_of(m, c->shared),
                    c->shared);
        return false;
    }
    for (uint64_t offset = 0; offset < n; offset += CHUNK) {
        unsigned char *p = place_in_shared(c, offset);
        if (!c->is_load)
            access_need_fence(m, p, CHUNK, c->site);
        if (!access_begin(m, p, &u))
            return false;
    }
    return true;
}

// Note that the copy of this part of the tensor is in flight.
static bool begin_global(struct machine *m, const struct tma_copy *c)
{
    struct under_way u = side_of(c, c->map.bytes, !c->is_load);
    uint64_t n = elements_of(c);
    for (uint64_t i = 0; i < n; i++) {
        unsigned char *p = place_in_global(c, i);
        if (p && !access_begin(m, p, &u))
            return false;
    }
    return true;
}

// Note that an agent has done it.
static void end_shared(struct machine *m, const struct tma_copy *c,
                       uint32_t agent, uint32_t stamp)
{
    struct under_way u = side_of(c, CHUNK, c->is_load);
    uint64_t n = elements_of(c) * c->map.bytes;
    for (uint64_t offset = 0; offset < n; offset += CHUNK)
        access_end(m, place_in_shared(c, offset), &u, agent, stamp);
}

// End the accesses of a copy to global memory.
static void end_global(struct machine *m, const struct tma_copy *c,
                       uint32_t agent, uint32_t stamp)
{
    struct under_way u = side_of(c, c->map.bytes, !c->is_load);
    uint64_t n = elements_of(c);
    for (uint64_t i = 0; i < n; i++) {
        unsigned char *p = place_in_global(c, i);
        if (p)
            access_end(m, p, &u, agent, stamp);
    }
}

// ---- Events ---------------------------------------------------------------

// Load an element, rounded where the map says so: TMA is taken to round to
// nearest as the operation `tf32` does. Which way ties go is not documented.
static void load_element(const struct tensor_map *map, unsigned char *to,
                         const unsigned char *from)
{
    float x;
    memcpy(to, from, map->bytes);
    if (!map->rounds)
        return;
    memcpy(&x, to, sizeof x);
    x = arith_tf32(x);
    memcpy(to, &x, sizeof x);
}

// Copy the TMA tile: what is outside of the tensor reads as 0 and is not
// written.
static void copy_tile(const struct tma_copy *c)
{
    uint64_t n = elements_of(c), bytes = c->map.bytes;
    for (uint64_t i = 0; i < n; i++) {
        unsigned char *s = place_in_shared(c, i * bytes);
        unsigned char *g = place_in_global(c, i);
        if (c->is_load && g)
            load_element(&c->map, s, g);
        else if (c->is_load)
            memset(s, 0, bytes);
        else if (g)
            memcpy(g, s, bytes);
    }
}

// A load is done.
static void loaded(struct machine *m, struct event *e)
{
    const struct tma_copy *c = &e->copy;
    uint32_t stamp = mbarrier_bring(m, e->signals);
    copy_tile(c);
    end_shared(m, c, c->agent, stamp);
    end_global(m, c, c->agent, stamp);
    mbarrier_complete(m, e->signals, (int64_t)(elements_of(c) * c->map.bytes),
                      0);
}

// A store is done, though its thread does not know yet.
static void stored(struct machine *m, struct event *e)
{
    (void)m;
    copy_tile(&e->copy);
}

// Begin a load into the shared memory of a block, which signals its mbarrier.
static void begin_load(struct machine *m, struct tma_copy c, uint32_t rank,
                       unsigned char *bar)
{
    unsigned char *own = own_address(m, c.shared);
    c.shared = address_in(m, own, rank);
    struct mbarrier *b = mbarrier_at(m, address_in(m, bar, rank), c.site);
    if (!b)
        return;
    mbarrier_need_fence(m, b, c.site);
    b->user = m->current->number;
    c.agent = mbarrier_agent(m, b);
    c.is_load = true;
    if (!begin_shared(m, &c) || !begin_global(m, &c))
        return;
    struct event *e = event_new(m, loaded);
    if (!e)
        return;
    e->signals = b;
    e->copy = c;
    event_ready(m, e);
}

// Begin a load into one block or, by a mask, several.
static void load(struct machine *m, const struct tma_copy *c,
                 const uint64_t *bar, uint64_t mask, bool has_mask)
{
    uint32_t blocks = m->n_fibers / m->threads;
    unsigned char *p = own_address(m, pointer_of(*bar));
    if (!has_mask) {
        begin_load(m, *c, rank_of(m, c->shared), p);
        return;
    }
    for (uint32_t r = 0; r < blocks; r++)
        if (mask >> r & 1)
            begin_load(m, *c, r, p);
}

// Begin a store.
static void store(struct machine *m, struct tma_copy c)
{
    c.shared = own_address(m, c.shared);
    c.agent = m->current->number;
    if (!begin_shared(m, &c) || !begin_global(m, &c))
        return;
    struct event *e = event_new(m, stored);
    if (!e)
        return;
    e->copy = c;
    e->group = m->current->bulk_group + 1;
    event_ready(m, e);
}

// ---- Called by the code ---------------------------------------------------

// Describe a TMA tile copy at some coordinates.  Returns false after noting
// that there is no such map.
static bool describe(struct machine *m, const struct site *s, uint64_t map,
                     const uint64_t *at, struct tma_copy *out)
{
    const struct tensor_map *t = pointer_of(map);
    *out = (struct tma_copy){.site = s};
    if (t < m->maps || t >= m->maps + m->n_maps ||
        t->rank != (s->bytes & RANK)) {
        finding_add(m, SIMT_FAULT_descriptor, s, NULL, NULL);
        return false;
    }
    out->map = *t;
    for (uint32_t d = 0; d < t->rank; d++)
        out->at[d] = (int32_t)at[d];
    return true;
}

uint64_t tensor_load(struct machine *m, const struct site *s, const uint64_t *o)
{
    struct tma_copy c;
    uint32_t rank = s->bytes & RANK;
    bool has_mask = !(s->bytes & OWN_BLOCK) && o[5 + rank];
    if (!describe(m, s, o[2], &o[3], &c))
        return 0;
    c.shared = pointer_of(o[0]);
    load(m, &c, &o[1], o[3 + rank], has_mask);
    return 0;
}

uint64_t tensor_store(struct machine *m, const struct site *s,
                      const uint64_t *o)
{
    struct tma_copy c;
    if (!describe(m, s, o[1], &o[2], &c))
        return 0;
    c.shared = pointer_of(o[0]);
    store(m, c);
    return 0;
}

// Describe a copy of bytes.
static struct tma_copy bytes_of(const struct site *s, uint64_t shared,
                                uint64_t global, uint64_t bytes)
{
    return (struct tma_copy){.site = s,
                             .is_bulk = true,
                             .map = {.base = pointer_of(global),
                                     .rank = 1,
                                     .bytes = BULK,
                                     .size = {(int64_t)bytes / BULK},
                                     .stride = {BULK},
                                     .box = {(uint32_t)bytes / BULK}},
                             .shared = pointer_of(shared)};
}

// Return whether a run has a number of bytes that TMA copies; else a
// finding says so.
static bool is_whole(struct machine *m, const struct site *s, uint64_t shared,
                     uint64_t bytes)
{
    void *p = pointer_of(shared);
    if (bytes % BULK)
        finding_add(m, SIMT_FAULT_misaligned, s, region_of(m, p), p);
    return bytes % BULK == 0;
}

uint64_t bulk_load(struct machine *m, const struct site *s, const uint64_t *o)
{
    struct tma_copy c = bytes_of(s, o[0], o[2], o[3]);
    bool has_mask = !(s->bytes & OWN_BLOCK) && o[6];
    if (!is_whole(m, s, o[0], o[3]))
        return 0;
    load(m, &c, &o[1], o[4], has_mask);
    return 0;
}

uint64_t bulk_store(struct machine *m, const struct site *s, const uint64_t *o)
{
    if (is_whole(m, s, o[1], o[2]))
        store(m, bytes_of(s, o[1], o[0], o[2]));
    return 0;
}

uint64_t bulk_commit(struct machine *m, const struct site *s, const uint64_t *o)
{
    (void)s, (void)o;
    m->current->bulk_group++;
    return 0;
}

// Wait for the stores of this thread but those of the last `most` groups.
static void wait_stores(struct machine *m, uint64_t most, bool for_reads)
{
    struct async *a = m->async;
    struct fiber *f = m->current;
    uint64_t open = f->bulk_group + 1;
    f->stamp = ++m->clock;
    for (uint32_t i = 0; i < a->n_events; i++) {
        struct event *e = &a->events[i];
        if (!e->group || e->fiber != f->number || e->group + most >= open)
            continue;
        event_settle(m, e);
        if (!e->is_read)
            end_shared(m, &e->copy, f->number, f->stamp);
        e->is_read = true;
        if (for_reads)
            continue;
        end_global(m, &e->copy, f->number, f->stamp);
        e->group = 0;
    }
}

uint64_t bulk_wait(struct machine *m, const struct site *s, const uint64_t *o)
{
    (void)s;
    wait_stores(m, o[0], false);
    return 0;
}

uint64_t bulk_wait_read(struct machine *m, const struct site *s,
                        const uint64_t *o)
{
    (void)s;
    wait_stores(m, o[0], true);
    return 0;
}

void tensor_end(struct machine *m, const struct event *e)
{
    bool is_late =
        e->group ? !e->is_read : e->happen == loaded && !e->has_happened;
    if (!is_late)
        return;
    m->current = &m->fibers[e->fiber];
    finding_add(m, SIMT_FAULT_async_unfinished, e->copy.site, NULL, NULL);
    m->current = NULL;
}
