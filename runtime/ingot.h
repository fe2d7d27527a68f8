/* ingot.h: load and launch the kernels that `ingot build` wrote.
 *
 * The whole runtime is this header and ingot.c.  It needs no CUDA header and no
 * library but the NVIDIA driver, which it opens at run time: a program linked
 * with it also starts on a machine without one.  It never exits, aborts,
 * prints, starts a thread, registers a handler or writes a global variable.
 *
 *   struct ingot_module *module;
 *   if (ingot_open_file(&module, &gemm_artifact, "gemm.fatbin", NULL) ||
 *       ingot_preload(module))
 *       return cpu_fallback(ingot_error_text(module, text, sizeof text));
 *   gemm(module, stream, M, N, K, A, B, C);
 *   ingot_close(module);
 *
 * Threads: every function may be called from any thread at any time, except
 * that nothing may use a module while or after it is closed.
 *
 * Load before work: loading waits until every running kernel of the context
 * has ended and blocks the launches of all other threads meanwhile.  Call
 * `ingot_preload` once per context, at start. */

#ifndef INGOT_H
#define INGOT_H

#include <stddef.h>
#include <stdint.h>

/* Numbers that C has no type for, as their bits: a type for each, so that none
 * is taken for another.  ROW(name, bits, the type of CUDA's headers) */
#define INGOT_NUMBERS(ROW)                                                     \
    ROW(f16, uint16_t, __half)                                                 \
    ROW(bf16, uint16_t, __nv_bfloat16)                                         \
    ROW(f8e4m3, uint8_t, __nv_fp8_e4m3)                                        \
    ROW(f8e5m2, uint8_t, __nv_fp8_e5m2)

#ifndef __cplusplus
#define INGOT_NUMBER(name, integer, cuda)                                      \
    typedef struct ingot_##name {                                              \
        integer bits;                                                          \
    } ingot_##name;
#else
/* In C++ they convert to CUDA's types, whose headers need not be included;
 * ingot_number_of and ingot_array_of make numbers, and pointers to numbers, of
 * those. */
template <class T, class U> struct ingot_same;
template <class T> struct ingot_same<T, T> {
    typedef T type;
};
template <class T> struct ingot_number;

template <class To, class From>
inline void ingot_copy_bits(To *to, const From *from)
{
    static_assert(sizeof *to == sizeof *from, "as many bits");
    for (size_t i = 0; i < sizeof *to; i++)
        reinterpret_cast<unsigned char *>(to)[i] =
            reinterpret_cast<const unsigned char *>(from)[i];
}

#define INGOT_NUMBER(name, integer, cuda)                                      \
    struct cuda;                                                               \
    struct ingot_##name {                                                      \
        integer bits;                                                          \
                                                                               \
        template <class T, class = typename ingot_same<T, cuda>::type>         \
        operator T() const                                                     \
        {                                                                      \
            T value;                                                           \
            ingot_copy_bits(&value, &bits);                                    \
            return value;                                                      \
        }                                                                      \
    };                                                                         \
    template <> struct ingot_number<cuda> {                                    \
        typedef ingot_##name type;                                             \
    };
#endif
INGOT_NUMBERS(INGOT_NUMBER)
#undef INGOT_NUMBER

#ifdef __cplusplus
template <class T>
inline typename ingot_number<T>::type ingot_number_of(const T &value)
{
    typename ingot_number<T>::type number;
    ingot_copy_bits(&number, &value);
    return number;
}

template <class T>
inline typename ingot_number<T>::type *ingot_array_of(T *array)
{
    return reinterpret_cast<typename ingot_number<T>::type *>(array);
}

template <class T>
inline const typename ingot_number<T>::type *ingot_array_of(const T *array)
{
    return reinterpret_cast<const typename ingot_number<T>::type *>(array);
}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the tables below, compared with `ingot_artifact.abi`. */
#define INGOT_ABI 4

/* The longest text that a module keeps, its final NUL included. */
#define INGOT_TEXT_SIZE 1024

/* The longest compiler log that a module keeps, its final NUL included. */
#define INGOT_LOG_SIZE 8192

/* The driver's stream; the same type as in cuda.h, and as cudaStream_t.
 * NULL is the legacy default stream, (CUstream)2 the one of the thread. */
typedef struct CUstream_st *CUstream;

/* One kernel file loaded into a program, for all devices and contexts. */
struct ingot_module;

/* Every status: ROW(name, code, text).  The codes never change. */
#define INGOT_STATUS(ROW)                                                      \
    ROW(OK, 0, "success")                                                      \
    ROW(INVALID, 1, "an argument is NULL or out of range")                     \
    ROW(NO_MEMORY, 2, "out of host memory")                                    \
    ROW(FILE, 3, "the fatbin file cannot be read")                             \
    ROW(BAD_ARTIFACT, 4, "the header's tables do not fit this runtime")        \
    ROW(BAD_FATBIN, 5, "the fatbin is malformed")                              \
    ROW(BAD_HASH, 6, "the fatbin is not the one that the header describes")    \
    ROW(NO_DRIVER, 7, "no NVIDIA driver on this machine")                      \
    ROW(STUB_DRIVER, 8, "the CUDA toolkit's stub stands in for the driver")    \
    ROW(OLD_DRIVER, 9, "the NVIDIA driver is too old")                         \
    ROW(NO_DEVICE, 10, "no usable NVIDIA GPU")                                 \
    ROW(FORKED, 11, "the process forked after CUDA was initialised")           \
    ROW(NO_IMAGE, 12, "the fatbin has no image for this GPU")                  \
    ROW(LOAD_FAILED, 13, "the driver refused every image that fits this GPU")  \
    ROW(NO_KERNEL, 14, "the loaded image lacks the kernel")                    \
    ROW(BAD_PARAMETERS, 15, "header and fatbin disagree about parameters")     \
    ROW(DEVICE_MEMORY, 16, "out of GPU memory")                                \
    ROW(NOT_LOADED, 17, "not loaded in this context; call ingot_preload")      \
    ROW(POISONED, 18, "an earlier GPU fault; only a new process recovers")     \
    ROW(BAD_LAUNCH, 19, "grid, block or shared memory exceeds a limit")        \
    ROW(BAD_SIZE, 20, "a size violates the kernel's `where` clause")           \
    ROW(NULL_ARRAY, 21, "an array argument is NULL")                           \
    ROW(MISALIGNED, 22, "an array argument is not aligned as needed")          \
    ROW(OVERFLOW, 23, "the sizes multiply to more than 64 bits hold")          \
    ROW(DRIVER, 24, "a driver call failed")                                    \
    ROW(BAD_ARRAY, 25, "an array is not the GPU's, too small, or overlaps")

/* INGOT_OK is 0; anything else is a failure with a text in the module. */
enum ingot_status {
#define INGOT_STATUS_ENUMERATOR(name, code, text) INGOT_##name = code,
    INGOT_STATUS(INGOT_STATUS_ENUMERATOR)
#undef INGOT_STATUS_ENUMERATOR
};

/* What an image is; the values are those of the fatbin container. */
enum ingot_image_kind {
    INGOT_PTX = 1,  /* text, compiled by the driver for any newer GPU */
    INGOT_CUBIN = 2 /* machine code for one architecture */
};

/* Options of a module, combined with `|`. */
enum ingot_flag {
    INGOT_LOAD_EXPLICITLY = 1 /* launches never load: INGOT_NOT_LOADED */
};

/* How an image was chosen. */
enum ingot_rung {
    INGOT_RUNG_NONE = 0,   /* nothing is loaded */
    INGOT_RUNG_EXACT = 1,  /* a cubin for exactly this GPU */
    INGOT_RUNG_FAMILY = 2, /* a cubin for a lower minor of the same major */
    INGOT_RUNG_PTX = 3     /* PTX compiled by the driver */
};

/* ---- Tables that the generated header holds ---------------------------- */

/* One image: a container entry of the fatbin, in the order of the fatbin. */
struct ingot_image {
    uint32_t kind;   /* enum ingot_image_kind */
    uint32_t sm;     /* 75, 80, 90, ...; the target for PTX */
    char suffix;     /* 0, 'a' or 'f' */
    uint64_t offset; /* of the entry's payload from the start of the fatbin */
    uint64_t size;   /* of the payload, with its padding */
    uint64_t hash;   /* ingot_hash of these `size` bytes */
};

/* How the grids of a kernel are launched, combined with `|`. */
enum ingot_attribute {
    INGOT_PROGRAMMATIC = 1, /* it waits for the grid before it by itself */
    INGOT_COOPERATIVE = 2   /* all its blocks run at a time */
};

/* One kernel. */
struct ingot_entry {
    const char *name;            /* its symbol in the images */
    uint32_t param_count;        /* number of parameters */
    const uint16_t *param_sizes; /* bytes of each; may be NULL when 0 */
    uint32_t static_shared;      /* bytes of static shared memory */
    uint32_t max_dynamic_shared; /* most dynamic shared bytes of a launch */
    uint32_t max_threads;        /* most threads of a block; 0: no bound */
    uint32_t optional;           /* 1: some images lack it; see available */
    uint32_t attributes;         /* enum ingot_attribute */
};

/* One fatbin and what is in it. */
struct ingot_artifact {
    uint32_t abi;                      /* INGOT_ABI */
    const char *name;                  /* begins every error text */
    uint64_t fatbin_size;              /* bytes of the fatbin */
    uint64_t fatbin_hash;              /* ingot_hash of all of them */
    uint32_t image_count;              /* at least 1 */
    const struct ingot_image *images;  /* every entry of the fatbin */
    uint32_t entry_count;              /* at least 1 */
    const struct ingot_entry *entries; /* launched by their index */
};

/* How TMA (sm_90 and newer) sees one array, in tiles.  Dimensions
 * count from the innermost one. */
struct ingot_tensor {
    const char *name; /* "A: tiles of 128 x 64", for texts */
    uint32_t rank;    /* 1 to 5 */
    uint32_t element; /* bytes of one element: 1, 2, 4 or 8 */
    uint32_t swizzle; /* bytes of a swizzled row: 0, 32, 64 or 128 */
    uint32_t rounds;  /* 1: elements are floats, and loads round them to tf32 */
    uint32_t box[5];  /* elements of a box, 1 to 256 in each dimension */
};

/* The functions are each program's, and each shared library's, own: two
 * libraries of one process may have a runtime each.  Define INGOT_API, in all
 * files that include this one, to share one; or INGOT_WEAK where one program is
 * linked of parts that bring the runtime each, as Go's packages do; or
 * INGOT_EXPORT where a shared library is to export them, as for Python. */
#if defined INGOT_API
#elif defined INGOT_EXPORT && defined _WIN32
#define INGOT_API __declspec(dllexport)
#elif defined INGOT_EXPORT
#define INGOT_API __attribute__((visibility("default")))
#elif defined INGOT_WEAK && !defined _WIN32
#define INGOT_API __attribute__((weak, visibility("hidden")))
#elif defined INGOT_WEAK
#define INGOT_API __attribute__((weak))
#elif defined __GNUC__ && !defined _WIN32
#define INGOT_API __attribute__((visibility("hidden")))
#else
#define INGOT_API
#endif

/* The alignment of a member, in bytes. */
#ifdef __GNUC__
#define INGOT_ALIGNED(bytes) __attribute__((aligned(bytes)))
#else
#define INGOT_ALIGNED(bytes) __declspec(align(bytes))
#endif

/* ---- Opening and closing ------------------------------------------------ */

/* What may be asked for at open; all zero is the default. */
struct ingot_options {
    const char *driver; /* path of libcuda; NULL: the system's. For tests;
                           kept, not copied */
    int32_t device;     /* device used where the thread has no context */
    uint32_t flags;     /* enum ingot_flag */
};

/* Checks `size` bytes at `fatbin` and makes a module of them.  Needs neither
 * GPU nor driver.  The bytes, `artifact` and what it points to are referenced,
 * not copied: keep them unchanged until the module is closed (an image that
 * has changed since is noticed when it is loaded, and skipped).  `options` may
 * be NULL and is copied.
 * The fatbin is the one that the header was written with, or what `ingot image`
 * made of that one by adding and removing images: then the module allocates a
 * table of those that there are.
 * On failure too `*module` is set (to NULL only when memory ran out): it then
 * only serves ingot_error_text and ingot_close, anything else returns the same
 * failure again.  So: always close. */
INGOT_API enum ingot_status ingot_open(struct ingot_module **module,
                                       const struct ingot_artifact *artifact,
                                       const void *fatbin, size_t size,
                                       const struct ingot_options *options);

/* ingot_open of the file `path`, read into memory that the module owns. */
INGOT_API enum ingot_status
ingot_open_file(struct ingot_module **module,
                const struct ingot_artifact *artifact, const char *path,
                const struct ingot_options *options);

/* Unloads everything and frees the module; NULL is allowed.  Waits for running
 * kernels.  A graph that still holds one of the kernels must not be
 * instantiated or launched afterwards: the driver crashes.  Harmless when the
 * driver has shut down, the context is gone or the process has forked. */
INGOT_API void ingot_close(struct ingot_module *module);

/* ---- Loading and launching ---------------------------------------------- */

/* Loads into the current context, or into the primary context of
 * `options.device` where the thread has none, unless that was done before.
 * May be called during stream capture. */
INGOT_API enum ingot_status ingot_preload(struct ingot_module *module);

/* Launches kernel `entry` as cuLaunchKernel does; `params` points to the
 * address of each argument, and is not used after the return.  Loads first in
 * a context that is new to the module.  A zero in `grid` succeeds without a
 * launch.  A kernel that is INGOT_PROGRAMMATIC may begin before the end of the
 * one before it in the stream, for which it waits by itself, where its image is
 * for sm_90 or newer and the driver for CUDA 12.3 or newer.  One that is
 * INGOT_COOPERATIVE gets INGOT_BAD_LAUNCH if the device cannot run all its
 * blocks at a time, INGOT_OLD_DRIVER before CUDA 11.8.  The context is the
 * stream's, for the default streams the thread's; a thread without context uses
 * the primary context of `options.device`.  Errors of the kernel itself come
 * later, from whatever call waits for it. */
INGOT_API enum ingot_status
ingot_launch(struct ingot_module *module, uint32_t entry, CUstream stream,
             const uint64_t grid[3], const uint32_t block[3],
             uint32_t dynamic_shared, void **params);

/* How many blocks run at a time on the GPU that `stream` belongs to, `each` of
 * them on an SM: the grid of kernels whose blocks compute one part
 * of the result after another.  Loads as ingot_launch does; where that fails,
 * which the launch then says, there is one SM. */
INGOT_API int64_t ingot_resident(struct ingot_module *module, CUstream stream,
                                 int64_t each);

/* Sets `*available` to 1 when the image loaded for `stream`'s context has
 * kernel `entry` and this GPU the shared memory for it, else to 0.  Loads as
 * ingot_launch does.  Only entries marked optional are ever missing. */
INGOT_API enum ingot_status ingot_available(struct ingot_module *module,
                                            uint32_t entry, CUstream stream,
                                            int *available);

/* A tensor map: a parameter of a kernel, whose bytes only the driver knows. */
struct ingot_tensor_map {
    INGOT_ALIGNED(64) uint64_t words[16];
};

/* Makes `*map` of the array at `array`, of sizes[d] elements in each dimension
 * d whose neighbours lie strides[d] elements apart; strides[0] is 1.  Takes
 * about a tenth of a microsecond and keeps nothing: launch functions call it
 * for each launch.  Loads as ingot_launch does.  INGOT_OLD_DRIVER before
 * CUDA 12.0; INGOT_MISALIGNED unless `array` is a multiple of 16 bytes;
 * INGOT_BAD_SIZE for what TMA cannot address: a size above 2^32, a
 * distance that is no multiple of 16 bytes or not below 2^40.  An array
 * without elements gets a map of zeros, which no kernel may use. */
INGOT_API enum ingot_status
ingot_encode(struct ingot_module *module, CUstream stream,
             const struct ingot_tensor *tensor, const void *array,
             const int64_t *sizes, const int64_t *strides,
             struct ingot_tensor_map *map);

/* Records "kernel: what" as the module's text and returns `status`.
 * For launch functions that refuse an argument: INGOT_BAD_SIZE with the
 * violated clause, INGOT_NULL_ARRAY, INGOT_MISALIGNED, INGOT_OVERFLOW. */
INGOT_API enum ingot_status ingot_reject(struct ingot_module *module,
                                         enum ingot_status status,
                                         const char *kernel, const char *what);

/* ---- Compiled PTX that is kept ------------------------------------------ */

/* What machine code was compiled from, and for what: machine code for one key
 * fits no other.  `driver_version` is the CUDA release that the driver is for;
 * drivers of one release with different compilers have the same. */
struct ingot_jit_key {
    uint64_t fatbin_hash;    /* of the artifact */
    uint64_t image_hash;     /* of the PTX */
    uint32_t device_sm;      /* 90 for compute capability 9.0 */
    uint32_t driver_version; /* 13000 for CUDA 13.0 */
    uint32_t options;        /* of the compiler; 0: its defaults, always so */
    uint32_t reserved;       /* 0 */
};

/* Where a program keeps machine code that the driver compiled from PTX, so that
 * the next process need not compile.  ingot_cache.h has one that checks what it
 * gets, over a folder or over functions that only load and store.  The
 * functions are called from the thread that loads, one at a time for each
 * module, and must not call the module. */
struct ingot_jit_cache {
    void *user; /* handed to each function */

    /* Returns machine code for `*key`, `*size` bytes that stay until they are
     * released; NULL where there is none.  What is not a whole cubin, or what
     * the driver refuses, is not used: the PTX is compiled, and stored. */
    const void *(*find)(void *user, const struct ingot_jit_key *key,
                        size_t *size);
    void (*release)(void *user, const void *code);

    /* Takes a copy of `size` bytes for `*key`, in place of what was found for
     * it; or does not: that is no failure of the load. */
    void (*store)(void *user, const struct ingot_jit_key *key, const void *code,
                  size_t size);
};

/* Makes the module ask `*cache` before it compiles PTX, in all loads from now
 * on; NULL: no more.  It is referenced, not copied: keep it until the module is
 * closed.  Compressed PTX is not cached, since only the driver's loader reads
 * it, and that gives no machine code. */
INGOT_API enum ingot_status
ingot_use_jit_cache(struct ingot_module *module,
                    const struct ingot_jit_cache *cache);

/* ---- Asking ------------------------------------------------------------- */

/* The driver's function `name`, "cuMemAlloc_v2", if it came with CUDA
 * `version`, 3020 for 3.2, or before, and the driver has it; else NULL, also
 * where there is no driver.  For a program that is not linked with one. */
INGOT_API void *ingot_driver_function(struct ingot_module *module,
                                      const char *name, int version);

/* The meaning of `status`, never NULL. */
INGOT_API const char *ingot_status_text(enum ingot_status status);

/* Copies the text of the module's last failure, of whichever thread, into
 * `text` of `size` bytes, cut where too long; returns `text`.  The text is
 * empty before the first failure; later successes leave it. */
INGOT_API const char *ingot_error_text(struct ingot_module *module, char *text,
                                       size_t size);

/* Copies the compiler log of the module's first refused image, or else of the
 * last PTX that was compiled, into `log` of `size` bytes; returns `log`. */
INGOT_API const char *ingot_log_text(struct ingot_module *module, char *log,
                                     size_t size);

/* What is loaded in the context that ingot_preload would load into. */
struct ingot_load {
    enum ingot_rung rung;    /* INGOT_RUNG_NONE: nothing, the rest is 0 */
    uint32_t image;          /* index of the image: ingot_image_info */
    uint32_t refused;        /* images tried before it, all refused */
    uint32_t device_sm;      /* of the GPU: 90 for compute capability 9.0 */
    uint32_t driver_version; /* 13000 for a driver made for CUDA 13.0 */
    uint32_t contexts;       /* contexts that the module is loaded in */
    double load_ms;          /* milliseconds of the whole load */
    double jit_ms;           /* of these, compiling PTX; 0: it was cached */
};

/* Fills `*load` for the current context.  Loads nothing. */
INGOT_API enum ingot_status ingot_report(struct ingot_module *module,
                                         struct ingot_load *load);

/* Fills `*info` for image `image` of the fatbin that was opened: a row of the
 * artefact's table, unless `ingot image` changed the fatbin.  INGOT_INVALID if
 * there are not so many. */
INGOT_API enum ingot_status ingot_image_info(struct ingot_module *module,
                                             uint32_t image,
                                             struct ingot_image *info);

/* What the driver says about one kernel; -1 where it does not say. */
struct ingot_kernel {
    int32_t registers;     /* per thread */
    int32_t local_bytes;   /* per thread: spills; > 0: the first launch waits */
    int32_t static_shared; /* bytes per block */
    int32_t dynamic_shared; /* most bytes that a launch may add */
    int32_t max_threads;    /* most threads of a block */
    int32_t binary_version; /* 90 for sm_90 */
    int32_t ptx_version;    /* of the PTX that it was compiled from */
};

/* Fills `*kernel` for kernel `entry` in the current context, where it must be
 * loaded: INGOT_NOT_LOADED. */
INGOT_API enum ingot_status ingot_entry_info(struct ingot_module *module,
                                             uint32_t entry,
                                             struct ingot_kernel *kernel);

/* The 64-bit hash of `size` bytes that the tables hold: MurmurHash64A of
 * Austin Appleby (public domain) with seed 0, reading little-endian words:
 *
 *   M = 0xc6a4a7935bd1e995; h = size * M;
 *   for each whole 8-byte word k: k *= M; k ^= k >> 47; k *= M; h ^= k; h *= M;
 *   the 1 to 7 bytes that remain, as one zero-extended word: h ^= k; h *= M;
 *   h ^= h >> 47; h *= M; h ^= h >> 47;
 *
 * Every step is a bijection, so damage within one word is always noticed.
 * Not a defence against an attacker: a fatbin is code, trust it as such.
 * ingot_hash("", 0) == 0, ingot_hash("abc", 3) == 0x9cc9c33498a95efb. */
INGOT_API uint64_t ingot_hash(const void *bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
