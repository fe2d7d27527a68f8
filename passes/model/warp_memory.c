// What accesses to memory take: wavefronts, sectors, and waiting.

#include "passes/model/warp.h"

#include <math.h>
#include <stdlib.h>

enum {
    SHARED_CLOCKS = 30,    // of a read
    CLUSTER_CLOCKS = 220,  // of one from another block of the cluster
    L1_CLOCKS = 35,        // of a read that the L1 cache serves
    L2_CLOCKS = 270,       // that the L2 cache does
    RANDOM_WAVEFRONTS = 3, // of 32 random banks
    RANDOM_ATOMICS = 4,
    GROUP_BYTES = 16,
    LINE_BYTES = 128 // that one lookup of the L1 cache finds
};

void warp_places(const struct warp *w, const struct ir_buffer *buffer,
                 const struct lanes *at, uint32_t bytes,
                 struct warp_access *out)
{
    int64_t unit = warp_piece(bytes);
    int64_t element = (int64_t)type_bytes(buffer->elem);
    *out = (struct warp_access){.active = w->active, .bytes = bytes};
    for (int i = 0; i < WARP_LANES; i++) {
        int64_t byte = (int64_t)((uint64_t)lanes_at(at, i) * (uint64_t)element);
        out->at[i] = byte & ~(unit - 1);
    }
}

// Return how many instructions an access of a warp is.
static double pieces(uint32_t bytes)
{
    return bytes ? (double)bytes / warp_piece(bytes) : 1;
}

// ---- Shared memory --------------------------------------------------------

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

// Return the clocks of a read of the 16 bytes around each place.
static double wide_fronts(const struct warp_access *w)
{
    struct warp_access wide = *w;
    wide.bytes = GROUP_BYTES;
    for (int i = 0; i < WARP_LANES; i++)
        wide.at[i] &= ~(int64_t)(GROUP_BYTES - 1);
    return warp_wavefronts(&wide).taken;
}

// Return what a read adds to those before it, of clocks and of instructions: one
// of the same 16 bytes is part of the first, which becomes wider.
static double joined(struct warp *w, const struct ir_buffer *buffer,
                     const struct warp_access *a, double fronts, double *n)
{
    uint64_t epoch = w->epoch << 32 | w->place.first;
    struct reuse_group *g = reuse_group(w->reuse, epoch, buffer, a);
    uint32_t words = g ? reuse_words(a) : 0;
    if (!g)
        return fronts;
    bool is_first = !g->words, is_known = (g->words & words) == words;
    g->words |= words;
    if (is_first) {
        g->narrow = fronts;
        g->wide = wide_fronts(a);
        return fronts;
    }
    *n = 0;
    double more =
        (g->wide - g->narrow) * a->bytes / (GROUP_BYTES - a->bytes + 1);
    return is_known || more < 0 ? 0 : more;
}

void warp_shared(struct warp *w, enum move kind, const struct ir_buffer *buffer,
                 const struct lanes *at, uint32_t bytes)
{
    struct warp_access a;
    warp_places(w, buffer, at, bytes, &a);
    double n = pieces(bytes), fronts = n * RANDOM_WAVEFRONTS;
    if (at->trust != LANES_UNKNOWN) {
        fronts = warp_wavefronts(&a).taken;
        if (kind == MOVE_read)
            fronts = joined(w, buffer, &a, fronts, &n);
    }
    if (kind == MOVE_atomic)
        fronts *= at->trust == LANES_UNKNOWN ? RANDOM_ATOMICS : crowd(&a);
    warp_hold(w, MODEL_shared, fronts);
    warp_hold(w, MODEL_lsu, fronts);
    warp_hold(w, MODEL_issue, n / 4);
    warp_pass(w, n);
    double clocks = buffer->of_cluster ? CLUSTER_CLOCKS : SHARED_CLOCKS;
    w->loads += kind == MOVE_read && n > 0;
    if (kind == MOVE_read && w->path + fronts + clocks > w->ready)
        w->ready = w->path + fronts + clocks;
}

// ---- Global memory --------------------------------------------------------

// Return the part of the sectors of a read that an iteration does not find in the
// L1 cache because the one before was in them: those of a short loop come once.
static double fresh(const struct warp *w, const struct lanes *at,
                    int64_t element)
{
    if (w->depth == 0 || at->trust == LANES_UNKNOWN)
        return 1;
    double once = w->trips > 1 ? 1 / w->trips : 1;
    if (at->depth < w->depth)
        return once;
    double step = (double)llabs(at->step) * (double)element;
    if (at->drifts || step >= SECTOR_BYTES)
        return 1;
    return step > once * SECTOR_BYTES ? step / SECTOR_BYTES : once;
}

// Return the bytes of an array; 0 if its extents have no value.
static double size_of(const struct lanes_place *p, const struct ir_buffer *b)
{
    double n = (double)type_bytes(b->elem);
    for (uint32_t d = 0; d < b->rank; d++) {
        struct lanes extent;
        lanes_of(p, b->shape[d], &extent);
        n *= lanes_is_number(&extent) ? (double)extent.at[0] : 0;
    }
    return n;
}

struct traffic *warp_traffic(struct warp *w, const struct ir_buffer *buffer)
{
    struct block_work *work = w->work;
    vec_foreach(known, &work->arrays)
        if (known->buffer == buffer)
            return known;
    struct traffic t = {.buffer = buffer, .size = size_of(&w->place, buffer)};
    vec_push(w->arena, &work->arrays, t);
    return &work->arrays.at[work->arrays.n - 1];
}

void warp_move(struct warp *w, enum move kind, const struct ir_buffer *buffer,
               double bytes, unsigned on)
{
    struct traffic *t = warp_traffic(w, buffer);
    t->on |= on;
    if (kind != MOVE_write)
        t->read += bytes * w->warps * w->times;
    if (kind != MOVE_read)
        t->written += bytes * w->warps * w->times;
}

// Return how many lookups of the L1 cache an access takes: lines of 128 bytes.
static double lines(const struct warp_access *a)
{
    int64_t seen[WARP_LANES];
    int n = 0;
    for (int i = 0; i < WARP_LANES; i++) {
        int64_t line = a->at[i] / LINE_BYTES;
        bool is_new = a->active >> i & 1;
        for (int k = n; k-- > 0 && is_new;)
            is_new = seen[k] != line;
        if (is_new)
            seen[n++] = line;
    }
    return n;
}

double warp_load(struct warp *w, const struct ir_buffer *buffer, double bytes)
{
    const struct traffic *t = warp_traffic(w, buffer);
    double all = bytes * w->warps * w->times * (double)w->work->blocks;
    double cold = t->size > 0 && t->size < all ? t->size / all : 1;
    w->since.loaded += bytes * w->warps;
    w->since.fetched += bytes * w->warps * cold;
    return cold;
}

// Wait for a read of `sectors`, a part of which the L1 cache has not: of an array
// that blocks read again, most comes from the L2 cache.  The reads of a loop that is
// expanded wait together, for the one that the L1 cache has not.
static void await(struct warp *w, const struct ir_buffer *buffer,
                  double sectors, double part)
{
    double cold = warp_load(w, buffer, sectors * part * SECTOR_BYTES);
    double beyond = L2_CLOCKS + cold * (warp_latency(w) - L2_CLOCKS);
    double any = w->unrolled ? fmin(part * w->expanded, 1) : part;
    double clocks = L1_CLOCKS + any * (beyond - L1_CLOCKS);
    w->loads++;
    if (w->path + clocks > w->ready)
        w->ready = w->path + clocks;
}

// Return the part of the sectors of a read that come from the L2 cache.
static double part_beyond(struct warp *w, const struct ir_buffer *buffer,
                          const struct lanes *at, const struct warp_access *a,
                          uint32_t taken)
{
    if (at->trust == LANES_UNKNOWN || !taken)
        return 1;
    uint64_t space = at->trust == LANES_EXACT ? 0 : w->place.first + 1;
    double part = reuse_sectors(w->reuse, w->loop, space, buffer, a);
    part /= taken;
    part = part > 1 ? 1 : part;
    return part * fresh(w, at, (int64_t)type_bytes(buffer->elem));
}

// Return whether the same read was made before, between the same barriers.
static bool is_known(struct warp *w, const struct ir_buffer *buffer,
                     const struct lanes *at, const struct warp_access *a)
{
    uint64_t epoch = w->epoch << 32 | w->place.first;
    struct reuse_group *g = NULL;
    if (at->trust == LANES_EXACT)
        g = reuse_group(w->reuse, epoch, buffer, a);
    uint32_t words = g ? reuse_words(a) : 0;
    bool known = g && (g->words & words) == words;
    if (g)
        g->words |= words;
    return known;
}

void warp_global(struct warp *w, enum move kind, const struct ir_buffer *buffer,
                 const struct lanes *at, uint32_t bytes)
{
    struct warp_access a;
    warp_places(w, buffer, at, bytes, &a);
    uint32_t of_lane = (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    uint32_t sectors = (uint32_t)__builtin_popcount(w->active) * of_lane;
    double n = pieces(bytes), lookups = sectors, part = 1;
    if (kind == MOVE_read && is_known(w, buffer, at, &a))
        return;
    if (at->trust != LANES_UNKNOWN) {
        sectors = warp_sectors(&a).taken;
        lookups = lines(&a);
    }
    if (kind == MOVE_read)
        part = part_beyond(w, buffer, at, &a, sectors);
    warp_move(w, kind, buffer, sectors * part * SECTOR_BYTES, at->on);
    warp_hold(w, MODEL_lsu, lookups > n ? lookups : n);
    warp_hold(w, MODEL_issue, n / 4);
    warp_pass(w, lookups > n ? lookups : n);
    if (kind == MOVE_read && at->trust != LANES_EXACT)
        warp_settle(w);
    if (kind == MOVE_read)
        await(w, buffer, sectors, part);
}

void warp_access(struct warp *w, enum move kind, const struct ir_buffer *buffer,
                 const struct ir_expr *index, struct type type)
{
    struct lanes at;
    uint32_t bytes = (uint32_t)type_bytes(type);
    if (!w->active)
        return;
    if (buffer->space != SPACE_shared && buffer->space != SPACE_global)
        return;
    lanes_of(&w->place, index, &at);
    if (buffer->space == SPACE_shared)
        warp_shared(w, kind, buffer, &at, bytes);
    else
        warp_global(w, kind, buffer, &at, bytes);
}
