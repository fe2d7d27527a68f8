/* ingot_pipeline.h: host arrays through a kernel in pieces, so that the copies
 * to the GPU, the kernel and the copies back go on at the same time.
 *
 * An array of the host is cut into chunks.  Chunk c runs in lane c % lanes: memory
 * of the GPU for one chunk of each array, and a stream for its kernel.  One stream
 * has the copies to the GPU of all chunks, in their order, another the copies back;
 * events let each wait for what it needs, and no more.  The GPU needs memory for
 * `lanes` chunks, not for the arrays.
 *
 * Nothing hides the first copy in and the last copy back.  So the first and the
 * last chunk are small, and sizes double from the one side and halve to the other:
 * 1 2 4 8 16 16 ... 16 8 4 2 1 times `least`.
 *
 * A copy runs beside others only if its host memory is pinned.  What is not goes
 * through a pinned buffer of the lane, its stage, that is filled before the copy
 * in, and emptied when the lane comes round again.  One thread copies slower than
 * the bus, so `copiers` threads do: the one that calls, and those that
 * ingot_pipeline_create makes, which sleep between runs.
 *
 *   static enum ingot_status add(void *module, CUstream stream, int64_t first,
 *                                int64_t count, void *const *arrays)
 *   {
 *       return vadd(module, stream, count, arrays[0], arrays[1], arrays[2], 0);
 *   }
 *
 *   struct ingot_pipeline p = {.chunk = 1 << 22, .lane_count = 4,
 *                              .array_count = 3,
 *                              .arrays = {{INGOT_PIPELINE_IN, 4},
 *                                         {INGOT_PIPELINE_IN, 4},
 *                                         {INGOT_PIPELINE_OUT, 4}}};
 *   void *host[] = {A, B, C};
 *   if (ingot_pipeline_create(&p) || ingot_pipeline_run(&p, n, host, add, module))
 *       fprintf(stderr, "%s\n", p.text);
 *   ingot_pipeline_destroy(&p);
 *
 * This header and ingot_pipeline.c are optional; they need ingot_copiers.h and .c,
 * ingot.h, and nothing of ingot.c but ingot_status_text.  All functions work in the current context of
 * the thread.  A pipeline is used by one thread at a time. */

#ifndef INGOT_PIPELINE_H
#define INGOT_PIPELINE_H

#include "ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most arrays, lanes and copying threads of a pipeline, and the longest text. */
enum {
    INGOT_PIPELINE_ARRAYS = 8,
    INGOT_PIPELINE_LANES = 16,
    INGOT_PIPELINE_COPIERS = 64,
    INGOT_PIPELINE_TEXT = 256
};

/* What becomes of an array, combined with `|`; at least IN or OUT. */
enum ingot_pipeline_flow {
    INGOT_PIPELINE_IN = 1,  /* copied to the GPU before the kernel */
    INGOT_PIPELINE_OUT = 2, /* copied back behind it */
    INGOT_PIPELINE_PINNED =
        4 /* the host's array is pinned: it needs no stage */
};

/* One array.  An element is what chunks are counted in: a number, or a row. */
struct ingot_pipeline_array {
    uint32_t flow;  /* enum ingot_pipeline_flow */
    uint64_t bytes; /* of one element */
};

struct ingot_copiers; /* ingot_copiers.h */

/* What chunks run in.  Each buffer has room for `chunk` elements. */
struct ingot_pipeline_lane {
    CUstream stream; /* its own, of the kernel; not a default stream */
    void *arrived;   /* CUevents: its chunk is on the GPU ... */
    void *computed;  /* ... is computed ... */
    void *returned;  /* ... is back */
    void *device[INGOT_PIPELINE_ARRAYS]; /* memory of the GPU */
    void *stage[INGOT_PIPELINE_ARRAYS];  /* pinned; unused for PINNED arrays */
};

/* A pipeline.  Set what is not wanted to 0, and fill in the first part.  The
 * streams and lanes are the caller's, or made by ingot_pipeline_create. */
struct ingot_pipeline {
    const char *driver; /* path of libcuda; NULL: the system's */
    int64_t chunk;      /* most elements of a chunk, at least 1 */
    int64_t least;      /* of the first and last; `chunk`: all alike; 0: 1/16 */
    uint32_t lane_count;  /* 1 to INGOT_PIPELINE_LANES; 3 or more hide copies */
    uint32_t array_count; /* 1 to INGOT_PIPELINE_ARRAYS */
    uint32_t copiers;     /* threads that copy to and from stages; 0: 4 */
    struct ingot_pipeline_array arrays[INGOT_PIPELINE_ARRAYS];
    CUstream in, out; /* of the copies to the GPU, and back */
    struct ingot_pipeline_lane lanes[INGOT_PIPELINE_LANES];

    struct ingot_copiers *team; /* NULL: only the thread that calls copies */
    char
        text[INGOT_PIPELINE_TEXT]; /* of the last failure: chunk, call, cause */
};

/* Queues the kernel for elements `first` to `first + count` into `stream`, and
 * does not wait; arrays[i] is where these elements of array i are on the GPU.
 * The launch function of a generated header does it. */
typedef enum ingot_status ingot_pipeline_compute(void *context, CUstream stream,
                                                 int64_t first, int64_t count,
                                                 void *const *arrays);

/* Makes streams that do not wait for the default stream, events, memory of the
 * GPU and stages for all lanes: lanes * chunk * bytes of each array, and as much
 * pinned memory for each that is not PINNED.  If one is not, copiers - 1 threads,
 * too.  After a failure nothing is left. */
INGOT_API enum ingot_status ingot_pipeline_create(struct ingot_pipeline *p);

/* Takes `count` elements of the arrays host[0], host[1], ... through `compute`,
 * and returns when all of them are back.  Arrays of flow OUT overlap no other.
 * Allocates nothing, starts no thread.  After a failure no chunk is begun any more, the lanes are
 * waited for, and what the outputs hold is not said: INGOT_INVALID for a pipeline
 * that is not as above, INGOT_BAD_SIZE, INGOT_NULL_ARRAY, INGOT_OVERFLOW,
 * INGOT_DRIVER and the like for a call of the driver, or what `compute` returned. */
INGOT_API enum ingot_status ingot_pipeline_run(struct ingot_pipeline *p,
                                               int64_t count, void *const *host,
                                               ingot_pipeline_compute *compute,
                                               void *context);

/* Gives back what ingot_pipeline_create made, in the same context, after what is
 * queued has ended.  Harmless where there is nothing. */
INGOT_API void ingot_pipeline_destroy(struct ingot_pipeline *p);

#ifdef __cplusplus
}
#endif

#endif
