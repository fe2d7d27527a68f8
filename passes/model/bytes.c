// What a launch moves to and from DRAM and the L2 cache.
//
//   A[block.y * 128 + ..., k], a wave of 132 blocks in 12 rows of 11
//                                  12 of 132 blocks read other rows of A
//
// Each byte of an array that a launch touches comes from DRAM once.  It comes
// again in later waves if the arrays together are larger than the L2 cache: of
// what is too much.  How many different tiles a wave reads follows from the
// positions of the block that their places depend on; through quotients, as in
// loops over tiles, a wave counts as a square.

#include "passes/model/bytes.h"

#include <math.h>

static const double kept = 0.8; // of the L2 cache, by what is read again

// Return the part of the blocks of a wave that access other places of an array.
static double different(unsigned on, const int64_t grid[3], double wave)
{
    double n = 1, left = wave;
    if (on & ON_QUOTIENT)
        return 1 / sqrt(wave);
    for (int d = 0; d < 3; d++) {
        double side = (double)grid[d] < left ? (double)grid[d] : left;
        n *= on >> d & 1 ? side : 1;
        left = side > 0 ? left / side : left;
    }
    return n / wave;
}

// Return the bytes that an array moves from or to DRAM: `touched` is the most
// that can be different, `moved` what blocks ask for.
static double from_dram(double touched, double moved, double of_waves,
                        double missing)
{
    double least = touched > 0 && touched < moved ? touched : moved;
    double again = of_waves > least ? of_waves - least : 0;
    return least + again * missing;
}

void bytes_find(const struct block_work *work,
                const struct model_device *device, struct model_launch *out)
{
    double blocks = (double)out->blocks, all = 0;
    double wave = (double)out->resident;
    double cache = device->l2_mib * 1024 * 1024 * kept;
    wave = wave > blocks ? blocks : wave;
    vec_foreach(t, &work->arrays)
        all += t->size;
    double missing = all > cache ? 1 - cache / all : 0;
    vec_foreach(t, &work->arrays) {
        double part = different(t->on, work->grid, wave > 1 ? wave : 1);
        double read = t->read * blocks, written = t->written * blocks;
        out->l2_bytes += read + written;
        out->dram_bytes += from_dram(t->size, read, read * part, missing) +
                           from_dram(t->size, written, 0, missing);
    }
}
