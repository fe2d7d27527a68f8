// How long a lowered kernel takes on a device: an estimate, without running it.
//
// A launch is as slow as its slowest limit (limits.def): bytes over bandwidths,
// instructions over the rates of their pipes, and waiting.  One block in the
// middle of the grid is followed, and in it a few warps, with the numbers that
// their 32 lanes have: so trip counts, guards, sectors and bank conflicts are
// those of these warps.  What data decides is guessed: half of a branch,
// sixteen iterations of a loop, random places of an array.
//
// It orders candidates; it is no measurement.  README.md says how it was
// compared with measured times.

#ifndef PASSES_MODEL_MODEL_H
#define PASSES_MODEL_MODEL_H

#include "ir/ir.h"

// What a launch may be bound by.
enum model_limit {
#define LIMIT(name, meaning) MODEL_##name,
#include "passes/model/limits.def"
#undef LIMIT
    MODEL_LIMITS
};

// What an SM gets of the L2 cache in a clock, in bytes.
enum { MODEL_L2_BYTES = 64 };

// Matrix instructions by the type of their operands.
enum model_matrix { MODEL_half, MODEL_tf32, MODEL_byte, MODEL_f64_matrix };
enum { MODEL_MATRICES = MODEL_f64_matrix + 1 };

// A device: a row of devices.def.
struct model_device {
    const char *name;
    unsigned sm; // compute capability times ten
    int sms;
    double clock;                   // GHz
    double dram, l2;                // GB/s
    double l2_mib;                  // of the L2 cache
    double launch;                  // us of an empty kernel
    double latency;                 // ns
    int threads;                    // resident on an SM
    int shared;                     // KiB of an SM
    double fma, f64, mufu, integer; // lanes a clock and SM
    double matrix[MODEL_MATRICES];  // multiplications a clock and SM
    double mma;                     // part of these that mma.sync reaches
};

// The registers of a thread, as the assembler has made them, of the launch with that
// entry.
struct model_code {
    const char *entry;
    int registers;
};

// What is asked: how long a kernel at level flat takes.
struct model_question {
    const struct ir_kernel *kernel;
    const int64_t
        *values; // of each parameter that is a size or an integer, in the
                 // order of kernel->params
    const struct model_device *device;
    struct VEC(
        struct model_code) code; // of launches without, registers are guessed
};

// What is predicted of a launch.
struct model_launch {
    const struct ir_launch *launch;
    double us;                   // all of it
    double limits[MODEL_LIMITS]; // us of each limit
    enum model_limit binding;    // the slowest of these
    double launch_us;            // before it does anything
    double tail_us; // that the last wave adds: SMs without a block, or with a
                    // tile less
    int64_t blocks;
    int threads;           // of a block
    int64_t blocks_per_sm; // that are resident
    int64_t resident;      // on all SMs
    double occupancy;      // of the threads that an SM can have
    double waves;          // blocks over those that are resident
    int registers; // of a thread: known, a bound of the launch, or a guess
    int64_t shared_bytes; // of a block
    double dram_bytes, l2_bytes;
};

// What is predicted of a kernel.
struct model_time {
    double us; // of all launches, one after the other
    struct VEC(struct model_launch) launches;
};

// Return device `i` of the table, NULL behind the last one.
const struct model_device *model_device_at(size_t i);
// Return the device of that name, letters of any case; NULL if there is none.
const struct model_device *model_device_named(const char *name);
// Return the device that a driver calls so, "NVIDIA H100 80GB HBM3": one whose name is
// among these words; NULL if there is none.
const struct model_device *model_device_called(const char *text);
// Return the device that stands for a compute capability: the newest that is
// not newer; the oldest if all are.
const struct model_device *model_device_for(unsigned sm);

// Return the name and the meaning of a limit.
const char *model_limit_name(enum model_limit limit);
const char *model_limit_meaning(enum model_limit limit);

// Return the launch that takes longest, whose limit is that of the kernel; NULL
// if there is none.
const struct model_launch *model_slowest(const struct model_time *time);

// Return the microseconds that a kernel needs by its rates alone, with no time for
// launches and waiting, and set `by` to the limit of its slowest launch.
double model_least(const struct model_time *time, enum model_limit *by);

// Predict a kernel.  Returns false if the grid of a launch has no value, or the kernel
// is not at level flat.
bool model_time(struct arena *a, const struct model_question *question,
                struct model_time *out);

#endif
