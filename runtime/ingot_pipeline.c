/* ingot_pipeline.c: the chunks and lanes behind ingot_pipeline.h.
 *
 *   for each chunk c, in lane c % lanes:
 *       wait for the lane's event; empty its stages     chunk c - lanes is done
 *       fill its stages; copy in; compute; copy back; record its event
 *   then the same wait for the last chunk of each lane
 *
 * A lane's stream orders what shares the lane's memory of the GPU.  Its event
 * tells the host when a stage may be read and filled again; where no array has a
 * stage, the host waits at the end alone. */

#ifdef _WIN32
#define __USE_MINGW_ANSI_STDIO 1 /* formats of C11 with older C libraries */
#elif !defined _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "ingot_pipeline.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#endif

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The driver: ROW(exported name, parameters). */
/* clang-format off */
#define DRIVER(ROW)                                                            \
    ROW(cuGetErrorName,       (int, const char **))                            \
    ROW(cuMemAlloc_v2,        (uint64_t *, size_t))                            \
    ROW(cuMemFree_v2,         (uint64_t))                                      \
    ROW(cuMemHostAlloc,       (void **, size_t, unsigned))                     \
    ROW(cuMemFreeHost,        (void *))                                        \
    ROW(cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, CUstream))      \
    ROW(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, CUstream))            \
    ROW(cuStreamCreate,       (CUstream *, unsigned))                          \
    ROW(cuStreamDestroy_v2,   (CUstream))                                      \
    ROW(cuStreamSynchronize,  (CUstream))                                      \
    ROW(cuEventCreate,        (void **, unsigned))                             \
    ROW(cuEventDestroy_v2,    (void *))                                        \
    ROW(cuEventRecord,        (void *, CUstream))                              \
    ROW(cuEventSynchronize,   (void *))

/* Results of the driver that are not INGOT_DRIVER: ROW(result, status). */
#define CAUSES(ROW)                                                            \
    ROW(2,   DEVICE_MEMORY)                                                    \
    ROW(34,  STUB_DRIVER)                                                      \
    ROW(700, POISONED)                                                         \
    ROW(702, POISONED)                                                         \
    ROW(710, POISONED)                                                         \
    ROW(714, POISONED)                                                         \
    ROW(715, POISONED)                                                         \
    ROW(716, POISONED)                                                         \
    ROW(717, POISONED)                                                         \
    ROW(718, POISONED)                                                         \
    ROW(719, POISONED)                                                         \
    ROW(721, POISONED)
/* clang-format on */

/* Flags of the driver's functions. */
enum { STREAM_NON_BLOCKING = 1, EVENT_NO_TIMING = 2 };

/* The functions of the driver. */
struct driver {
#define DRIVER_MEMBER(name, parameters) int(*name) parameters;
    DRIVER(DRIVER_MEMBER)
#undef DRIVER_MEMBER
};

/* What a call is about: its pipeline, the driver, and the chunk, -1 if none. */
struct job {
    struct ingot_pipeline *p;
    struct driver driver;
    int64_t chunk, count;
    void *const *host;
};

/* Calls a function of the driver, as a status. */
#define CALL(job, name, ...) check(job, (job)->driver.name(__VA_ARGS__), #name)

/* ---- Failures ----------------------------------------------------------- */

/* Writes the text of a failure, "chunk 3: what: why"; returns `status`. */
static enum ingot_status fail(struct job *job, enum ingot_status status,
                              const char *what, const char *why)
{
    char chunk[40] = "";

    if (job->chunk >= 0)
        snprintf(chunk, sizeof chunk, "chunk %" PRId64 ": ", job->chunk);
    snprintf(job->p->text, sizeof job->p->text, "%s%s: %s", chunk, what, why);
    return status;
}

/* The status of `result`, which `function` of the driver returned. */
static enum ingot_status check(struct job *job, int result,
                               const char *function)
{
    enum ingot_status status = INGOT_DRIVER;
    const char *name = NULL;
    char why[80];

    if (!result)
        return INGOT_OK;
    switch (result) {
#define CAUSE(number, cause)                                                   \
    case number: status = INGOT_##cause; break;
        CAUSES(CAUSE)
#undef CAUSE
    default: break;
    }
    if (job->driver.cuGetErrorName(result, &name) || !name)
        name = "an error without a name";
    snprintf(why, sizeof why, "%s (%d)", name, result);
    return fail(job, status, function, why);
}

/* What is wrong with the first part of a pipeline, NULL if nothing is. */
static const char *fault_of(const struct ingot_pipeline *p)
{
    uint32_t i;

    if (p->chunk < 1)
        return "chunk is less than 1";
    if (p->lane_count < 1 || p->lane_count > INGOT_PIPELINE_LANES)
        return "lane_count is not 1 to 16";
    if (p->array_count < 1 || p->array_count > INGOT_PIPELINE_ARRAYS)
        return "array_count is not 1 to 8";
    for (i = 0; i < p->array_count; i++) {
        if (!(p->arrays[i].flow & (INGOT_PIPELINE_IN | INGOT_PIPELINE_OUT)) ||
            p->arrays[i].flow >> 3)
            return "the flow of an array is not IN, OUT or both";
        if (!p->arrays[i].bytes)
            return "the element of an array has 0 bytes";
    }
    return NULL;
}

/* INGOT_OVERFLOW if `count` elements of an array have too many bytes. */
static enum ingot_status check_bytes(struct job *job, int64_t count)
{
    uint32_t i;

    for (i = 0; i < job->p->array_count; i++)
        if (count && job->p->arrays[i].bytes > INT64_MAX / (uint64_t)count)
            return fail(job, INGOT_OVERFLOW, "ingot_pipeline",
                        "an array has more bytes than 63 bits count");
    return INGOT_OK;
}

/* ---- The driver --------------------------------------------------------- */

/* The driver's library, opened once more and never closed, as ingot.c does. */
static void *open_library(const char *path)
{
#ifdef _WIN32
    wchar_t name[MAX_PATH];

    if (!path)
        return (void *)LoadLibraryExW(L"nvcuda.dll", NULL,
                                      LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (!MultiByteToWideChar(CP_UTF8, 0, path, -1, name, MAX_PATH))
        return NULL;
    return (void *)LoadLibraryW(name);
#else
    void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (!library && !path)
        library =
            dlopen("/usr/lib/wsl/lib/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library;
#endif
}

/* Copies the address of `name` in `library` to `*to`; false if it is missing. */
static bool find(void *library, const char *name, void *to)
{
#ifdef _WIN32
    FARPROC found = GetProcAddress((HMODULE)library, name);
#else
    void *found = dlsym(library, name);
#endif
    memcpy(to, &found, sizeof found);
    return found;
}

/* Begins a job of `p`: checks the pipeline, and finds the driver. */
static enum ingot_status begin(struct job *job, struct ingot_pipeline *p)
{
    const char *fault = fault_of(p), *missing = NULL;
    void *library;

    memset(job, 0, sizeof *job);
    job->p = p;
    job->chunk = -1;
    if (fault)
        return fail(job, INGOT_INVALID, "ingot_pipeline", fault);
    if (check_bytes(job, p->chunk))
        return INGOT_OVERFLOW;
    library = open_library(p->driver);
    if (!library)
        return fail(job, INGOT_NO_DRIVER, p->driver ? p->driver : "libcuda",
                    ingot_status_text(INGOT_NO_DRIVER));
#define DRIVER_FIND(name, parameters)                                          \
    if (!find(library, #name, &job->driver.name))                              \
        missing = #name;
    DRIVER(DRIVER_FIND)
#undef DRIVER_FIND
    return missing ? fail(job, INGOT_OLD_DRIVER, missing, "the driver lacks it")
                   : INGOT_OK;
}

/* ---- Lanes -------------------------------------------------------------- */

/* Does array i of a pipeline go through stages? */
static bool is_staged(const struct ingot_pipeline *p, uint32_t i)
{
    return !(p->arrays[i].flow & INGOT_PIPELINE_PINNED);
}

/* Makes one lane; what was made before a failure is in it. */
static enum ingot_status create_lane(struct job *job,
                                     struct ingot_pipeline_lane *lane)
{
    enum ingot_status status =
        CALL(job, cuStreamCreate, &lane->stream, STREAM_NON_BLOCKING);
    uint64_t address;
    size_t bytes;
    uint32_t i;

    if (!status)
        status = CALL(job, cuEventCreate, &lane->event, EVENT_NO_TIMING);
    for (i = 0; i < job->p->array_count && !status; i++) {
        bytes = (size_t)job->p->chunk * (size_t)job->p->arrays[i].bytes;
        status = CALL(job, cuMemAlloc_v2, &address, bytes);
        if (!status)
            lane->device[i] = (void *)(uintptr_t)address;
        if (!status && is_staged(job->p, i))
            status = CALL(job, cuMemHostAlloc, &lane->stage[i], bytes, 0);
    }
    return status;
}

/* Gives back what a lane has; failures have nobody to tell. */
static void destroy_lane(const struct driver *driver,
                         struct ingot_pipeline_lane *lane)
{
    int i;

    if (lane->stream)
        driver->cuStreamSynchronize(lane->stream);
    for (i = 0; i < INGOT_PIPELINE_ARRAYS; i++) {
        if (lane->device[i])
            driver->cuMemFree_v2((uint64_t)(uintptr_t)lane->device[i]);
        if (lane->stage[i])
            driver->cuMemFreeHost(lane->stage[i]);
    }
    if (lane->event)
        driver->cuEventDestroy_v2(lane->event);
    if (lane->stream)
        driver->cuStreamDestroy_v2(lane->stream);
    memset(lane, 0, sizeof *lane);
}

enum ingot_status ingot_pipeline_create(struct ingot_pipeline *p)
{
    enum ingot_status status;
    struct job job;
    uint32_t i;

    memset(p->lanes, 0, sizeof p->lanes);
    status = begin(&job, p);
    for (i = 0; i < p->lane_count && !status; i++)
        status = create_lane(&job, &p->lanes[i]);
    while (status && i)
        destroy_lane(&job.driver, &p->lanes[--i]);
    return status;
}

void ingot_pipeline_destroy(struct ingot_pipeline *p)
{
    char text[INGOT_PIPELINE_TEXT];
    struct job job;
    uint32_t i;

    memcpy(text, p->text, sizeof text);
    if (!begin(&job, p))
        for (i = 0; i < p->lane_count; i++)
            destroy_lane(&job.driver, &p->lanes[i]);
    memcpy(p->text, text, sizeof text);
}

/* ---- Chunks ------------------------------------------------------------- */

/* A piece of array i: where chunk `chunk` of it is. */
struct piece {
    char *host;      /* in the caller's array */
    char *from;      /* what is copied from and to: that, or the stage */
    uint64_t device; /* on the GPU */
    size_t bytes;
};

/* The lane that chunk `chunk` runs in. */
static const struct ingot_pipeline_lane *lane_of(const struct job *job,
                                                 int64_t chunk)
{
    return &job->p->lanes[chunk % job->p->lane_count];
}

/* The elements of chunk `chunk`. */
static int64_t elements(const struct job *job, int64_t chunk)
{
    int64_t left = job->count - chunk * job->p->chunk;

    return left < job->p->chunk ? left : job->p->chunk;
}

/* Where chunk `chunk` of array i is. */
static struct piece piece_of(const struct job *job, int64_t chunk, uint32_t i)
{
    const struct ingot_pipeline_lane *lane = lane_of(job, chunk);
    size_t bytes = (size_t)job->p->arrays[i].bytes;
    struct piece piece;

    piece.host = (char *)job->host[i] + (size_t)(chunk * job->p->chunk) * bytes;
    piece.from = is_staged(job->p, i) ? (char *)lane->stage[i] : piece.host;
    piece.device = (uint64_t)(uintptr_t)lane->device[i];
    piece.bytes = (size_t)elements(job, chunk) * bytes;
    return piece;
}

/* Waits for the end of a chunk, and empties its stages. */
static enum ingot_status finish(struct job *job, int64_t chunk)
{
    enum ingot_status status;
    struct piece piece;
    uint32_t i;

    job->chunk = chunk;
    status = CALL(job, cuEventSynchronize, lane_of(job, chunk)->event);
    for (i = 0; i < job->p->array_count && !status; i++) {
        piece = piece_of(job, chunk, i);
        if (job->p->arrays[i].flow & INGOT_PIPELINE_OUT &&
            piece.from != piece.host)
            memcpy(piece.host, piece.from, piece.bytes);
    }
    return status;
}

/* Fills the stages of a chunk, and queues its copies to the GPU. */
static enum ingot_status copy_in(struct job *job, CUstream stream)
{
    enum ingot_status status = INGOT_OK;
    struct piece piece;
    uint32_t i;

    for (i = 0; i < job->p->array_count && !status; i++) {
        if (!(job->p->arrays[i].flow & INGOT_PIPELINE_IN))
            continue;
        piece = piece_of(job, job->chunk, i);
        if (piece.from != piece.host)
            memcpy(piece.from, piece.host, piece.bytes);
        status = CALL(job, cuMemcpyHtoDAsync_v2, piece.device, piece.from,
                      piece.bytes, stream);
    }
    return status;
}

/* Queues the copies of a chunk back from the GPU. */
static enum ingot_status copy_out(struct job *job, CUstream stream)
{
    enum ingot_status status = INGOT_OK;
    struct piece piece;
    uint32_t i;

    for (i = 0; i < job->p->array_count && !status; i++) {
        if (!(job->p->arrays[i].flow & INGOT_PIPELINE_OUT))
            continue;
        piece = piece_of(job, job->chunk, i);
        status = CALL(job, cuMemcpyDtoHAsync_v2, piece.from, piece.device,
                      piece.bytes, stream);
    }
    return status;
}

/* Queues a chunk: copies, the kernel, copies back, the event. */
static enum ingot_status queue(struct job *job, int64_t chunk,
                               ingot_pipeline_compute *compute, void *context)
{
    const struct ingot_pipeline_lane *lane = lane_of(job, chunk);
    enum ingot_status status;

    job->chunk = chunk;
    status = copy_in(job, lane->stream);
    if (status)
        return status;
    status = compute(context, lane->stream, chunk * job->p->chunk,
                     elements(job, chunk), lane->device);
    if (status)
        return fail(job, status, "compute", ingot_status_text(status));
    status = copy_out(job, lane->stream);
    return status ? status
                  : CALL(job, cuEventRecord, lane->event, lane->stream);
}

/* Checks what a run is given: the arrays of the host, and the lanes. */
static enum ingot_status check_run(struct job *job)
{
    const struct ingot_pipeline *p = job->p;
    bool is_whole = true;
    uint32_t i, k;

    if (job->count < 0)
        return fail(job, INGOT_BAD_SIZE, "ingot_pipeline", "count is negative");
    if (check_bytes(job, job->count))
        return INGOT_OVERFLOW;
    for (i = 0; i < p->array_count; i++)
        if (job->count && !job->host[i])
            return fail(job, INGOT_NULL_ARRAY, "ingot_pipeline",
                        ingot_status_text(INGOT_NULL_ARRAY));
    for (k = 0; k < p->lane_count; k++) {
        is_whole = is_whole && p->lanes[k].event;
        for (i = 0; i < p->array_count; i++)
            is_whole = is_whole && p->lanes[k].device[i] &&
                       (p->lanes[k].stage[i] || !is_staged(p, i));
    }
    return is_whole ? INGOT_OK
                    : fail(job, INGOT_INVALID, "ingot_pipeline",
                           "a lane lacks an event or a buffer");
}

/* Are there stages that the host fills and empties? */
static bool has_stages(const struct ingot_pipeline *p)
{
    uint32_t i;

    for (i = 0; i < p->array_count; i++)
        if (is_staged(p, i))
            return true;
    return false;
}

/* Waits for all lanes, whatever becomes of them. */
static void drain(const struct job *job)
{
    uint32_t k;

    for (k = 0; k < job->p->lane_count; k++)
        job->driver.cuStreamSynchronize(job->p->lanes[k].stream);
}

enum ingot_status ingot_pipeline_run(struct ingot_pipeline *p, int64_t count,
                                     void *const *host,
                                     ingot_pipeline_compute *compute,
                                     void *context)
{
    int64_t chunks, lanes, c;
    enum ingot_status status;
    struct job job;

    status = begin(&job, p);
    job.count = count;
    job.host = host;
    if (status || (status = check_run(&job)))
        return status;
    lanes = p->lane_count;
    chunks = count / p->chunk + (count % p->chunk != 0);
    for (c = 0; c < chunks && !status; c++) {
        if (c >= lanes && has_stages(p))
            status = finish(&job, c - lanes);
        if (!status)
            status = queue(&job, c, compute, context);
    }
    for (c = chunks > lanes ? chunks - lanes : 0; c < chunks && !status; c++)
        status = finish(&job, c);
    if (status)
        drain(&job);
    return status;
}
