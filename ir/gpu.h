// What is the same on every GPU.

#ifndef IR_GPU_H
#define IR_GPU_H

enum {
    WARP_LANES = 32,                         // threads of a warp
    GROUP_WARPS = 4,                         // warps of a warpgroup
    GROUP_THREADS = GROUP_WARPS * WARP_LANES // threads of a warpgroup
};

#endif
