// What one access of a warp costs the memory: wavefronts and sectors.
//
// An access of more than 16 bytes a lane is several instructions of 16 bytes,
// and one whose bytes are no power of two several of the largest power of two
// that divides them.

#ifndef PASSES_ANALYSIS_WARP_COST_H
#define PASSES_ANALYSIS_WARP_COST_H

#include "ir/gpu.h"

#include <stdint.h>

enum { BANKS = 32, BANK_BYTES = 4, SECTOR_BYTES = 32 };

// What the lanes of a warp ask for at once.
struct warp_access {
    int64_t at[WARP_LANES]; // the first byte of each, a multiple of the
                            // largest power of two in `bytes`, up to 16
    uint32_t active;        // bit i: lane i takes part
    uint32_t bytes;         // of each lane
};

// What it takes, and what an access of as many bytes takes at least.
struct warp_cost {
    uint32_t taken, least;
};

// Return the bytes of the instructions that an access of `bytes` consists of.
uint32_t warp_piece(uint32_t bytes);

// Return the wavefronts in shared memory.  A wavefront serves 32 lanes that
// ask for up to 4 bytes, 16 that ask for 8, or 8 that ask for 16; of these, it
// serves those whose words are in different banks or are the same word.
struct warp_cost warp_wavefronts(const struct warp_access *w);

// Return the sectors in global memory: aligned blocks of 32 bytes.  The least
// is what the bytes asked for, each counted once, fill.
struct warp_cost warp_sectors(const struct warp_access *w);

#endif
