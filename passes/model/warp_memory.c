// What accesses to memory take: wavefronts, sectors, and waiting.

#include "passes/model/warp.h"

#include <stdlib.h>

enum {
    SHARED_CLOCKS = 30,    // of a read
    RANDOM_WAVEFRONTS = 3, // of 32 random banks
    RANDOM_ATOMICS = 4,
    TAGS = 4 // sectors that one lookup of the L1 cache finds
};

// Set where the lanes are, in bytes.
static void place_lanes(const struct warp *w, const struct ir_buffer *b,
                        const struct lanes *at, uint32_t bytes,
                        struct warp_access *out)
{
    int64_t unit = warp_piece(bytes), element = (int64_t)type_bytes(b->elem);
    *out = (struct warp_access){.active = w->active, .bytes = bytes};
    for (int i = 0; i < WARP_LANES; i++) {
        int64_t byte = (int64_t)((uint64_t)at->at[i] * (uint64_t)element);
        out->at[i] = byte & ~(unit - 1);
    }
}

// Return how many instructions an access of a warp is.
static double pieces(uint32_t bytes)
{
    return bytes ? (double)bytes / warp_piece(bytes) : 1;
}

// Return how many lanes access the same element most.
static uint32_t crowd(const struct warp_access *w)
{
    uint32_t most = 1;
    for (int i = 0; i < WARP_LANES; i++) {
        uint32_t n = 0;
        for (int k = 0; k < WARP_LANES; k++)
            n += (w->active >> k & 1) && w->at[k] == w->at[i];
        if (w->active >> i & 1 && n > most)
            most = n;
    }
    return most;
}

// Add an access to shared memory.
static void shared(struct warp *w, enum move kind, const struct ir_buffer *b,
                   const struct lanes *at, uint32_t bytes)
{
    struct warp_access a;
    place_lanes(w, b, at, bytes, &a);
    double n = pieces(bytes), fronts = n * RANDOM_WAVEFRONTS;
    if (at->trust != LANES_UNKNOWN)
        fronts = warp_wavefronts(&a).taken;
    if (kind == MOVE_atomic)
        fronts *= at->trust == LANES_UNKNOWN ? RANDOM_ATOMICS : crowd(&a);
    warp_hold(w, MODEL_shared, fronts);
    warp_hold(w, MODEL_lsu, fronts);
    warp_hold(w, MODEL_issue, n / 4);
    w->path += fronts;
    if (kind == MOVE_read && w->path + SHARED_CLOCKS > w->ready)
        w->ready = w->path + SHARED_CLOCKS;
}

// Return the part of the sectors that a read does not find in the L1 cache:
// iterations that go on in the same sectors have them.
static double fresh(const struct warp *w, const struct lanes *at,
                    int64_t element)
{
    if (w->depth == 0 || at->trust == LANES_UNKNOWN)
        return 1;
    if (at->depth < w->depth)
        return w->trips > 1 ? 1 / w->trips : 1;
    double step = (double)llabs(at->step) * (double)element;
    return at->drifts || step >= SECTOR_BYTES ? 1 : step / SECTOR_BYTES;
}

// Return whether another warp of the block has read the same at this place, and
// take note of it.
static bool is_seen(struct warp *w, const void *where, const struct lanes *at)
{
    struct span_seen here = {INT64_MAX, INT64_MIN};
    for (int i = 0; i < WARP_LANES; i++) {
        if (!(w->active >> i & 1))
            continue;
        here.low = at->at[i] < here.low ? at->at[i] : here.low;
        here.high = at->at[i] > here.high ? at->at[i] : here.high;
    }
    struct span_seen *known = map_get(w->seen, where);
    if (known)
        return known->low == here.low && known->high == here.high;
    known = arena_new(w->arena, struct span_seen);
    *known = here;
    map_set(w->seen, where, known);
    return false;
}

void warp_move(struct warp *w, enum move kind, const struct ir_buffer *buffer,
               double bytes, unsigned on)
{
    struct block_work *work = w->work;
    struct traffic *t = NULL;
    vec_foreach(known, &work->arrays)
        if (known->buffer == buffer)
            t = known;
    if (!t) {
        struct traffic fresh_one = {.buffer = buffer};
        vec_push(w->arena, &work->arrays, fresh_one);
        t = &work->arrays.at[work->arrays.n - 1];
    }
    t->on |= on;
    if (kind != MOVE_write)
        t->read += bytes * w->warps * w->times;
    if (kind != MOVE_read)
        t->written += bytes * w->warps * w->times;
}

// Add an access to global memory.
static void global(struct warp *w, enum move kind, const void *where,
                   const struct ir_buffer *b, const struct lanes *at,
                   uint32_t bytes)
{
    struct warp_access a;
    place_lanes(w, b, at, bytes, &a);
    double lanes = __builtin_popcount(w->active);
    struct warp_cost c = {(uint32_t)lanes * ((bytes + 31) / SECTOR_BYTES), 0};
    if (at->trust != LANES_UNKNOWN)
        c = warp_sectors(&a);
    double lookups = (double)c.taken / (c.taken > c.least ? TAGS / 2 : TAGS);
    double n = pieces(bytes);
    double sectors = c.taken;
    if (kind == MOVE_read)
        sectors *= is_seen(w, where, at) && at->trust == LANES_EXACT
                       ? 0
                       : fresh(w, at, (int64_t)type_bytes(b->elem));
    warp_move(w, kind, b, sectors * SECTOR_BYTES, at->on);
    warp_hold(w, MODEL_lsu, lookups > n ? lookups : n);
    warp_hold(w, MODEL_issue, n / 4);
    w->path += n;
    if (kind == MOVE_read && at->trust != LANES_EXACT)
        warp_settle(w);
    if (kind == MOVE_read && w->path + warp_latency(w) > w->ready)
        w->ready = w->path + warp_latency(w);
}

void warp_access(struct warp *w, enum move kind, const void *where,
                 const struct ir_buffer *buffer, const struct ir_expr *index,
                 struct type type)
{
    struct lanes at;
    uint32_t bytes = (uint32_t)type_bytes(type);
    if (buffer->space != SPACE_shared && buffer->space != SPACE_global)
        return;
    lanes_of(&w->place, index, &at);
    if (buffer->space == SPACE_shared)
        shared(w, kind, buffer, &at, bytes);
    else
        global(w, kind, where, buffer, &at, bytes);
}
