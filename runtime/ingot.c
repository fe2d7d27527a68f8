/* ingot.c: the loader and launcher behind ingot.h.
 *
 *   open     strict reader over the fatbin and the header's tables, hashes
 *   load     driver -> context -> device -> best image -> module -> kernels
 *   launch   one atomic load, the limits, cuLaunchKernel
 *
 * The driver never falls back by itself and hangs or crashes on malformed
 * containers.  So each image goes to it alone, in a container of its own,
 * after the strict reader has seen every byte that the driver will interpret;
 * the next best image follows when that one is refused.
 *
 * What is loaded in one context is one `struct loaded`, published by a release
 * store after it is complete and never changed but for its status, so that
 * launches take no lock.  `hot` points to it while it is the only one; with
 * several, the stream or the thread says which. */

#ifdef _WIN32
#define __USE_MINGW_ANSI_STDIO 1 /* formats of C11 with older C libraries */
#elif !defined _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "ingot.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#endif

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same atomics in C11 and in C++17. */
#ifdef __cplusplus
#include <atomic>
#define ATOMIC(type) std::atomic<type>
using std::atomic_load;
using std::atomic_load_explicit;
using std::atomic_store;
using std::memory_order_acquire;
using std::memory_order_relaxed;
#else
#include <assert.h>
#include <stdatomic.h>
#define ATOMIC(type) _Atomic(type)
#endif

/* Off the path of a launch that works; code that is smaller if nothing inlines
 * it; a part of the path of every launch; a function that formats as printf. */
#if defined __GNUC__
#define COLD                __attribute__((cold))
#define APART               __attribute__((noinline))
#define HOT                 __attribute__((always_inline)) inline
#define FORMAT(text, first) __attribute__((format(printf, text, first)))
#else
#define COLD
#define APART
#define HOT inline
#define FORMAT(text, first)
#endif

/* ---- The system ---------------------------------------------------------- */

/* What differs between Windows and POSIX: locks, libraries, the clock, the
 * process, names of files.  Paths are UTF-8. */
#ifdef _WIN32

typedef SRWLOCK mutex;

static void mutex_init(mutex *lock)
{
    InitializeSRWLock(lock);
}

static void mutex_destroy(mutex *lock)
{
    (void)lock;
}

static void mutex_lock(mutex *lock)
{
    AcquireSRWLockExclusive(lock);
}

static void mutex_unlock(mutex *lock)
{
    ReleaseSRWLockExclusive(lock);
}

/* `path` as Windows takes it; "" if it is too long or not UTF-8. */
static const wchar_t *wide(const char *path, wchar_t to[MAX_PATH])
{
    if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, to,
                             MAX_PATH))
        *to = L'\0';
    return to;
}

/* Opens the driver at `path`, or NVIDIA's in the folder of the system, where no
 * other program can have put it; NULL if it cannot. */
static void *open_library(const char *path)
{
    wchar_t name[MAX_PATH];

    if (path)
        return (void *)LoadLibraryW(wide(path, name));
    return (void *)LoadLibraryExW(L"nvcuda.dll", NULL,
                                  LOAD_LIBRARY_SEARCH_SYSTEM32);
}

/* The function `name` of a library; NULL if missing. */
static void *function_of(void *library, const char *name)
{
    FARPROC found = GetProcAddress((HMODULE)library, name);
    void *pointer;

    memcpy(&pointer, &found, sizeof pointer);
    return pointer;
}

/* Why open_library gave NULL, in `text` of `size` bytes. */
static const char *library_error(const char *path, char *text, size_t size)
{
    unsigned long code = GetLastError();

    snprintf(text, size, "%s: error %lu", path ? path : "nvcuda.dll", code);
    return text;
}

/* Opens a file to be read; NULL if it cannot. */
static FILE *open_file(const char *path)
{
    wchar_t name[MAX_PATH];

    return _wfopen(wide(path, name), L"rbN");
}

/* Milliseconds of a clock that only goes forward. */
static double clock_ms(void)
{
    LARGE_INTEGER now, each;

    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&each);
    return (double)now.QuadPart * 1e3 / (double)each.QuadPart;
}

static int process_id(void)
{
    return (int)GetCurrentProcessId();
}

#else

/* Why a system never has a driver; NULL for one that may. */
#ifdef __APPLE__
#define NEVER_A_DRIVER "NVIDIA has no driver for macOS"
#else
#define NEVER_A_DRIVER NULL
#endif

typedef pthread_mutex_t mutex;

static void mutex_init(mutex *lock)
{
    pthread_mutex_init(lock, NULL);
}

static void mutex_destroy(mutex *lock)
{
    pthread_mutex_destroy(lock);
}

static void mutex_lock(mutex *lock)
{
    pthread_mutex_lock(lock);
}

static void mutex_unlock(mutex *lock)
{
    pthread_mutex_unlock(lock);
}

/* Opens the driver at `path`, or the system's: the linker's, then that of
 * Windows' Linux.  Never the unversioned name, which may be a stub.  NULL if it
 * cannot; the last try is for the text of dlerror. */
static void *open_library(const char *path)
{
    const char *name = path ? path : "libcuda.so.1", *never = NEVER_A_DRIVER;
    void *library;

    if (never && !path)
        return NULL;
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library && !path)
        library =
            dlopen("/usr/lib/wsl/lib/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/* The function `name` of a library; NULL if missing. */
static void *function_of(void *library, const char *name)
{
    return dlsym(library, name);
}

/* Why open_library gave NULL, in `text` of `size` bytes. */
static const char *library_error(const char *path, char *text, size_t size)
{
    const char *never = NEVER_A_DRIVER;

    snprintf(text, size, "%s", never && !path ? never : dlerror());
    return text;
}

/* Opens a file to be read; NULL if it cannot. */
static FILE *open_file(const char *path)
{
    return fopen(path, "rbe");
}

/* Milliseconds of a clock that only goes forward. */
static double clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int process_id(void)
{
    return (int)getpid();
}

#endif

/* ---- Tables ------------------------------------------------------------- */

/* The driver: ROW(exported name, first version, is needed, parameters).
 * Handles are void *, CUdevice and all enumerations are int. */
/* clang-format off */
#define DRIVER(ROW)                                                            \
    ROW(cuInit,                            2000,  1, (unsigned))               \
    ROW(cuDriverGetVersion,                2020,  1, (int *))                  \
    ROW(cuGetErrorName,                    6000,  1, (int, const char **))     \
    ROW(cuGetErrorString,                  6000,  1, (int, const char **))     \
    ROW(cuDeviceGet,                       2000,  1, (int *, int))             \
    ROW(cuDeviceGetAttribute,              2000,  1, (int *, int, int))        \
    ROW(cuDevicePrimaryCtxRetain,          7000,  1, (void **, int))           \
    ROW(cuDevicePrimaryCtxRelease_v2,      11000, 1, (int))                    \
    ROW(cuCtxGetCurrent,                   4000,  1, (void **))                \
    ROW(cuCtxGetDevice,                    2000,  1, (int *))                  \
    ROW(cuCtxGetId,                        12000, 0,                           \
        (void *, unsigned long long *))                                        \
    ROW(cuCtxPushCurrent_v2,               4000,  1, (void *))                 \
    ROW(cuCtxPopCurrent_v2,                4000,  1, (void **))                \
    ROW(cuThreadExchangeStreamCaptureMode, 10010, 0, (int *))                  \
    ROW(cuStreamGetCtx,                    9020,  0, (CUstream, void **))      \
    ROW(cuModuleLoadDataEx,                2010,  1,                           \
        (void **, const void *, unsigned, int *, void **))                     \
    ROW(cuModuleUnload,                    2000,  1, (void *))                 \
    ROW(cuModuleGetFunction,               2000,  1,                           \
        (void **, void *, const char *))                                       \
    ROW(cuFuncGetAttribute,                2020,  1, (int *, int, void *))     \
    ROW(cuFuncSetAttribute,                9000,  1, (void *, int, int))       \
    ROW(cuFuncGetParamInfo,                12040, 0,                           \
        (void *, size_t, size_t *, size_t *))                                  \
    ROW(cuLaunchKernel,                    4000,  1,                           \
        (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
         unsigned, CUstream, void **, void **))                                \
    ROW(cuLaunchKernelEx,                  11060, 0,                           \
        (const void *, void *, void **, void **))              \
    ROW(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, 0,                  \
        (int *, void *, int, size_t))                                          \
    ROW(cuTensorMapEncodeTiled,            12000, 0,                           \
        (void *, int, unsigned, const void *, const uint64_t *,                \
         const uint64_t *, const unsigned *, const unsigned *, int, int, int,  \
         int))                                                                 \
    ROW(cuLinkCreate_v2,                   6050,  0,                           \
        (unsigned, int *, void **, void **))                                   \
    ROW(cuLinkAddData_v2,                  6050,  0,                           \
        (void *, int, void *, size_t, const char *, unsigned, int *, void **)) \
    ROW(cuLinkComplete,                    5050,  0,                           \
        (void *, void **, size_t *))                                           \
    ROW(cuLinkDestroy,                     5050,  0, (void *))

/* Results of an attempt to load or launch that are none of the driver's. */
enum { IMAGE_CHANGED = -1, OUT_OF_HOST_MEMORY = -2, MISSING_FUNCTION = -3 };

/* Results with a meaning of their own: ROW(result, status, advice).
 * LOAD_FAILED: this image is no good, another may be.
 * POISONED: sticky, every later call of the process fails alike. */
#define CAUSES(ROW)                                                            \
    ROW(IMAGE_CHANGED,      LOAD_FAILED, "changed after it was opened")        \
    ROW(OUT_OF_HOST_MEMORY, NO_MEMORY,   "out of host memory")                 \
    ROW(MISSING_FUNCTION,   OLD_DRIVER,  "it lacks cuLaunchKernelEx")          \
    ROW(2,   DEVICE_MEMORY, "")                                                \
    ROW(3,   FORKED,        "")                                                \
    ROW(34,  STUB_DRIVER,   "")                                                \
    ROW(36,  OLD_DRIVER,    "")                                                \
    ROW(46,  NO_DEVICE,     "")                                                \
    ROW(100, NO_DEVICE,     "; is CUDA_VISIBLE_DEVICES set?")                  \
    ROW(101, NO_DEVICE,     "")                                                \
    ROW(200, LOAD_FAILED,   "")                                                \
    ROW(209, LOAD_FAILED,   "; is CUDA_FORCE_PTX_JIT set?")                    \
    ROW(214, POISONED,      "")                                                \
    ROW(218, LOAD_FAILED,   "; see ingot_log_text")                            \
    ROW(220, POISONED,      "")                                                \
    ROW(221, LOAD_FAILED,   "; libnvidia-ptxjitcompiler.so.1 is missing")      \
    ROW(222, LOAD_FAILED,   "; the PTX is newer than the driver")              \
    ROW(223, LOAD_FAILED,   "; is CUDA_DISABLE_PTX_JIT set?")                  \
    ROW(226, POISONED,      "")                                                \
    ROW(300, LOAD_FAILED,   "")                                                \
    ROW(700, POISONED,      "")                                                \
    ROW(702, POISONED,      "")                                                \
    ROW(710, POISONED,      "")                                                \
    ROW(714, POISONED,      "")                                                \
    ROW(715, POISONED,      "")                                                \
    ROW(716, POISONED,      "")                                                \
    ROW(717, POISONED,      "")                                                \
    ROW(718, POISONED,      "")                                                \
    ROW(719, POISONED,      "")                                                \
    ROW(721, POISONED,      "")                                                \
    ROW(803, OLD_DRIVER,    "; libcuda and the kernel module differ")          \
    ROW(804, OLD_DRIVER,    "; remove the forward compatibility package")      \
    ROW(999, LOAD_FAILED,   "")
/* clang-format on */

/* Results that the code names. */
enum result {
    INVALID_VALUE = 1,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    CONTEXT_IS_DESTROYED = 709,
    TOO_LARGE_TO_COOPERATE = 720
};

/* Values of the driver's enumerations that the code passes. */
enum {
    ATTRIBUTE_SMS = 16,
    ATTRIBUTE_CC_MAJOR = 75,
    ATTRIBUTE_CC_MINOR = 76,
    FUNC_MAX_THREADS = 0,
    FUNC_DYNAMIC_SHARED = 8,
    JIT_MESSAGES = 3,
    JIT_MESSAGES_SIZE = 4,
    JIT_ERRORS = 5,
    JIT_ERRORS_SIZE = 6,
    INPUT_PTX = 1,
    CAPTURE_RELAXED = 2,
    L2_PROMOTION_128B = 2,
    DEFAULT_SHARED = 49152,
    LAST_SPECIAL_STREAM = 2,
    LAUNCH_COOPERATIVE = 2,
    LAUNCH_PROGRAMMATIC = 6
};

/* What programmatic launches need: an image whose kernels wait, and a driver
 * that captures them, too. */
enum { PROGRAMMATIC_SM = 90, PROGRAMMATIC_DRIVER = 12030 };

/* First bytes of a fatbin container, the stamp behind one, a little-endian
 * 64-bit ELF file and a zstd frame. */
#define CONTAINER_MAGIC UINT64_C(0x00100001ba55ed50)
#define STAMP_MAGIC     UINT64_C(0x474d49544f474e49)
#define ELF_MAGIC       UINT64_C(0x0102464c457f)
#define ZSTD_MAGIC      0xfd2fb528

/* Sizes and flags of the fatbin container. */
enum {
    CONTAINER_HEADER = 16,
    STAMP_SIZE = 24,
    FATBIN_MAX = 1 << 30,
    ENTRY_HEADER = 64,
    ENTRY_HEADER_MAX = 4096,
    FLAG_64BIT = 0x1,
    FLAG_ZSTD = 0x8000,
    FLAG_A = 0x100000,
    FLAG_F = 0x200000,
    FLAGS_KNOWN = 0x1308013,
    SM_LIMIT = 1000,
    UNCOMPRESSED_MAX = 1 << 28
};

/* Loads that fail so fail again: remembered, not repeated. */
enum {
    PERMANENT = 1 << INGOT_NO_IMAGE | 1 << INGOT_LOAD_FAILED |
                1 << INGOT_NO_KERNEL | 1 << INGOT_BAD_PARAMETERS |
                1 << INGOT_POISONED
};

/* What TMA can address. */
enum { TENSOR_RANK = 5, TENSOR_ALIGN = 16 };
#define TENSOR_SIZE_LIMIT   (INT64_C(1) << 32)
#define TENSOR_STRIDE_LIMIT (INT64_C(1) << 40)

/* ---- Types -------------------------------------------------------------- */

/* The types of cuGetProcAddress_v2 and cuLaunchKernel. */
typedef int find_symbol(const char *, void **, int, uint64_t, int *);
typedef int launch_kernel(void *, unsigned, unsigned, unsigned, unsigned,
                          unsigned, unsigned, unsigned, CUstream, void **,
                          void **);

/* CUlaunchAttribute, all of whose values here are numbers. */
struct launch_attribute {
    INGOT_ALIGNED(8) int id;
    int padding, value;
    char unused[60];
};

/* CUlaunchConfig. */
struct launch_config {
    unsigned grid[3], block[3], shared;
    CUstream stream;
    struct launch_attribute *attributes;
    unsigned attribute_count;
};
typedef int launch_extended(const void *, void *, void **, void **);

/* The driver's functions; NULL where optional and missing. */
struct driver {
#define POINTER(name, version, needed, parameters) int(*name) parameters;
    DRIVER(POINTER)
#undef POINTER
};

/* One kernel in one context. */
struct kernel {
    void *function;        /* NULL: optional and missing */
    uint32_t shared_limit; /* most dynamic bytes on this device */
    uint32_t thread_limit; /* most threads of a block; 0 without a function */
    uint32_t attributes; /* of ingot_attribute, those that it is launched by */
};

/* What is loaded in one context, or why nothing could be. */
struct loaded {
    struct loaded *next;   /* loaded before this one */
    void *context;         /* the context ... */
    unsigned long long id; /* ... and its id; 0 where the driver has none */
    void *module;          /* NULL after a failure */
    launch_kernel *launch; /* the driver's cuLaunchKernel ... */
    launch_extended *launch_with; /* ... and cuLaunchKernelEx, or NULL */
    uint32_t kernel_count;        /* of `kernels` */
    ATOMIC(int) status;           /* not OK: every use returns this ... */
    ATOMIC(bool) is_stale;        /* the context is gone; skip it */
    int sms;                      /* of the context's device */
    struct ingot_load report;     /* `contexts` unused */
    char text[INGOT_TEXT_SIZE];   /* ... with this text */
    struct kernel kernels[];      /* by entry */
};

/* A module.  `load_lock` is held to load, `text_lock` to touch the text, the
 * log and the text of a `struct loaded`. */
struct ingot_module {
    ATOMIC(struct loaded *) hot;           /* the one to use, if only one */
    ATOMIC(struct loaded *) first;         /* newest of all */
    const struct ingot_artifact *artifact; /* valid unless `failed` */
    const unsigned char *fatbin;           /* its bytes */
    const struct ingot_image *images;      /* the artefact's, or `changed` */
    uint32_t image_count;
    struct ingot_image *changed; /* what `ingot image` made of them, or NULL */
    unsigned char *owned;        /* the same if read from a file */
    struct ingot_options options;
    enum ingot_status failed;                     /* open failed with this */
    ATOMIC(const struct ingot_jit_cache *) cache; /* asked before compiling */
    void *library;                 /* the driver's, once it was opened */
    ATOMIC(int) pid;               /* who opened the driver; 0: nobody yet */
    struct driver driver;          /* valid after `pid` */
    ATOMIC(void *) primary;        /* primary context, if retained */
    int primary_device;            /* its device */
    int retains;                   /* how often */
    mutex load_lock;               /* taken before ... */
    mutex text_lock;               /* ... this one */
    char text[INGOT_TEXT_SIZE];    /* of the last failure */
    char log[INGOT_LOG_SIZE];      /* of the last load */
    char messages[INGOT_LOG_SIZE]; /* what the driver writes while it loads */
    char errors[INGOT_LOG_SIZE];   /* likewise */
};

/* What to find or load. */
struct wanted {
    CUstream stream;             /* its context, or the thread's */
    bool may_load;               /* else only what is loaded already */
    const struct loaded *failed; /* what was launched from in vain, or NULL */
};

/* Where a fatbin comes from. */
struct source {
    const char *path;  /* a file, or NULL: ... */
    const void *bytes; /* ... the bytes themselves ... */
    size_t size;       /* ... of this number */
};

/* A launch as it was asked for. */
struct launch {
    uint32_t entry;        /* the kernel */
    uint32_t shared;       /* bytes of dynamic shared memory */
    CUstream stream;       /* where to */
    const uint64_t *grid;  /* three numbers of blocks */
    const uint32_t *block; /* three numbers of threads */
    void **params;         /* the address of each argument */
};

/* One image on its way to the driver. */
struct attempt {
    struct ingot_module *module;
    struct loaded *loaded;           /* being filled */
    const struct ingot_image *image; /* the image ... */
    unsigned char *container;        /* ... in a container of its own ... */
    size_t size;                     /* ... of so many bytes */
    int *log_options;                /* names of options, ... */
    void **log_values;               /* ... and values: where logs go */
};

/* ---- Texts -------------------------------------------------------------- */

/* String number `n` of `strings`, which are separated by NUL; the last, empty
 * one if there are not so many. */
static const char *nth(const char *strings, unsigned n)
{
    while (n-- && *strings)
        strings += strlen(strings) + 1;
    return strings;
}

COLD const char *ingot_status_text(enum ingot_status status)
{
#define STATUS_TEXT(name, code, text) text "\0"
    const char *text = nth(INGOT_STATUS(STATUS_TEXT), status);
#undef STATUS_TEXT
    return *text ? text : "unknown status";
}

/* A row of CAUSES. */
struct cause {
    int16_t result;  /* of the driver */
    uint16_t status; /* what we make of it */
};

/* The rows; the last stands for all other results. */
#define CAUSE(result, status, advice) {result, INGOT_##status},
static const struct cause causes[] = {CAUSES(CAUSE){0, INGOT_DRIVER}};
#undef CAUSE

/* The number of the row for `result`, which is not 0. */
static unsigned cause_of(int result)
{
    unsigned i = 0;

    while (causes[i].result && causes[i].result != result)
        i++;
    return i;
}

/* Our status for the driver's `result`, which is not 0. */
APART static enum ingot_status status_of(int result)
{
    return (enum ingot_status)causes[cause_of(result)].status;
}

/* What `result` means: "CUDA_ERROR_NAME (number): meaning; advice".  `text`,
 * of INGOT_TEXT_SIZE bytes, is room for it.  A stub knows no names. */
static const char *explain(const struct driver *driver, int result, char *text)
{
#define ADVICE(number, status, advice) advice "\0"
    static const char advice[] = CAUSES(ADVICE);
#undef ADVICE
    const char *name = NULL, *meaning = NULL, *hint = advice;
    unsigned row = cause_of(result);

    while (row--)
        hint += strlen(hint) + 1;
    if (result < 0)
        return hint;
    driver->cuGetErrorName(result, &name);
    driver->cuGetErrorString(result, &meaning);
    snprintf(text, INGOT_TEXT_SIZE, "%s (%d)%s%s%s", name ? name : "CUDA error",
             result, meaning ? ": " : "", meaning ? meaning : "", hint);
    return text;
}

/* Is this process a child of the one that opened the driver? */
static bool has_forked(struct ingot_module *module)
{
    int pid = atomic_load_explicit(&module->pid, memory_order_relaxed);

    return pid && pid != process_id();
}

/* Records the formatted text, behind the artifact's name, as the module's
 * last.  Where `loaded` is not NULL and has no failure yet, this becomes its
 * failure for good.  Returns `status`.  After a fork nothing is recorded: the
 * lock may be held by a thread that no longer exists. */
COLD FORMAT(4, 5) static enum ingot_status
    fail(struct ingot_module *module, struct loaded *loaded,
         enum ingot_status status, const char *format, ...)
{
    char *text = module->text;
    va_list arguments;
    int used;

    if (has_forked(module))
        return status;
    mutex_lock(&module->text_lock);
    used =
        snprintf(text, INGOT_TEXT_SIZE / 2,
                 "%s: ", module->artifact ? module->artifact->name : "ingot");
    if (used >= INGOT_TEXT_SIZE / 2)
        used = INGOT_TEXT_SIZE / 2 - 1;
    va_start(arguments, format);
    vsnprintf(text + used, INGOT_TEXT_SIZE - (size_t)used, format, arguments);
    va_end(arguments);
    if (loaded && !loaded->status) {
        memcpy(loaded->text, text, INGOT_TEXT_SIZE);
        loaded->status = (int)status;
    }
    mutex_unlock(&module->text_lock);
    return status;
}

/* Copies `size` bytes to a text of the module. */
static void set_text(struct ingot_module *module, char *text, const char *from,
                     size_t size)
{
    mutex_lock(&module->text_lock);
    memcpy(text, from, size);
    mutex_unlock(&module->text_lock);
}

/* Fails as `loaded` failed before. */
COLD static enum ingot_status fail_again(struct ingot_module *module,
                                         const struct loaded *loaded)
{
    set_text(module, module->text, loaded->text, INGOT_TEXT_SIZE);
    return (enum ingot_status)(int)loaded->status;
}

/* Fails because `call` gave `result`.  `loaded` is what this makes useless, or
 * NULL; whether an image is good matters only to a load. */
COLD static enum ingot_status driver_failed(struct ingot_module *module,
                                            struct loaded *loaded,
                                            const char *call, int result)
{
    char text[INGOT_TEXT_SIZE];
    enum ingot_status status = status_of(result);

    if ((status == INGOT_LOAD_FAILED && !loaded) ||
        (status == INGOT_FORKED && module->pid && !has_forked(module)))
        status = INGOT_DRIVER;
    return fail(module, loaded, status, "%s: %s%s", call,
                explain(&module->driver, result, text),
                status == INGOT_POISONED ? "; only a new process recovers"
                                         : "");
}

/* ---- The strict reader -------------------------------------------------- */

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "images and hosts of NVIDIA GPUs are little-endian");

/* The number of `count` bytes, at most 8, at `p`. */
static inline uint64_t number(const unsigned char *p, size_t count)
{
    uint64_t value = 0;

    memcpy(&value, p, count);
    return value;
}

uint64_t ingot_hash(const void *bytes, size_t size)
{
    const uint64_t m = 0xc6a4a7935bd1e995;
    const unsigned char *p = (const unsigned char *)bytes;
    uint64_t h = size * m, k;

    for (; size >= 8; size -= 8, p += 8) {
        k = number(p, 8) * m;
        k ^= k >> 47;
        h = (h ^ k * m) * m;
    }
    if (size)
        h = (h ^ number(p, size)) * m;
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

/* Is [offset, offset + size) within [0, limit)? */
static bool is_inside(uint64_t offset, uint64_t size, uint64_t limit)
{
    return offset <= limit && size <= limit - offset;
}

/* Is every section and segment of the ELF file inside its `size` bytes? */
static bool is_elf_inside(const unsigned char *elf, uint64_t size)
{
    uint64_t sections = number(elf + 40, 8), segments = number(elf + 32, 8);
    unsigned section_count = (unsigned)number(elf + 60, 2);
    unsigned segment_count = (unsigned)number(elf + 56, 2);
    const unsigned char *p;
    unsigned i;

    if (!is_inside(sections, section_count * 64u, size) ||
        !is_inside(segments, segment_count * 56u, size))
        return false;
    for (i = 0, p = elf + sections; i < section_count; i++, p += 64)
        if (number(p + 4, 4) != 8 &&
            !is_inside(number(p + 24, 8), number(p + 32, 8), size))
            return false;
    for (i = 0, p = elf + segments; i < segment_count; i++, p += 56)
        if (!is_inside(number(p + 8, 8), number(p + 32, 8), size))
            return false;
    return true;
}

/* Is this a little-endian 64-bit ELF file for NVIDIA GPUs, with a section
 * table, inside its `size` bytes? */
static bool is_cubin(const unsigned char *elf, uint64_t size)
{
    return size >= 64 && number(elf, 6) == ELF_MAGIC &&
           number(elf + 18, 2) == 190 && number(elf + 58, 2) == 64 &&
           (number(elf + 54, 2) == 56 || !number(elf + 56, 2)) &&
           number(elf + 62, 2) < number(elf + 60, 2) &&
           is_elf_inside(elf, size);
}

/* Is the entry's payload of `size` bytes what its header says: a whole zstd
 * frame, a cubin, or text that ends with a NUL? */
static bool is_payload(const unsigned char *entry, const unsigned char *payload,
                       uint64_t size)
{
    uint64_t compressed = number(entry + 16, 4);
    uint64_t uncompressed = number(entry + 56, 8);

    if (number(entry + 40, 8) & FLAG_ZSTD)
        return compressed <= size && size - compressed < 8 && compressed >= 4 &&
               uncompressed && uncompressed <= UNCOMPRESSED_MAX &&
               number(payload, 4) == ZSTD_MAGIC;
    if (compressed || uncompressed)
        return false;
    if (number(entry, 2) == INGOT_PTX)
        return payload[0] && !payload[size - 1];
    return is_cubin(payload, size);
}

/* What the header of the entry at `offset` says, without a hash. */
static struct ingot_image image_at(const unsigned char *entry, uint64_t offset)
{
    struct ingot_image image;
    uint64_t flags = number(entry + 40, 8);

    image.kind = (uint32_t)number(entry, 2);
    image.sm = (uint32_t)number(entry + 28, 4);
    image.suffix = flags & FLAG_A ? 'a' : flags & FLAG_F ? 'f' : '\0';
    image.offset = offset + number(entry + 4, 4);
    image.size = number(entry + 8, 8);
    image.hash = 0;
    return image;
}

/* Does the header of the entry at `offset` say what the table says of `image`? */
static bool is_image(const unsigned char *entry, uint64_t offset,
                     const struct ingot_image *image)
{
    struct ingot_image said = image_at(entry, offset);

    return said.kind == image->kind && said.sm == image->sm &&
           said.suffix == image->suffix && said.offset == image->offset &&
           said.size == image->size && said.sm < SM_LIMIT &&
           (said.kind == INGOT_PTX || said.kind == INGOT_CUBIN);
}

/* What is wrong with the entry in front of `room` bytes, NULL if nothing;
 * `offset` is its place in the fatbin. */
static const char *entry_fault(const unsigned char *entry, uint64_t room,
                               uint64_t offset, const struct ingot_image *image)
{
    uint64_t header, size, flags;

    if (room < ENTRY_HEADER)
        return "entry is cut off";
    header = number(entry + 4, 4);
    size = number(entry + 8, 8);
    flags = number(entry + 40, 8);
    if (header < ENTRY_HEADER || header > ENTRY_HEADER_MAX || header % 8 ||
        number(entry + 2, 2) != 0x101 || number(entry + 20, 4) > header ||
        number(entry + 32, 4) + number(entry + 36, 4) > header)
        return "entry header is malformed";
    if (!size || size % 8 || !is_inside(header, size, room))
        return "payload is cut off";
    if ((flags & ~(uint64_t)FLAGS_KNOWN) || !(flags & FLAG_64BIT) ||
        (flags & FLAG_A && flags & FLAG_F))
        return "entry has unknown flags";
    if (!is_image(entry, offset, image))
        return "entry is not the one of the header's table";
    if (!is_payload(entry, entry + header, size))
        return "payload is malformed";
    return NULL;
}

/* What is wrong with the container of the module's images, which takes `size`
 * bytes, NULL if nothing; `*at` becomes the place. */
static const char *fatbin_fault(const struct ingot_module *module,
                                uint64_t size, uint64_t *at)
{
    const struct ingot_image *image = module->images;
    const unsigned char *fatbin = module->fatbin;
    const char *fault;
    uint32_t i;

    *at = 0;
    if (!fatbin || size < CONTAINER_HEADER || !module->image_count ||
        number(fatbin, 8) != CONTAINER_MAGIC ||
        number(fatbin + 8, 8) != size - CONTAINER_HEADER)
        return "not a fatbin";
    *at = CONTAINER_HEADER;
    for (i = 0; i < module->image_count; i++, image++) {
        fault = entry_fault(fatbin + *at, size - *at, *at, image);
        if (fault)
            return fault;
        *at = image->offset + image->size;
    }
    return *at == size ? NULL : "bytes follow the last entry";
}

/* The stamp at the end of `size` bytes of a fatbin; NULL if there is none. */
static const unsigned char *stamp_of(const unsigned char *fatbin, uint64_t size)
{
    if (!fatbin || size < CONTAINER_HEADER + STAMP_SIZE ||
        number(fatbin + size - STAMP_SIZE, 8) != STAMP_MAGIC)
        return NULL;
    return fatbin + size - STAMP_SIZE;
}

/* Makes a table of the images that a container of `size` bytes has, as far as
 * it makes sense.  False if memory ran out. */
static bool take_images(struct ingot_module *module, uint64_t size)
{
    const unsigned char *fatbin = module->fatbin;
    uint64_t at = CONTAINER_HEADER;
    struct ingot_image image, *table;

    module->image_count = 0;
    while (is_inside(at, ENTRY_HEADER, size)) {
        image = image_at(fatbin + at, at);
        if (image.offset < at + ENTRY_HEADER ||
            !is_inside(image.offset, image.size, size))
            break;
        image.hash = ingot_hash(fatbin + image.offset, image.size);
        at = image.offset + image.size;
        table = (struct ingot_image *)realloc(
            module->changed, (module->image_count + 1) * sizeof image);
        if (!table)
            return false;
        table[module->image_count++] = image;
        module->images = module->changed = table;
    }
    return true;
}

/* What is wrong with the header's tables, NULL if nothing. */
static const char *artifact_fault(const struct ingot_artifact *artifact)
{
    const struct ingot_entry *entry;
    uint32_t i;

    if (!artifact || artifact->abi != INGOT_ABI)
        return "made for another version of the runtime";
    entry = artifact->entries;
    if (!artifact->name || !artifact->images || !entry ||
        !artifact->image_count || !artifact->entry_count)
        return "a table is missing";
    for (i = 0; i < artifact->entry_count; i++, entry++)
        if (!entry->name || (entry->param_count && !entry->param_sizes))
            return "a table is missing";
    return NULL;
}

/* ---- The driver --------------------------------------------------------- */

/* The function `name` of the driver `library`, NULL if missing.  Where it has
 * cuGetProcAddress_v2, that knows functions by their name without suffix and
 * their first version; asked with a version above the driver's own it knows
 * none at all. */
static void *symbol(void *library, const char *name, int version)
{
    void *pointer = function_of(library, "cuGetProcAddress_v2");
    char base[64];
    void *found = NULL;
    find_symbol *find;
    int ignored;

    memcpy(&find, &pointer, sizeof find);
    snprintf(base, sizeof base, "%.*s", (int)strcspn(name, "_"), name);
    if (find)
        find(base, &found, version, 0, &ignored);
    return found ? found : function_of(library, name);
}

/* Fills `driver` from `library`.  Returns NULL, or the name of a function that
 * is needed and missing. */
static const char *resolve(struct driver *driver, void *library)
{
#define NAME(name, version, needed, parameters)    #name "\0"
#define VERSION(name, version, needed, parameters) version * 2 + needed,
    static const char names[] = DRIVER(NAME);
    static const uint16_t versions[] = {DRIVER(VERSION)};
#undef NAME
#undef VERSION
    const char *name = names;
    void *pointer;
    size_t i;

    for (i = 0; *name; i++, name += strlen(name) + 1) {
        pointer = symbol(library, name, versions[i] / 2);
        if (!pointer && versions[i] % 2)
            return name;
        memcpy((char *)driver + i * sizeof pointer, &pointer, sizeof pointer);
    }
    return NULL;
}

/* Makes `module->driver` usable, unless it is.  The library stays open for
 * ever: the driver cannot be unloaded. */
static enum ingot_status open_driver(struct ingot_module *module)
{
    char text[INGOT_TEXT_SIZE / 2];
    const char *missing;
    int result;

    if (module->pid)
        return INGOT_OK;
    module->library = open_library(module->options.driver);
    if (!module->library)
        return fail(module, NULL, INGOT_NO_DRIVER, "%s",
                    library_error(module->options.driver, text, sizeof text));
    missing = resolve(&module->driver, module->library);
    if (missing)
        return fail(module, NULL, INGOT_OLD_DRIVER, "it lacks %s", missing);
    result = module->driver.cuInit(0);
    if (result)
        return driver_failed(module, NULL, "cuInit", result);
    atomic_store(&module->pid, process_id());
    return INGOT_OK;
}

COLD void *ingot_driver_function(struct ingot_module *module, const char *name,
                                 int version)
{
    bool is_open;

    if (!module || module->failed || has_forked(module))
        return NULL;
    mutex_lock(&module->load_lock);
    is_open = !open_driver(module);
    mutex_unlock(&module->load_lock);
    return is_open ? symbol(module->library, name, version) : NULL;
}

/* Makes the primary context of the options' device `*context` and keeps it. */
static int retain_primary(struct ingot_module *module, void **context)
{
    const struct driver *driver = &module->driver;
    int *device = &module->primary_device;
    int result = driver->cuDeviceGet(device, module->options.device);

    if (!result)
        result = driver->cuDevicePrimaryCtxRetain(context, *device);
    if (!result) {
        module->retains++;
        module->primary = *context;
    }
    return result;
}

/* The context that a launch into `stream` needs: the stream's, else the
 * thread's, else the primary one if that is retained, else NULL. */
static void *context_of(struct ingot_module *module, CUstream stream)
{
    const struct driver *driver = &module->driver;
    void *context = NULL;

    if ((uintptr_t)stream > LAST_SPECIAL_STREAM && driver->cuStreamGetCtx &&
        !driver->cuStreamGetCtx(stream, &context) && context)
        return context;
    if (driver->cuCtxGetCurrent(&context))
        context = NULL;
    return context ? context : atomic_load(&module->primary);
}

/* Makes `context` current, and loads legal while a stream is captured.
 * `*mode` is for leave_context. */
static int enter_context(const struct driver *driver, void *context, int *mode)
{
    int result = driver->cuCtxPushCurrent_v2(context);

    *mode = CAPTURE_RELAXED;
    if (!result && driver->cuThreadExchangeStreamCaptureMode)
        driver->cuThreadExchangeStreamCaptureMode(mode);
    return result;
}

/* Undoes enter_context. */
static void leave_context(const struct driver *driver, int mode)
{
    void *context;

    if (driver->cuThreadExchangeStreamCaptureMode)
        driver->cuThreadExchangeStreamCaptureMode(&mode);
    driver->cuCtxPopCurrent_v2(&context);
}

/* ---- The ladder --------------------------------------------------------- */

/* How well `image` suits a device of architecture `sm`; 0: not at all.
 * Machine code before text, near before far, specialised before general. */
static uint32_t fitness(const struct ingot_image *image, uint32_t sm)
{
    bool is_text = image->kind == INGOT_PTX;
    bool fits = image->suffix == 'a'
                    ? image->sm == sm
                    : image->sm <= sm && ((is_text && !image->suffix) ||
                                          image->sm / 10 == sm / 10);
    uint32_t rank = image->suffix == 'a' ? 2 : image->suffix == 'f' ? 1 : 0;

    return fits ? image->sm * 4 + rank + (is_text ? 0 : 4 * SM_LIMIT) : 0;
}

/* Finds the fittest image below `*limit`, which becomes its fitness. */
static bool next_image(const struct ingot_module *module, uint32_t sm,
                       uint32_t *limit, uint32_t *image)
{
    uint32_t i, score, best = 0;

    for (i = 0; i < module->image_count; i++) {
        score = fitness(&module->images[i], sm);
        if (score > best && score < *limit) {
            best = score;
            *image = i;
        }
    }
    *limit = best;
    return best;
}

/* Keeps what the driver's compiler said, unless an attempt before did. */
static void keep_log(struct ingot_module *module)
{
    char *log = *module->errors ? module->errors : module->messages;

    log[INGOT_LOG_SIZE - 1] = '\0';
    if (!*module->log)
        set_text(module, module->log, log, INGOT_LOG_SIZE);
}

/* Compiles `text`, the attempt's PTX; `*code` becomes `*size` bytes of machine
 * code that `*link` owns.  Other threads can launch meanwhile, not so during a
 * load of PTX. */
static int compile(const struct attempt *attempt, char *text, void **link,
                   void **code, size_t *size)
{
    const struct driver *driver = &attempt->module->driver;
    double start = clock_ms();
    int result = driver->cuLinkCreate_v2(4, attempt->log_options,
                                         attempt->log_values, link);

    if (result)
        return result;
    result = driver->cuLinkAddData_v2(*link, INPUT_PTX, text, strlen(text) + 1,
                                      "ingot", 0, NULL, NULL);
    if (!result)
        result = driver->cuLinkComplete(*link, code, size);
    attempt->loaded->report.jit_ms = clock_ms() - start;
    keep_log(attempt->module);
    return result;
}

/* Loads what `cache` has for `key`, unless it is no machine code or the driver
 * refuses it. */
static bool load_cached(const struct attempt *attempt,
                        const struct ingot_jit_cache *cache,
                        const struct ingot_jit_key *key)
{
    size_t size = 0;
    const void *code = cache->find(cache->user, key, &size);
    bool is_loaded = code && is_cubin((const unsigned char *)code, size) &&
                     !attempt->module->driver.cuModuleLoadDataEx(
                         &attempt->loaded->module, code, 0, NULL, NULL);

    if (code)
        cache->release(cache->user, code);
    return is_loaded;
}

/* Is the attempt's image PTX that the driver's linker can compile?  It cannot
 * read compressed text, the loader can. */
static bool can_compile(const struct attempt *attempt, const char *payload)
{
    return attempt->image->kind == INGOT_PTX &&
           attempt->module->driver.cuLinkCreate_v2 &&
           number((const unsigned char *)payload, 4) != ZSTD_MAGIC;
}

/* Gives the attempt's image to the driver; of PTX that can be compiled the
 * machine code: the cache's, or else what the cache gets then. */
static int load_container(const struct attempt *attempt)
{
    const struct driver *driver = &attempt->module->driver;
    const struct ingot_load *report = &attempt->loaded->report;
    char *payload =
        (char *)attempt->container + attempt->size - attempt->image->size;
    bool compiles = can_compile(attempt, payload);
    const struct ingot_jit_cache *cache =
        compiles ? (const struct ingot_jit_cache *)attempt->module->cache
                 : NULL;
    const struct ingot_jit_key key = {attempt->module->artifact->fatbin_hash,
                                      attempt->image->hash,
                                      report->device_sm,
                                      report->driver_version,
                                      0,
                                      0};
    void *link = NULL, *code = attempt->container;
    size_t size = 0;
    int result = 0;

    if (cache && load_cached(attempt, cache, &key))
        return 0;
    if (compiles)
        result = compile(attempt, payload, &link, &code, &size);
    if (!result)
        result = driver->cuModuleLoadDataEx(&attempt->loaded->module, code, 4,
                                            attempt->log_options,
                                            attempt->log_values);
    if (!result && cache && is_cubin((const unsigned char *)code, size))
        cache->store(cache->user, &key, code, size);
    if (link)
        driver->cuLinkDestroy(link);
    keep_log(attempt->module);
    return result;
}

/* Loads image `i`, from a container of its own.  The reader sees the copy
 * again: what the caller owns may have changed since it was opened. */
APART static int load_image(struct ingot_module *module, struct loaded *loaded,
                            uint32_t i)
{
    const struct ingot_image *image = &module->images[i];
    uint64_t start =
        i ? image[-1].offset + image[-1].size : (uint64_t)CONTAINER_HEADER;
    uint64_t head[] = {CONTAINER_MAGIC, image->offset + image->size - start};
    uint64_t size = sizeof head + head[1];
    unsigned char *copy = (unsigned char *)malloc(size);
    void *room = (void *)(uintptr_t)INGOT_LOG_SIZE;
    int options[] = {JIT_MESSAGES, JIT_MESSAGES_SIZE, JIT_ERRORS,
                     JIT_ERRORS_SIZE};
    void *values[] = {module->messages, room, module->errors, room};
    struct attempt attempt = {module, loaded,  image, copy,
                              size,   options, values};
    int result = IMAGE_CHANGED;

    if (!copy)
        return OUT_OF_HOST_MEMORY;
    *module->messages = *module->errors = '\0';
    memcpy(copy, head, sizeof head);
    memcpy(copy + sizeof head, module->fatbin + start, head[1]);
    if (!entry_fault(copy + sizeof head, head[1], start, image) &&
        ingot_hash(copy + size - image->size, image->size) == image->hash)
        result = load_container(&attempt);
    free(copy);
    return result;
}

/* Writes " cubin sm_90a" or the like to `text` of `size` bytes; returns how
 * long that is. */
APART static size_t image_name(const struct ingot_image *image, char *text,
                               size_t size)
{
    return (size_t)snprintf(text, size, " %s sm_%u%.1s",
                            image->kind == INGOT_PTX ? "PTX" : "cubin",
                            image->sm, &image->suffix);
}

/* Fails because no image suits the device: says what there is. */
static enum ingot_status no_image(struct ingot_module *module,
                                  struct loaded *loaded)
{
    char list[INGOT_TEXT_SIZE / 2];
    size_t used = 0;
    uint32_t i;

    for (i = 0; i < module->image_count && used < sizeof list; i++)
        used += image_name(&module->images[i], list + used, sizeof list - used);
    return fail(module, loaded, INGOT_NO_IMAGE,
                "the GPU is sm_%u, the fatbin has%s", loaded->report.device_sm,
                list);
}

/* Loads the fittest image that the driver takes.  A failure that would meet
 * the next image too ends the search. */
APART static enum ingot_status load_fittest(struct ingot_module *module,
                                            struct loaded *loaded)
{
    const struct ingot_image *images = module->images;
    struct ingot_load *report = &loaded->report;
    uint32_t limit = UINT32_MAX, i = 0, culprit = 0;
    int result, reason = 0;
    bool is_final;
    char name[32];

    while (next_image(module, report->device_sm, &limit, &i)) {
        result = load_image(module, loaded, i);
        if (!result) {
            report->image = i;
            report->rung = images[i].kind == INGOT_PTX ? INGOT_RUNG_PTX
                           : images[i].sm == report->device_sm
                               ? INGOT_RUNG_EXACT
                               : INGOT_RUNG_FAMILY;
            return INGOT_OK;
        }
        is_final = status_of(result) != INGOT_LOAD_FAILED;
        if (!reason || is_final) {
            culprit = i;
            reason = result;
        }
        if (is_final)
            break;
        report->refused++;
    }
    if (!reason)
        return no_image(module, loaded);
    image_name(&images[culprit], name, sizeof name);
    return driver_failed(module, loaded, name + 1, reason);
}

/* ---- Kernels ------------------------------------------------------------ */

/* Has the kernel the parameters of `entry`, as far as the driver can tell?
 * Offsets differ between architectures and are not compared. */
static bool has_parameters(const struct driver *driver, void *function,
                           const struct ingot_entry *entry)
{
    size_t offset, size;
    uint32_t i;

    for (i = 0; driver->cuFuncGetParamInfo && i <= entry->param_count; i++) {
        size = 0;
        driver->cuFuncGetParamInfo(function, i, &offset, &size);
        if (size != (i < entry->param_count ? entry->param_sizes[i] : 0))
            return false;
    }
    return true;
}

/* Finds out what a launch of `kernel` may ask for on this device, and allows
 * it.  A device with less shared memory than the kernel may want is no failure
 * until a launch wants it. */
static int set_limits(const struct driver *driver, struct kernel *kernel,
                      const struct ingot_entry *entry)
{
    uint64_t total = (uint64_t)entry->static_shared + entry->max_dynamic_shared;
    int result = driver->cuFuncGetAttribute((int *)&kernel->thread_limit,
                                            FUNC_MAX_THREADS, kernel->function);

    if (entry->max_threads && entry->max_threads < kernel->thread_limit)
        kernel->thread_limit = entry->max_threads;
    kernel->shared_limit = entry->max_dynamic_shared;
    if (result || total <= DEFAULT_SHARED)
        return result;
    result = driver->cuFuncSetAttribute(kernel->function, FUNC_DYNAMIC_SHARED,
                                        (int)entry->max_dynamic_shared);
    if (result != INVALID_VALUE)
        return result;
    kernel->shared_limit = entry->static_shared < DEFAULT_SHARED
                               ? DEFAULT_SHARED - entry->static_shared
                               : 0;
    return 0;
}

/* Of the attributes of `entry`, those that its launches from `loaded` have.  A
 * kernel of an older image does not wait: it begins when the one before it has
 * ended. */
static uint32_t usable_attributes(const struct ingot_module *module,
                                  const struct loaded *loaded,
                                  const struct ingot_entry *entry)
{
    const struct ingot_load *report = &loaded->report;
    bool has_waits = module->images[report->image].sm >= PROGRAMMATIC_SM;

    if (has_waits && report->driver_version >= PROGRAMMATIC_DRIVER &&
        loaded->launch_with)
        return entry->attributes;
    return entry->attributes & ~(uint32_t)INGOT_PROGRAMMATIC;
}

/* Fetches the kernel of `entry` from the loaded image. */
APART static enum ingot_status fetch_kernel(struct ingot_module *module,
                                            struct loaded *loaded,
                                            const struct ingot_entry *entry,
                                            struct kernel *kernel)
{
    const struct driver *driver = &module->driver;
    int result = driver->cuModuleGetFunction(&kernel->function, loaded->module,
                                             entry->name);

    kernel->attributes = usable_attributes(module, loaded, entry);
    if (result == NOT_FOUND && entry->optional) {
        kernel->function = NULL;
        return INGOT_OK;
    }
    if (result == NOT_FOUND)
        return fail(module, loaded, INGOT_NO_KERNEL, "%s", entry->name);
    if (!result && !has_parameters(driver, kernel->function, entry))
        return fail(module, loaded, INGOT_BAD_PARAMETERS, "%s", entry->name);
    if (!result)
        result = set_limits(driver, kernel, entry);
    return result ? driver_failed(module, loaded, entry->name, result)
                  : INGOT_OK;
}

/* Asks which GPU the current context is for. */
static int identify_device(const struct driver *driver, struct loaded *loaded)
{
    struct ingot_load *report = &loaded->report;
    int device, major, minor, version = 0;
    int result = driver->cuCtxGetDevice(&device);

    if (!result)
        result =
            driver->cuDeviceGetAttribute(&major, ATTRIBUTE_CC_MAJOR, device);
    if (!result)
        result =
            driver->cuDeviceGetAttribute(&minor, ATTRIBUTE_CC_MINOR, device);
    if (!result)
        result =
            driver->cuDeviceGetAttribute(&loaded->sms, ATTRIBUTE_SMS, device);
    if (result)
        return result;
    driver->cuDriverGetVersion(&version);
    report->driver_version = (uint32_t)version;
    report->device_sm = (uint32_t)(major * 10 + minor);
    return 0;
}

/* Fills `loaded` in the current context. */
static enum ingot_status fill(struct ingot_module *module,
                              struct loaded *loaded)
{
    const struct ingot_artifact *artifact = module->artifact;
    int result = identify_device(&module->driver, loaded);
    enum ingot_status status;
    uint32_t i;

    if (result)
        return driver_failed(module, loaded, "asking for the device", result);
    status = load_fittest(module, loaded);
    for (i = 0; !status && i < artifact->entry_count; i++)
        status = fetch_kernel(module, loaded, &artifact->entries[i],
                              &loaded->kernels[i]);
    if (status && loaded->module) {
        module->driver.cuModuleUnload(loaded->module);
        loaded->module = NULL;
    }
    return status;
}

/* ---- Contexts ----------------------------------------------------------- */

/* What is loaded in `context`, NULL if nothing. */
static struct loaded *find(struct ingot_module *module, const void *context)
{
    struct loaded *loaded = atomic_load(&module->first);

    while (loaded && (loaded->context != context || loaded->is_stale))
        loaded = loaded->next;
    return loaded;
}

/* Makes `loaded` what launches in its context use.  An older one for the same
 * pointer belongs to a context that is gone. */
static void publish(struct ingot_module *module, struct loaded *loaded)
{
    struct loaded *other = find(module, loaded->context);
    bool is_only = !loaded->status;

    if (other)
        other->is_stale = true;
    loaded->next = module->first;
    for (other = loaded->next; other; other = other->next)
        is_only = is_only && other->is_stale;
    atomic_store(&module->hot, is_only ? loaded : NULL);
    atomic_store(&module->first, loaded);
}

/* Loads in `context`, whose id is `id`; it is current only meanwhile.  What
 * will never work is published too, to fail at once the next time. */
static enum ingot_status load(struct ingot_module *module, void *context,
                              unsigned long long id, struct loaded **loaded)
{
    size_t count = module->artifact->entry_count;
    struct loaded *made = (struct loaded *)calloc(
        1, sizeof *made + count * sizeof *made->kernels);
    double start = clock_ms();
    enum ingot_status status;
    int mode, result;

    if (!made)
        return fail(module, NULL, INGOT_NO_MEMORY, "no room to load");
    made->context = context;
    made->id = id;
    made->launch = module->driver.cuLaunchKernel;
    made->launch_with = module->driver.cuLaunchKernelEx;
    made->kernel_count = module->artifact->entry_count;
    set_text(module, module->log, "", 1);
    result = enter_context(&module->driver, context, &mode);
    if (result) {
        status = driver_failed(module, made, "cuCtxPushCurrent", result);
    } else {
        status = fill(module, made);
        leave_context(&module->driver, mode);
    }
    made->report.load_ms = clock_ms() - start;
    *loaded = made;
    if (!status || (PERMANENT >> status & 1))
        publish(module, made);
    else
        free(made);
    return status;
}

/* The id of `context`, 0 where the driver has none. */
static int context_id(const struct ingot_module *module, void *context,
                      unsigned long long *id)
{
    *id = 0;
    return module->driver.cuCtxGetId ? module->driver.cuCtxGetId(context, id)
                                     : 0;
}

/* Finds the context for a launch into `stream`, and its id.  Where there is
 * none, or it is a primary context of ours that was reset: retains that. */
static int identify(struct ingot_module *module, CUstream stream,
                    void **context, unsigned long long *id)
{
    int result = CONTEXT_IS_DESTROYED;

    *context = context_of(module, stream);
    if (*context)
        result = context_id(module, *context, id);
    if (result != CONTEXT_IS_DESTROYED || *context != module->primary)
        return result;
    result = retain_primary(module, context);
    return result ? result : context_id(module, *context, id);
}

/* Finds or loads what `wanted` needs.  A context is known by pointer and id;
 * where there are no ids, something that failed counts as another context's.
 * Requires: the load lock, an open driver. */
static enum ingot_status locate(struct ingot_module *module,
                                const struct wanted *wanted,
                                struct loaded **loaded)
{
    unsigned long long id;
    void *context;
    int result = identify(module, wanted->stream, &context, &id);

    if (result)
        return driver_failed(module, NULL, "finding the context", result);
    *loaded = find(module, context);
    if (*loaded && (*loaded)->id == id && (id || *loaded != wanted->failed))
        return (*loaded)->status ? fail_again(module, *loaded) : INGOT_OK;
    if (!wanted->may_load)
        return fail(module, NULL, INGOT_NOT_LOADED, "launch before preload");
    return load(module, context, id, loaded);
}

/* Finds or loads what `wanted` needs, from any state of the module. */
COLD static enum ingot_status acquire(struct ingot_module *module,
                                      const struct wanted *wanted,
                                      struct loaded **loaded)
{
    enum ingot_status status;

    if (module->failed)
        return module->failed;
    if (has_forked(module))
        return INGOT_FORKED;
    mutex_lock(&module->load_lock);
    status = open_driver(module);
    if (!status)
        status = locate(module, wanted, loaded);
    mutex_unlock(&module->load_lock);
    return status;
}

/* What is loaded for `stream`, without asking the driver where only one
 * context is in use; NULL if nothing. */
static struct loaded *peek(struct ingot_module *module, CUstream stream)
{
    struct loaded *loaded =
        atomic_load_explicit(&module->hot, memory_order_acquire);

    if (loaded || !atomic_load(&module->first))
        return loaded;
    return find(module, context_of(module, stream));
}

/* Refuses an `entry` that the artifact has not. */
static enum ingot_status check_entry(struct ingot_module *module,
                                     uint32_t entry)
{
    return entry < module->artifact->entry_count
               ? INGOT_OK
               : fail(module, NULL, INGOT_INVALID, "no entry %u", entry);
}

/* What a launch into `stream` needs, after one from `failed`, if not NULL. */
static struct wanted wanted_by_launch(const struct ingot_module *module,
                                      CUstream stream,
                                      const struct loaded *failed)
{
    bool may_load = !(module->options.flags & INGOT_LOAD_EXPLICITLY);
    struct wanted wanted = {stream, may_load, failed};

    return wanted;
}

/* Sets `*loaded` to what kernel `entry` is launched from into `stream`. */
APART static enum ingot_status use(struct ingot_module *module, uint32_t entry,
                                   CUstream stream, struct loaded **loaded)
{
    struct wanted wanted;
    enum ingot_status status;

    if (!module)
        return INGOT_INVALID;
    *loaded = peek(module, stream);
    if (!*loaded) {
        wanted = wanted_by_launch(module, stream, NULL);
        status = acquire(module, &wanted, loaded);
        if (status)
            return status;
    }
    if ((*loaded)->status)
        return fail_again(module, *loaded);
    return check_entry(module, entry);
}

/* ---- Launching ---------------------------------------------------------- */

/* Writes what `launch` asks for to `text`, of INGOT_TEXT_SIZE bytes. */
static void describe(const struct ingot_module *module,
                     const struct launch *launch, char *text)
{
    const uint64_t *grid = launch->grid;
    const uint32_t *block = launch->block;

    snprintf(text, INGOT_TEXT_SIZE,
             "%s<%" PRIu64 "x%" PRIu64 "x%" PRIu64 ", %ux%ux%u, %u bytes>",
             module->artifact->entries[launch->entry].name, grid[0], grid[1],
             grid[2], block[0], block[1], block[2], launch->shared);
}

/* Refuses `launch` with a text that names it and the limits of `kernel`. */
COLD static enum ingot_status refuse_launch(struct ingot_module *module,
                                            const struct kernel *kernel,
                                            const struct launch *launch)
{
    char text[INGOT_TEXT_SIZE];

    describe(module, launch, text);
    if (!kernel->function)
        return fail(module, NULL, INGOT_NO_KERNEL,
                    "%s: the image for this GPU lacks it", text);
    return fail(module, NULL, INGOT_BAD_LAUNCH,
                "%s exceeds <%dx%dx%d, 1024x1024x64, %u bytes> or %u threads",
                text, INT32_MAX, UINT16_MAX, UINT16_MAX, kernel->shared_limit,
                kernel->thread_limit);
}

/* Whether a launch has blocks, and is within the limits of the device and of
 * `kernel`. */
static HOT bool is_within_limits(const struct kernel *kernel,
                                 const struct launch *launch)
{
    const uint64_t *grid = launch->grid;
    const uint32_t *block = launch->block;

    return grid[0] - 1 < INT32_MAX && grid[1] - 1 < UINT16_MAX &&
           grid[2] - 1 < UINT16_MAX && block[0] - 1 < 1024 &&
           block[1] - 1 < 1024 && block[2] - 1 < 64 &&
           block[0] * block[1] * block[2] <= kernel->thread_limit &&
           launch->shared <= kernel->shared_limit;
}

/* Launches from `loaded` by the attributes of the kernel. */
APART static int launch_by(const struct loaded *loaded,
                           const struct launch *launch)
{
    const struct kernel *kernel = &loaded->kernels[launch->entry];
    struct launch_attribute attributes[2];
    struct launch_config config = {
        {0}, {0}, launch->shared, launch->stream, attributes, 0};
    int i;

    if (!loaded->launch_with)
        return MISSING_FUNCTION;
    for (i = 0; i < 3; i++) {
        config.grid[i] = (unsigned)launch->grid[i];
        config.block[i] = launch->block[i];
    }
    memset(attributes, 0, sizeof attributes);
    for (i = 0; i < 2; i++) {
        if (!(kernel->attributes >> i & 1))
            continue;
        attributes[config.attribute_count].id =
            i ? LAUNCH_COOPERATIVE : LAUNCH_PROGRAMMATIC;
        attributes[config.attribute_count++].value = 1;
    }
    return loaded->launch_with(&config, kernel->function, launch->params, NULL);
}

/* Launches from `loaded`, as cuLaunchKernel does. */
static HOT int launch_from(const struct loaded *loaded,
                           const struct launch *launch)
{
    const struct kernel *kernel = &loaded->kernels[launch->entry];
    const uint64_t *grid = launch->grid;
    const uint32_t *block = launch->block;

    if (kernel->attributes)
        return launch_by(loaded, launch);
    return loaded->launch(kernel->function, (unsigned)grid[0],
                          (unsigned)grid[1], (unsigned)grid[2], block[0],
                          block[1], block[2], launch->shared, launch->stream,
                          launch->params, NULL);
}

/* Launches from `loaded` with its context made current meanwhile. */
static int launch_within(const struct driver *driver,
                         const struct loaded *loaded,
                         const struct launch *launch)
{
    void *context;
    int result = driver->cuCtxPushCurrent_v2(loaded->context);

    if (result)
        return result;
    result = launch_from(loaded, launch);
    driver->cuCtxPopCurrent_v2(&context);
    return result;
}

/* Refuses `launch` from `loaded`, whose blocks cannot all run at a time. */
COLD static enum ingot_status refuse_cooperation(struct ingot_module *module,
                                                 const struct loaded *loaded,
                                                 const struct launch *launch)
{
    const struct driver *driver = &module->driver;
    const uint32_t *block = launch->block;
    char text[INGOT_TEXT_SIZE];
    int each = 0, mode;

    describe(module, launch, text);
    if (driver->cuOccupancyMaxActiveBlocksPerMultiprocessor &&
        !enter_context(driver, loaded->context, &mode)) {
        driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &each, loaded->kernels[launch->entry].function,
            (int)(block[0] * block[1] * block[2]), launch->shared);
        leave_context(driver, mode);
    }
    return fail(module, NULL, INGOT_BAD_LAUNCH,
                "%s: its blocks wait for each other, and only %d of them run "
                "at a time",
                text, each * loaded->sms);
}

/* Deals with `result` of a launch from `failed`.  A context that is missing or
 * not the one of `failed` is looked up, once. */
COLD static enum ingot_status recover(struct ingot_module *module,
                                      struct loaded *failed,
                                      const struct launch *launch, int result)
{
    struct wanted wanted = wanted_by_launch(
        module, launch->stream, result == INVALID_CONTEXT ? NULL : failed);
    struct loaded *loaded = failed;
    char text[INGOT_TEXT_SIZE];
    enum ingot_status status;

    if (result == INVALID_HANDLE || result == INVALID_CONTEXT ||
        result == CONTEXT_IS_DESTROYED) {
        status = acquire(module, &wanted, &loaded);
        if (status)
            return status;
        if (!is_within_limits(&loaded->kernels[launch->entry], launch))
            return refuse_launch(module, &loaded->kernels[launch->entry],
                                 launch);
        if (loaded != failed || result == INVALID_CONTEXT)
            result = launch_within(&module->driver, loaded, launch);
    }
    if (!result)
        return INGOT_OK;
    if (result == TOO_LARGE_TO_COOPERATE &&
        loaded->kernels[launch->entry].attributes & INGOT_COOPERATIVE)
        return refuse_cooperation(module, loaded, launch);
    describe(module, launch, text);
    return driver_failed(module,
                         status_of(result) == INGOT_POISONED ? loaded : NULL,
                         text, result);
}

/* Where `hot` serves, this calls nothing but the driver. */
enum ingot_status ingot_launch(struct ingot_module *module, uint32_t entry,
                               CUstream stream, const uint64_t grid[3],
                               const uint32_t block[3], uint32_t dynamic_shared,
                               void **params)
{
    struct launch launch = {entry, dynamic_shared, stream, grid, block, params};
    struct loaded *loaded =
        module ? atomic_load_explicit(&module->hot, memory_order_acquire)
               : NULL;
    enum ingot_status status;
    int result;

    if (!loaded || entry >= loaded->kernel_count || loaded->status) {
        status = use(module, entry, stream, &loaded);
        if (status)
            return status;
    }
    if (!is_within_limits(&loaded->kernels[entry], &launch))
        return grid[0] && grid[1] && grid[2]
                   ? refuse_launch(module, &loaded->kernels[entry], &launch)
                   : INGOT_OK;
    result = launch_from(loaded, &launch);
    return result ? recover(module, loaded, &launch, result) : INGOT_OK;
}

int64_t ingot_resident(struct ingot_module *module, CUstream stream,
                       int64_t each)
{
    struct loaded *loaded;

    return use(module, 0, stream, &loaded) ? each : each * loaded->sms;
}

enum ingot_status ingot_available(struct ingot_module *module, uint32_t entry,
                                  CUstream stream, int *available)
{
    struct loaded *loaded;
    enum ingot_status status = use(module, entry, stream, &loaded);

    *available = !status && loaded->kernels[entry].function &&
                 loaded->kernels[entry].shared_limit >=
                     module->artifact->entries[entry].max_dynamic_shared;
    return status;
}

/* ---- Tensor maps -------------------------------------------------------- */

/* The number of a power of two: 1, 2, 4, 8 are 0, 1, 2, 3. */
static unsigned log_of(uint32_t power)
{
    unsigned log = 0;

    while (power >> (log + 1))
        log++;
    return log;
}

/* Has the array no elements? */
static bool has_no_elements(const struct ingot_tensor *tensor,
                            const int64_t *sizes)
{
    uint32_t d;

    for (d = 0; d < tensor->rank; d++)
        if (sizes[d] < 1)
            return true;
    return false;
}

/* Why TMA cannot address an array of these sizes and distances, or
 * NULL; fills `bytes` with the distances. */
static const char *tensor_fault(const struct ingot_tensor *tensor,
                                const int64_t *sizes, const int64_t *strides,
                                uint64_t *bytes)
{
    uint32_t d;

    for (d = 0; d < tensor->rank; d++) {
        if (sizes[d] > TENSOR_SIZE_LIMIT)
            return "a dimension has more than 2^32 elements";
        if (strides[d] < 0 ||
            strides[d] >= TENSOR_STRIDE_LIMIT / tensor->element)
            return "rows lie 2^40 bytes or more apart";
        bytes[d] = (uint64_t)strides[d] * tensor->element;
        if (d && bytes[d] % TENSOR_ALIGN)
            return "the distance of rows is no multiple of 16 bytes";
    }
    return NULL;
}

/* What the driver calls the elements: numbers without a sign, UINT8, UINT16,
 * UINT32 or UINT64, or TFLOAT32, to which TMA rounds what it loads. */
static int type_of(const struct ingot_tensor *tensor)
{
    static const unsigned char types[] = {0, 1, 2, 4};

    return tensor->rounds ? 11 : types[log_of(tensor->element)];
}

/* Has the driver make `*map`, with the context of `loaded` current if none is.
 * What lies outside reads as 0. */
static int encode(const struct driver *driver, const struct loaded *loaded,
                  const struct ingot_tensor *tensor, const void *array,
                  const int64_t *sizes, const uint64_t *bytes,
                  struct ingot_tensor_map *map)
{
    static const unsigned steps[TENSOR_RANK] = {1, 1, 1, 1, 1};
    int pushed = 0, result;
    void *context;

    for (;;) {
        result = driver->cuTensorMapEncodeTiled(
            map, type_of(tensor), tensor->rank, array, (const uint64_t *)sizes,
            bytes + 1, tensor->box, steps, 0,
            tensor->swizzle ? (int)log_of(tensor->swizzle / 16) : 0,
            L2_PROMOTION_128B, 0);
        if (result != INVALID_CONTEXT || pushed)
            break;
        result = driver->cuCtxPushCurrent_v2(loaded->context);
        if (result)
            return result;
        pushed = 1;
    }
    if (pushed)
        driver->cuCtxPopCurrent_v2(&context);
    return result;
}

enum ingot_status ingot_encode(struct ingot_module *module, CUstream stream,
                               const struct ingot_tensor *tensor,
                               const void *array, const int64_t *sizes,
                               const int64_t *strides,
                               struct ingot_tensor_map *map)
{
    uint64_t bytes[TENSOR_RANK + 1] = {0};
    struct loaded *loaded;
    enum ingot_status status = use(module, 0, stream, &loaded);
    const char *fault;
    int result;

    if (status)
        return status;
    if (!module->driver.cuTensorMapEncodeTiled)
        return fail(module, NULL, INGOT_OLD_DRIVER,
                    "it lacks cuTensorMapEncodeTiled");
    if ((uintptr_t)array % TENSOR_ALIGN)
        return fail(module, NULL, INGOT_MISALIGNED, "%s: not aligned to %d",
                    tensor->name, TENSOR_ALIGN);
    memset(map, 0, sizeof *map);
    if (has_no_elements(tensor, sizes))
        return INGOT_OK;
    fault = tensor_fault(tensor, sizes, strides, bytes);
    if (fault)
        return fail(module, NULL, INGOT_BAD_SIZE, "%s: %s", tensor->name,
                    fault);
    result = encode(&module->driver, loaded, tensor, array, sizes, bytes, map);
    return result
               ? driver_failed(module, NULL, "cuTensorMapEncodeTiled", result)
               : INGOT_OK;
}

COLD enum ingot_status ingot_preload(struct ingot_module *module)
{
    struct wanted wanted = {NULL, true, NULL};
    struct loaded *loaded;

    return module ? acquire(module, &wanted, &loaded) : INGOT_INVALID;
}

COLD enum ingot_status ingot_use_jit_cache(struct ingot_module *module,
                                           const struct ingot_jit_cache *cache)
{
    if (!module)
        return INGOT_INVALID;
    module->cache = cache;
    return module->failed;
}

COLD enum ingot_status ingot_reject(struct ingot_module *module,
                                    enum ingot_status status,
                                    const char *kernel, const char *what)
{
    return module ? fail(module, NULL, status, "%s: %s", kernel, what) : status;
}

/* ---- Opening and closing ------------------------------------------------ */

/* Reads all of `file`, or FATBIN_MAX bytes, to `module->owned`.  False if
 * memory ran out. */
static bool read_bytes(struct ingot_module *module, FILE *file, size_t *size)
{
    size_t room = module->artifact->fatbin_size + STAMP_SIZE;
    unsigned char *bytes;

    *size = 0;
    do {
        room *= 2;
        bytes = (unsigned char *)realloc(module->owned, room);
        if (!bytes)
            return false;
        module->owned = bytes;
        *size += fread(bytes + *size, 1, room - *size, file);
    } while (*size == room && room < FATBIN_MAX);
    return true;
}

/* Reads the file `path` to `module->owned`; `*size` becomes its size.  Not mapped: somebody else who shortens or writes the
 * file must not harm what was checked. */
static enum ingot_status read_file(struct ingot_module *module,
                                   const char *path, size_t *size)
{
    FILE *file = open_file(path);
    bool is_read = file && read_bytes(module, file, size) && !ferror(file);

    if (!is_read)
        fail(module, NULL, INGOT_FILE, "%s: %s", path, strerror(errno));
    if (file)
        fclose(file);
    return is_read ? INGOT_OK : INGOT_FILE;
}

/* Checks the module's fatbin of `size` bytes: the one of the artefact's tables,
 * or one that its stamp says was made of that. */
static enum ingot_status check(struct ingot_module *module, size_t size)
{
    const struct ingot_artifact *artifact = module->artifact;
    const unsigned char *stamp = stamp_of(module->fatbin, size);
    uint64_t whole = stamp ? size : artifact->fatbin_size, at = size;
    uint64_t built = artifact->fatbin_hash, hash = built;
    const char *fault = size == whole ? NULL : "wrong size";

    module->images = artifact->images;
    module->image_count = artifact->image_count;
    if (stamp) {
        size -= STAMP_SIZE;
        built = number(stamp + 8, 8);
        hash = number(stamp + 16, 8);
        if (!take_images(module, size))
            return fail(module, NULL, INGOT_NO_MEMORY, "no room to load");
    }
    if (!fault)
        fault = fatbin_fault(module, size, &at);
    if (fault)
        return fail(module, NULL, INGOT_BAD_FATBIN,
                    "byte %" PRIu64 " of %" PRIu64 ": %s", at, whole, fault);
    if (built != artifact->fatbin_hash ||
        ingot_hash(module->fatbin, size) != hash)
        return fail(module, NULL, INGOT_BAD_HASH,
                    "damaged, or of another build than the header");
    return INGOT_OK;
}

/* Takes what the file `path` holds, or, where that is NULL, `size` bytes at
 * `fatbin`, and checks it. */
static enum ingot_status adopt(struct ingot_module *module,
                               const struct ingot_artifact *artifact,
                               const struct source *source)
{
    const char *fault = artifact_fault(artifact);
    size_t size = source->size;

    if (fault)
        return fail(module, NULL, INGOT_BAD_ARTIFACT, "%s", fault);
    module->artifact = artifact;
    module->fatbin = (const unsigned char *)source->bytes;
    if (source->path) {
        if (read_file(module, source->path, &size))
            return INGOT_FILE;
        module->fatbin = module->owned;
    }
    return check(module, size);
}

/* ingot_open and ingot_open_file. */
static enum ingot_status open_source(struct ingot_module **module,
                                     const struct ingot_artifact *artifact,
                                     const struct source *source,
                                     const struct ingot_options *options)
{
    *module = (struct ingot_module *)calloc(1, sizeof **module);
    if (!*module)
        return INGOT_NO_MEMORY;
    mutex_init(&(*module)->load_lock);
    mutex_init(&(*module)->text_lock);
    if (options)
        (*module)->options = *options;
    return (*module)->failed = adopt(*module, artifact, source);
}

COLD enum ingot_status ingot_open(struct ingot_module **module,
                                  const struct ingot_artifact *artifact,
                                  const void *fatbin, size_t size,
                                  const struct ingot_options *options)
{
    struct source source = {NULL, fatbin, size};

    return open_source(module, artifact, &source, options);
}

COLD enum ingot_status ingot_open_file(struct ingot_module **module,
                                       const struct ingot_artifact *artifact,
                                       const char *path,
                                       const struct ingot_options *options)
{
    struct source source = {path ? path : "", NULL, 0};

    return open_source(module, artifact, &source, options);
}

COLD void ingot_close(struct ingot_module *module)
{
    struct driver *driver;
    struct loaded *loaded;
    int mode = CAPTURE_RELAXED;

    if (!module)
        return;
    driver = &module->driver;
    if (module->pid && driver->cuThreadExchangeStreamCaptureMode)
        driver->cuThreadExchangeStreamCaptureMode(&mode);
    while ((loaded = module->first)) {
        if (loaded->module && !loaded->status)
            driver->cuModuleUnload(loaded->module);
        module->first = loaded->next;
        free(loaded);
    }
    while (module->retains--)
        driver->cuDevicePrimaryCtxRelease_v2(module->primary_device);
    if (module->pid && driver->cuThreadExchangeStreamCaptureMode)
        driver->cuThreadExchangeStreamCaptureMode(&mode);
    mutex_destroy(&module->load_lock);
    mutex_destroy(&module->text_lock);
    free(module->changed);
    free(module->owned);
    free(module);
}

/* ---- Asking ------------------------------------------------------------- */

/* Copies `from`, which other threads may write, to `to` of `size` bytes. */
static const char *copy_text(struct ingot_module *module, const char *from,
                             char *to, size_t size)
{
    bool is_shared = module && !has_forked(module);

    if (!module)
        from = ingot_status_text(INGOT_NO_MEMORY);
    else if (!is_shared)
        from = ingot_status_text(INGOT_FORKED);
    if (is_shared)
        mutex_lock(&module->text_lock);
    snprintf(to, size, "%s", from);
    if (is_shared)
        mutex_unlock(&module->text_lock);
    return to;
}

COLD const char *ingot_error_text(struct ingot_module *module, char *text,
                                  size_t size)
{
    return copy_text(module, module ? module->text : NULL, text, size);
}

COLD const char *ingot_log_text(struct ingot_module *module, char *log,
                                size_t size)
{
    return copy_text(module, module ? module->log : NULL, log, size);
}

COLD enum ingot_status ingot_report(struct ingot_module *module,
                                    struct ingot_load *load)
{
    struct loaded *loaded = NULL, *other;

    memset(load, 0, sizeof *load);
    if (!module)
        return INGOT_INVALID;
    if (module->first)
        loaded = find(module, context_of(module, NULL));
    if (!loaded || !loaded->module)
        return INGOT_OK;
    *load = loaded->report;
    for (other = module->first; other; other = other->next)
        load->contexts += other->module && !other->is_stale;
    return INGOT_OK;
}

COLD enum ingot_status ingot_entry_info(struct ingot_module *module,
                                        uint32_t entry,
                                        struct ingot_kernel *kernel)
{
    static const uint8_t attributes[] = {4, 3, 1, 8, 0, 6, 5};
    int32_t values[sizeof attributes];
    struct wanted wanted = {NULL, false, NULL};
    struct loaded *loaded;
    enum ingot_status status;
    size_t i;

    static_assert(sizeof values == sizeof *kernel, "one attribute a field");
    status = module ? acquire(module, &wanted, &loaded) : INGOT_INVALID;
    if (!status)
        status = check_entry(module, entry);
    for (i = 0; i < sizeof attributes; i++)
        if (status ||
            module->driver.cuFuncGetAttribute(&values[i], attributes[i],
                                              loaded->kernels[entry].function))
            values[i] = -1;
    memcpy(kernel, values, sizeof values);
    return status;
}

COLD enum ingot_status ingot_image_info(struct ingot_module *module,
                                        uint32_t image,
                                        struct ingot_image *info)
{
    if (!module || image >= module->image_count)
        return INGOT_INVALID;
    *info = module->images[image];
    return INGOT_OK;
}
