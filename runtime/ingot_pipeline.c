/* ingot_pipeline.c: the chunks and lanes behind ingot_pipeline.h.
 *
 *   for each chunk c, in lane c % lanes:
 *       the host waits for `returned`; empties stages     chunk c - lanes is done
 *       the host fills stages
 *       stream in:       wait for returned; copy in; record arrived
 *       lane's stream:   wait for arrived; compute; record computed
 *       stream out:      wait for computed; copy back; record returned
 *   then the same wait of the host for the last chunk of each lane
 *
 * Where no array has a stage, the host waits at the end alone.  Copies of one way
 * are in one stream: those of several would share the bus, and all end late. */

#ifdef _WIN32
#define __USE_MINGW_ANSI_STDIO 1 /* formats of C11 with older C libraries */
#elif !defined _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "ingot_pipeline.h"

#include "ingot_copiers.h"

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
    ROW(cuStreamWaitEvent,    (CUstream, void *, unsigned))                    \
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

/* Without a number of the caller's: chunks of the least size in the largest, and
 * threads. */
enum { LEAST_DIVISOR = 16, COPIERS = 4 };

/* The functions of the driver. */
struct driver {
#define DRIVER_MEMBER(name, parameters) int(*name) parameters;
    DRIVER(DRIVER_MEMBER)
#undef DRIVER_MEMBER
};

/* The elements of a chunk. */
struct span {
    int64_t first, count;
};

/* What a call is about: its pipeline, the driver, the chunk, -1 if none, and the
 * chunk that each lane has. */
struct job {
    struct ingot_pipeline *p;
    struct driver driver;
    int64_t chunk, count;
    void *const *host;
    struct span spans[INGOT_PIPELINE_LANES];
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
    if (p->least < 0 || p->least > p->chunk)
        return "least is not 0 to chunk";
    if (p->lane_count < 1 || p->lane_count > INGOT_PIPELINE_LANES)
        return "lane_count is not 1 to 16";
    if (p->array_count < 1 || p->array_count > INGOT_PIPELINE_ARRAYS)
        return "array_count is not 1 to 8";
    if (p->copiers > INGOT_PIPELINE_COPIERS)
        return "copiers is not 0 to 64";
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

/* Are there stages that the host fills and empties? */
static bool has_stages(const struct ingot_pipeline *p)
{
    uint32_t i;

    for (i = 0; i < p->array_count; i++)
        if (is_staged(p, i))
            return true;
    return false;
}

/* Makes a stream, or an event, unless something failed before. */
static enum ingot_status
create_stream(struct job *job, enum ingot_status before, CUstream *stream)
{
    return before ? before
                  : CALL(job, cuStreamCreate, stream, STREAM_NON_BLOCKING);
}
static enum ingot_status create_event(struct job *job, enum ingot_status before,
                                      void **event)
{
    return before ? before : CALL(job, cuEventCreate, event, EVENT_NO_TIMING);
}

/* Makes one lane; what was made before a failure is in it. */
static enum ingot_status create_lane(struct job *job,
                                     struct ingot_pipeline_lane *lane)
{
    enum ingot_status status = create_stream(job, INGOT_OK, &lane->stream);
    uint64_t address;
    size_t bytes;
    uint32_t i;

    status = create_event(job, status, &lane->arrived);
    status = create_event(job, status, &lane->computed);
    status = create_event(job, status, &lane->returned);
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

/* Makes the threads of a pipeline. */
static enum ingot_status create_copiers(struct job *job)
{
    uint32_t copiers = job->p->copiers;

    job->p->team = ingot_copiers_create(copiers ? copiers : (uint32_t)COPIERS);
    return job->p->team ? INGOT_OK
                        : fail(job, INGOT_NO_MEMORY, "ingot_pipeline",
                               "the threads that copy cannot be made");
}

/* Destroys an event, or a stream after what it has to do, if there is one. */
static void destroy_event(const struct driver *driver, void *event)
{
    if (event)
        driver->cuEventDestroy_v2(event);
}
static void destroy_stream(const struct driver *driver, CUstream *stream)
{
    if (*stream) {
        driver->cuStreamSynchronize(*stream);
        driver->cuStreamDestroy_v2(*stream);
    }
    *stream = NULL;
}

/* Gives back what a lane has; failures have nobody to tell. */
static void destroy_lane(const struct driver *driver,
                         struct ingot_pipeline_lane *lane)
{
    int i;

    destroy_stream(driver, &lane->stream);
    for (i = 0; i < INGOT_PIPELINE_ARRAYS; i++) {
        if (lane->device[i])
            driver->cuMemFree_v2((uint64_t)(uintptr_t)lane->device[i]);
        if (lane->stage[i])
            driver->cuMemFreeHost(lane->stage[i]);
    }
    destroy_event(driver, lane->arrived);
    destroy_event(driver, lane->computed);
    destroy_event(driver, lane->returned);
    memset(lane, 0, sizeof *lane);
}

/* Gives back all that a pipeline has: the copies' streams first, which use the
 * memory of the lanes. */
static void destroy_all(struct job *job)
{
    struct ingot_pipeline *p = job->p;
    uint32_t i;

    destroy_stream(&job->driver, &p->in);
    destroy_stream(&job->driver, &p->out);
    for (i = 0; i < p->lane_count; i++)
        destroy_lane(&job->driver, &p->lanes[i]);
    ingot_copiers_destroy(p->team);
    p->team = NULL;
}

enum ingot_status ingot_pipeline_create(struct ingot_pipeline *p)
{
    enum ingot_status status;
    struct job job;
    uint32_t i;

    memset(p->lanes, 0, sizeof p->lanes);
    p->in = p->out = NULL;
    p->team = NULL;
    status = begin(&job, p);
    if (status)
        return status;
    status = create_stream(&job, status, &p->in);
    status = create_stream(&job, status, &p->out);
    for (i = 0; i < p->lane_count && !status; i++)
        status = create_lane(&job, &p->lanes[i]);
    if (!status && has_stages(p))
        status = create_copiers(&job);
    if (status)
        destroy_all(&job);
    return status;
}

void ingot_pipeline_destroy(struct ingot_pipeline *p)
{
    char text[INGOT_PIPELINE_TEXT];
    struct job job;

    memcpy(text, p->text, sizeof text);
    if (!begin(&job, p))
        destroy_all(&job);
    memcpy(p->text, text, sizeof text);
}

/* ---- Chunks ------------------------------------------------------------- */

/* A piece of array i: where a chunk of it is. */
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

/* The elements of chunk `chunk`, the last of its lane that was begun. */
static struct span *span_of(struct job *job, int64_t chunk)
{
    return &job->spans[chunk % job->p->lane_count];
}

/* The chunk behind `span`: twice as many elements, but no more than half of what
 * is left, in multiples of `least`, nor than `chunk`, nor than is left. */
static struct span next_span(const struct job *job, struct span span)
{
    int64_t chunk = job->p->chunk, least = job->p->least, left, half;
    struct span next;

    if (!least)
        least = (chunk + LEAST_DIVISOR - 1) / LEAST_DIVISOR;
    next.first = span.first + span.count;
    left = job->count - next.first;
    half = (left / 2 + left % 2 - 1) / least;
    half = half < chunk / least ? (half + 1) * least : chunk;
    next.count = !span.count               ? least
                 : span.count >= chunk / 2 ? chunk
                                           : 2 * span.count;
    next.count = next.count < half ? next.count : half;
    next.count = next.count < left ? next.count : left;
    return next;
}

/* Where chunk `chunk` of array i is. */
static struct piece piece_of(struct job *job, int64_t chunk, uint32_t i)
{
    const struct ingot_pipeline_lane *lane = lane_of(job, chunk);
    const struct span *span = span_of(job, chunk);
    size_t bytes = (size_t)job->p->arrays[i].bytes;
    struct piece piece;

    piece.host = (char *)job->host[i] + (size_t)span->first * bytes;
    piece.from = is_staged(job->p, i) ? (char *)lane->stage[i] : piece.host;
    piece.device = (uint64_t)(uintptr_t)lane->device[i];
    piece.bytes = (size_t)span->count * bytes;
    return piece;
}

/* Empties the stages of a chunk (OUT), or fills them (IN). */
static void copy_stages(struct job *job, int64_t chunk, uint32_t flow)
{
    struct ingot_copy copies[INGOT_PIPELINE_ARRAYS];
    struct piece piece;
    uint32_t i, count = 0;

    for (i = 0; i < job->p->array_count; i++) {
        if (!(job->p->arrays[i].flow & flow) || !is_staged(job->p, i))
            continue;
        piece = piece_of(job, chunk, i);
        copies[count].to = flow == INGOT_PIPELINE_IN ? piece.from : piece.host;
        copies[count].from =
            flow == INGOT_PIPELINE_IN ? piece.host : piece.from;
        copies[count++].bytes = piece.bytes;
    }
    ingot_copiers_run(job->p->team, copies, count);
}

/* Waits for the end of a chunk, and empties its stages. */
static enum ingot_status finish(struct job *job, int64_t chunk)
{
    enum ingot_status status;

    job->chunk = chunk;
    status = CALL(job, cuEventSynchronize, lane_of(job, chunk)->returned);
    if (!status)
        copy_stages(job, chunk, INGOT_PIPELINE_OUT);
    return status;
}

/* Queues the copies of a chunk to the GPU. */
static enum ingot_status copy_in(struct job *job)
{
    enum ingot_status status = INGOT_OK;
    struct piece piece;
    uint32_t i;

    for (i = 0; i < job->p->array_count && !status; i++) {
        if (!(job->p->arrays[i].flow & INGOT_PIPELINE_IN))
            continue;
        piece = piece_of(job, job->chunk, i);
        status = CALL(job, cuMemcpyHtoDAsync_v2, piece.device, piece.from,
                      piece.bytes, job->p->in);
    }
    return status;
}

/* Queues the copies of a chunk back from the GPU. */
static enum ingot_status copy_out(struct job *job)
{
    enum ingot_status status = INGOT_OK;
    struct piece piece;
    uint32_t i;

    for (i = 0; i < job->p->array_count && !status; i++) {
        if (!(job->p->arrays[i].flow & INGOT_PIPELINE_OUT))
            continue;
        piece = piece_of(job, job->chunk, i);
        status = CALL(job, cuMemcpyDtoHAsync_v2, piece.from, piece.device,
                      piece.bytes, job->p->out);
    }
    return status;
}

/* Lets `to` go on when what is now in `from` has ended, told by `event`. */
static enum ingot_status hand_over(struct job *job, CUstream from, void *event,
                                   CUstream to)
{
    enum ingot_status status = CALL(job, cuEventRecord, event, from);

    return status ? status : CALL(job, cuStreamWaitEvent, to, event, 0);
}

/* Calls the caller's function for a chunk. */
static enum ingot_status launch(struct job *job, CUstream stream,
                                ingot_pipeline_compute *compute, void *context)
{
    const struct span *span = span_of(job, job->chunk);
    enum ingot_status status =
        compute(context, stream, span->first, span->count,
                lane_of(job, job->chunk)->device);

    return status ? fail(job, status, "compute", ingot_status_text(status))
                  : INGOT_OK;
}

/* Queues a chunk: copies, the kernel, copies back, each behind the one before, and
 * all behind the lane's chunk before. */
static enum ingot_status queue(struct job *job, int64_t chunk,
                               ingot_pipeline_compute *compute, void *context)
{
    const struct ingot_pipeline_lane *lane = lane_of(job, chunk);
    struct ingot_pipeline *p = job->p;
    enum ingot_status status = INGOT_OK;

    job->chunk = chunk;
    copy_stages(job, chunk, INGOT_PIPELINE_IN);
    if (chunk >= p->lane_count)
        status = CALL(job, cuStreamWaitEvent, p->in, lane->returned, 0);
    if (!status)
        status = copy_in(job);
    if (!status)
        status = hand_over(job, p->in, lane->arrived, lane->stream);
    if (!status)
        status = launch(job, lane->stream, compute, context);
    if (!status)
        status = hand_over(job, lane->stream, lane->computed, p->out);
    if (!status)
        status = copy_out(job);
    return status ? status : CALL(job, cuEventRecord, lane->returned, p->out);
}

/* Checks what a run is given: the arrays of the host, and the lanes. */
static enum ingot_status check_run(struct job *job)
{
    const struct ingot_pipeline *p = job->p;
    bool is_whole = p->in && p->out;
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
        is_whole = is_whole && p->lanes[k].arrived && p->lanes[k].computed &&
                   p->lanes[k].returned;
        for (i = 0; i < p->array_count; i++)
            is_whole = is_whole && p->lanes[k].device[i] &&
                       (p->lanes[k].stage[i] || !is_staged(p, i));
    }
    return is_whole ? INGOT_OK
                    : fail(job, INGOT_INVALID, "ingot_pipeline",
                           "a stream, an event or a buffer is missing");
}

/* Waits for all that is queued, whatever becomes of it. */
static void drain(const struct job *job)
{
    uint32_t k;

    job->driver.cuStreamSynchronize(job->p->in);
    for (k = 0; k < job->p->lane_count; k++)
        job->driver.cuStreamSynchronize(job->p->lanes[k].stream);
    job->driver.cuStreamSynchronize(job->p->out);
}

/* Takes all chunks through the lanes, in the order of the elements. */
static enum ingot_status
run_chunks(struct job *job, ingot_pipeline_compute *compute, void *context)
{
    int64_t lanes = job->p->lane_count, c = 0, last;
    enum ingot_status status = INGOT_OK;
    struct span span = {0, 0};

    while (span.first + span.count < job->count && !status) {
        if (c >= lanes && has_stages(job->p))
            status = finish(job, c - lanes);
        if (status)
            break;
        span = next_span(job, span);
        *span_of(job, c) = span;
        status = queue(job, c++, compute, context);
    }
    for (last = c, c = last > lanes ? last - lanes : 0; c < last && !status;
         c++)
        status = finish(job, c);
    return status;
}

enum ingot_status ingot_pipeline_run(struct ingot_pipeline *p, int64_t count,
                                     void *const *host,
                                     ingot_pipeline_compute *compute,
                                     void *context)
{
    enum ingot_status status;
    struct job job;

    status = begin(&job, p);
    job.count = count;
    job.host = host;
    if (status || (status = check_run(&job)))
        return status;
    status = run_chunks(&job, compute, context);
    if (status)
        drain(&job);
    return status;
}
