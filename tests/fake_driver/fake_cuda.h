/* fake_cuda.h: a driver without a GPU, for the tests of the runtime.
 *
 * fake_cuda.c becomes the shared library libcuda.so.1 in the folder that the
 * environment variable FAKE_DRIVER names.  A test opens the same library as the
 * runtime does, sets `*fake_state()` and looks at it afterwards. */

#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* What the library exports, and what only its own files see. */
#ifdef _WIN32
#define FAKE_API __declspec(dllexport)
#define FAKE_HIDDEN
#else
#define FAKE_API
#define FAKE_HIDDEN __attribute__((visibility("hidden")))
#endif

enum { FAKE_MAX = 12, FAKE_SMS = 132 };

/* A kernel that images hold. */
struct fake_kernel {
    const char *name;         /* NULL: end of the list */
    int param_count;          /* as cuFuncGetParamInfo tells ... */
    uint16_t sizes[FAKE_MAX]; /* ... with these sizes */
    int absent_kind;          /* images of this kind lack it; 0: none do */
    int max_threads;          /* of a block */
    /* What it computes, called when its stream comes to it, with copies of the
     * arguments; NULL: launches are only noted. */
    void (*run)(void *const *params);
};

/* The driver refuses images that match. */
struct fake_rule {
    int kind;   /* 1 PTX, 2 cubin, 0: end of the list */
    int sm;     /* 0: any */
    int result; /* returned by the load, or by cuLinkAddData */
};

/* The last launch. */
struct fake_launch {
    const char *name;
    unsigned grid[3], block[3], shared;
    void *stream;
    void **params;
    int has_attributes;            /* it was by cuLaunchKernelEx ... */
    int programmatic, cooperative; /* ... with these */
};

/* What the last tensor map was asked to be. */
struct fake_tensor {
    const void *address;
    int type, swizzle;
    unsigned rank, box[5];
    uint64_t sizes[5], strides[4]; /* strides in bytes, from dimension 1 on */
};

/* Memory that the driver knows. */
struct fake_memory {
    uint64_t start, size; /* size 0: none */
    int type;             /* 1 of the host, 2 of a GPU */
};

struct fake {
    /* Set by the test; fake_reset sets one sm_90 device and nothing odd. */
    int device_count;
    int sm[FAKE_MAX];                     /* of each device */
    int driver_version;                   /* 13000 */
    int is_stub;                          /* all calls return 34, no names */
    int is_old;                           /* cuGetProcAddress_v2 fails */
    int is_shut_down;                     /* all calls return 4 */
    int sticky;                           /* most calls return this */
    int is_capturing;                     /* unsafe calls return 900 */
    unsigned load_delay_us;               /* each load takes so long */
    int shared_optin;                     /* most shared bytes of a block */
    int resident;                         /* blocks that an SM runs at a time */
    const char *fail_function;            /* this function returns ... */
    int fail_call;                        /* ... at this call, from 1 ... */
    int fail_result;                      /* ... this */
    const char *compiler_log;             /* written by a refused compile */
    const char *hidden[FAKE_MAX];         /* functions that are missing */
    struct fake_kernel kernels[FAKE_MAX]; /* in every image */
    struct fake_rule rules[FAKE_MAX];     /* images that are refused */
    struct fake_memory memory[FAKE_MAX];  /* that pointers may lead to */
    int pointer_result;                   /* all questions about them get it */
    int has_no_ranges;                    /* how long memory is, is not said */
    int reaches_the_host;                 /* the GPU does, all of it */

    /* Seen by the driver. */
    atomic_int live_modules;   /* loaded and not unloaded */
    atomic_int live_links;     /* created and not destroyed */
    atomic_int retains;        /* of primary contexts, less releases */
    atomic_int launches;       /* that worked */
    atomic_int broken_capture; /* unsafe calls during capture */
    atomic_int malformed;      /* containers that would crash a driver, copies
                                  of memory that is not there */
    atomic_int live_memory;    /* allocated and not freed, pinned memory too */
    atomic_int live_streams;   /* created and not destroyed */
    atomic_int live_events;    /* likewise */
    atomic_int foreign;        /* code compiled for another GPU or driver */
    struct fake_launch last;   /* the last that worked */
    struct fake_tensor tensor; /* likewise */
    char loads[256];           /* images loaded or refused, "2:90a 1:75 " */
};

/* The one state, and the state at first and before each test: one sm_90 device with kernel
 * "vadd", no context. */
FAKE_API struct fake *fake_state(void);
FAKE_API void fake_reset(void);

/* How often `function` was called since the reset. */
FAKE_API int fake_calls(const char *function);

/* A context on `device`, not current. */
FAKE_API void *fake_context_create(int device);
FAKE_API void fake_context_destroy(void *context);

/* As cudaDeviceReset and the next use: the same pointer, another context. */
FAKE_API void fake_context_reset(void *context);

/* As cuDevicePrimaryCtxReset: the context is gone until it is retained. */
FAKE_API void fake_primary_reset(int device);

/* Makes `context` current in this thread. */
FAKE_API void fake_context_push(void *context);

/* A stream of `context`. */
FAKE_API void *fake_stream_create(void *context);

/* What was queued, and which events the host waited for, in this order, as text:
 * "in0:64 run0 out0:64 mark0 wait0 ", each with the number of its stream, from 0
 * in the order of cuStreamCreate, and copies with their bytes. */
FAKE_API const char *fake_operations(void);

/* This thread's capture mode, 0 at first, and number of pushed contexts. */
FAKE_API int fake_capture_mode(void);
FAKE_API int fake_depth(void);

/* ---- What the files of the library share -------------------------------- */

struct CUstream_st;

/* CUlaunchAttribute and CUlaunchConfig. */
struct fake_attribute {
    int id, pad, value, rest[15];
};
struct fake_config {
    unsigned grid[3], block[3], shared;
    struct CUstream_st *stream;
    const struct fake_attribute *attributes;
    unsigned count;
};

/* What a call of `function` returns for reasons of its own, else 0. */
FAKE_HIDDEN int fake_enter(const char *function, int feels_sticky);

/* Forgets all memory, streams, events and what is queued. */
FAKE_HIDDEN void fake_streams_reset(void);

/* Finds the allocation that holds `address`; 0 if none does. */
FAKE_HIDDEN int fake_find_memory(uint64_t address, struct fake_memory *memory);

/* Queues a launch of `kernel`. */
FAKE_HIDDEN int fake_queue_kernel(void *stream,
                                  const struct fake_kernel *kernel,
                                  void **params);

FAKE_API int cuCtxGetCurrent(void **context);
FAKE_API int cuPointerGetAttribute(void *value, int attribute,
                                   uint64_t address);
FAKE_API int cuGetErrorName(int result, const char **name);
FAKE_API int cuGetErrorString(int result, const char **text);
FAKE_API int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                            unsigned grid_z, unsigned block_x, unsigned block_y,
                            unsigned block_z, unsigned shared,
                            struct CUstream_st *stream, void **params,
                            void **extra);
/* Counts a call of `name`; what any call returns for reasons of its own, else
 * 0. */
FAKE_HIDDEN int fake_common(const char *name);

/* Its configuration is a fake_config. */
FAKE_HIDDEN int cuLaunchKernelEx(const void *with, void *function,
                                 void **params, void **extra);
FAKE_HIDDEN int
cuTensorMapEncodeTiled(void *map, int type, unsigned rank, const void *address,
                       const uint64_t *sizes, const uint64_t *strides,
                       const unsigned *box, const unsigned *steps,
                       int interleave, int swizzle, int promotion, int fill);
FAKE_HIDDEN int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                            void *function,
                                                            int threads,
                                                            size_t shared);

#endif
