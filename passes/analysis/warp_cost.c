// Wavefronts and sectors of one access of a warp.

#include "passes/analysis/warp_cost.h"

#include <stdbool.h>

// Numbers, each once.
struct set {
    int64_t at[WARP_LANES];
    uint32_t n;
};

// Return the quotient rounded down.
static int64_t floor_div(int64_t x, int64_t by)
{
    return x / by - (x % by < 0);
}

// Add a number unless it is there; returns whether it was not.
static bool set_add(struct set *s, int64_t x)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->at[i] == x)
            return false;
    s->at[s->n++] = x;
    return true;
}

// Return whether a lane takes part.
static bool is_active(const struct warp_access *w, uint32_t lane)
{
    return w->active >> lane & 1;
}

uint32_t warp_piece(uint32_t bytes)
{
    uint32_t power = bytes & -bytes;
    return power < 16 ? power : 16;
}

// Return the most different words that lanes from..to of an instruction need
// of one bank; 0 if none of them takes part.  The instruction begins `offset`
// bytes into what each lane asks for, and is `words` words wide.
static uint32_t depth_of(const struct warp_access *w, uint32_t from,
                         uint32_t to, uint32_t offset, uint32_t words)
{
    struct set seen = {.n = 0};
    uint32_t in_bank[BANKS] = {0}, deepest = 0;
    for (uint32_t lane = from; lane < to; lane++) {
        int64_t first = floor_div(w->at[lane] + offset, BANK_BYTES);
        for (uint32_t i = 0; i < words && is_active(w, lane); i++) {
            int64_t word = first + i;
            uint32_t bank = (uint32_t)(uint64_t)word % BANKS;
            if (set_add(&seen, word) && ++in_bank[bank] > deepest)
                deepest = in_bank[bank];
        }
    }
    return deepest;
}

struct warp_cost warp_wavefronts(const struct warp_access *w)
{
    struct warp_cost cost = {0, 0};
    uint32_t piece = warp_piece(w->bytes);
    uint32_t words = piece > BANK_BYTES ? piece / BANK_BYTES : 1;
    uint32_t group = WARP_LANES / words;
    for (uint32_t offset = 0; offset < w->bytes; offset += piece) {
        for (uint32_t lane = 0; lane < WARP_LANES; lane += group) {
            uint32_t depth = depth_of(w, lane, lane + group, offset, words);
            cost.taken += depth;
            cost.least += depth > 0;
        }
    }
    return cost;
}

struct warp_cost warp_sectors(const struct warp_access *w)
{
    struct warp_cost cost = {0, 0};
    uint32_t piece = warp_piece(w->bytes);
    for (uint32_t offset = 0; offset < w->bytes; offset += piece) {
        struct set sectors = {.n = 0}, places = {.n = 0};
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            if (!is_active(w, lane))
                continue;
            set_add(&places, w->at[lane] + offset);
            set_add(&sectors, floor_div(w->at[lane] + offset, SECTOR_BYTES));
        }
        cost.taken += sectors.n;
        cost.least += (places.n * piece + SECTOR_BYTES - 1) / SECTOR_BYTES;
    }
    return cost;
}
