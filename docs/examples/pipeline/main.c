/* R = X + Y of arrays of the host that are copied in pieces while others are
 * computed (ingot_pipeline.h), with 1 to 8 streams, beside one copy, one launch and
 * one copy back; and beside the rate at which this machine copies as many bytes
 * both ways at the same time, with nothing computed.
 *
 *   ./main [-c CHUNK] [INTS ...]
 *
 * Every result is compared with the CPU. */

#define _POSIX_C_SOURCE 200809L

#include "ingot_pipeline.h"
#include "vadd.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Bytes of an int, of what a sum reads and writes of it; how often each way is
 * timed: the fastest counts. */
enum { INT = 4, INTS_OF_SUM = 3, ROUNDS = 3 };

/* The sizes without arguments. */
static const char *const default_sizes[] = {"20000000", "100000000",
                                            "1000000000"};

/* What one table is about. */
struct job {
    struct ingot_module *module;
    int64_t n, chunk;
    bool is_pinned;
    int32_t *array[3];   /* X, Y, R on the host */
    uint32_t lanes;      /* streams; 0: no pipeline */
    double limit, plain; /* seconds of the copies alone, without a pipeline */
};

/* ---- Failures and time -------------------------------------------------- */

/* Is that CUDA's success?  Else says what failed. */
static bool is_ok(cudaError_t error, const char *what)
{
    if (error)
        printf("  %s: %s\n", what, cudaGetErrorString(error));
    return !error;
}

/* Is that Ingot's success?  Else says why not. */
static bool is_done(enum ingot_status status, struct ingot_module *module)
{
    char text[INGOT_TEXT_SIZE];

    if (status)
        printf("  %s\n", ingot_error_text(module, text, sizeof text));
    return !status;
}

/* Seconds of a clock that only goes forward. */
static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- Three ways --------------------------------------------------------- */

/* Without a pipeline, as a first program does it: both arrays to the GPU, one
 * launch, the result back. */
static bool run_plain(struct job *job, double *seconds)
{
    size_t bytes = (size_t)job->n * INT;
    void *device[3] = {NULL, NULL, NULL};
    bool ok = true;
    double begin;
    int i;

    for (i = 0; i < 3 && ok; i++)
        ok = is_ok(cudaMalloc(&device[i], bytes), "cudaMalloc");
    begin = now();
    for (i = 0; i < 2 && ok; i++)
        ok = is_ok(
            cudaMemcpy(device[i], job->array[i], bytes, cudaMemcpyHostToDevice),
            "copy to the GPU");
    ok = ok &&
         is_done(vadd(job->module, NULL, job->n, device[0], device[1],
                      device[2], NULL),
                 job->module) &&
         is_ok(cudaMemcpy(job->array[2], device[2], bytes,
                          cudaMemcpyDeviceToHost),
               "copy from the GPU");
    *seconds = now() - begin;
    for (i = 0; i < 3; i++)
        cudaFree(device[i]);
    return ok;
}

/* Launches the sum of a chunk. */
static enum ingot_status add(void *context, CUstream stream, int64_t first,
                             int64_t count, void *const *arrays)
{
    (void)first;
    return vadd(context, stream, count, arrays[0], arrays[1], arrays[2], NULL);
}

/* By a pipeline.  Making it is not timed: a program makes one, and uses it. */
static bool run_pipeline(struct job *job, double *seconds)
{
    uint32_t pinned = job->is_pinned ? INGOT_PIPELINE_PINNED : 0;
    struct ingot_pipeline p = {.chunk = job->chunk,
                               .lane_count = job->lanes,
                               .array_count = 3,
                               .arrays = {{INGOT_PIPELINE_IN | pinned, INT},
                                          {INGOT_PIPELINE_IN | pinned, INT},
                                          {INGOT_PIPELINE_OUT | pinned, INT}}};
    void *host[3] = {job->array[0], job->array[1], job->array[2]};
    enum ingot_status status = ingot_pipeline_create(&p);
    double begin = now();

    if (!status)
        status = ingot_pipeline_run(&p, job->n, host, add, job->module);
    *seconds = now() - begin;
    if (status)
        printf("  %s\n", p.text);
    ingot_pipeline_destroy(&p);
    return !status;
}

/* As many bytes as the sum copies, of pinned memory, both ways at the same time:
 * no way of adding on the GPU can be faster. */
static bool run_copies(struct job *job, double *seconds)
{
    cudaStream_t in = NULL, out = NULL;
    void *device[3] = {NULL, NULL, NULL};
    int64_t first, count;
    bool ok = is_ok(cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking),
                    "cudaStreamCreate") &&
              is_ok(cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking),
                    "cudaStreamCreate");
    double begin;
    int i;

    for (i = 0; i < 3 && ok; i++)
        ok = is_ok(cudaMalloc(&device[i], (size_t)job->chunk * INT),
                   "cudaMalloc");
    begin = now();
    for (first = 0; first < job->n && ok; first += job->chunk) {
        count = job->n - first < job->chunk ? job->n - first : job->chunk;
        for (i = 0; i < 3 && ok; i++)
            ok = is_ok(i < 2 ? cudaMemcpyAsync(device[i], job->array[i] + first,
                                               (size_t)count * INT,
                                               cudaMemcpyHostToDevice, in)
                             : cudaMemcpyAsync(job->array[i] + first, device[i],
                                               (size_t)count * INT,
                                               cudaMemcpyDeviceToHost, out),
                       "copy");
    }
    ok = ok && is_ok(cudaStreamSynchronize(in), "waiting") &&
         is_ok(cudaStreamSynchronize(out), "waiting");
    *seconds = now() - begin;
    for (i = 0; i < 3; i++)
        cudaFree(device[i]);
    if (in)
        cudaStreamDestroy(in);
    if (out)
        cudaStreamDestroy(out);
    return ok;
}

/* ---- The table ---------------------------------------------------------- */

/* How many sums are wrong. */
static int64_t wrong_sums(const struct job *job)
{
    int64_t i, wrong = 0;

    for (i = 0; i < job->n; i++)
        wrong += job->array[2][i] != job->array[0][i] + job->array[1][i];
    return wrong;
}

/* The least time of some rounds; with `is_sum`, the result of each is compared. */
static bool measure(struct job *job, bool (*run)(struct job *, double *),
                    bool is_sum, double *least)
{
    double seconds;
    int round;

    for (round = 0; round < ROUNDS; round++) {
        memset(job->array[2], 0xff, (size_t)job->n * INT);
        if (!run(job, &seconds))
            return false;
        if (is_sum && wrong_sums(job)) {
            printf("  %" PRId64 " sums are wrong\n", wrong_sums(job));
            return false;
        }
        *least = round && *least < seconds ? *least : seconds;
    }
    return true;
}

/* Measures one way, and prints its line. */
static bool print_line(struct job *job)
{
    double bytes = (double)job->n * INTS_OF_SUM * INT, seconds = 0;

    if (!measure(job, job->lanes ? run_pipeline : run_plain, true, &seconds))
        return false;
    if (!job->lanes && !job->is_pinned)
        job->plain = seconds;
    printf("  %-9s ", job->is_pinned ? "pinned" : "pageable");
    if (job->lanes)
        printf("streams: %-4u", job->lanes);
    else
        printf("no pipeline  ");
    printf("%9.2f ms %7.2f GB/s %6.1f %% %6.2f times\n", 1e3 * seconds,
           bytes / seconds / 1e9, 100 * job->limit / seconds,
           job->plain / seconds);
    return true;
}

/* Allocates and fills the host's arrays. */
static bool fill(struct job *job, bool is_pinned)
{
    size_t bytes = (size_t)job->n * INT;
    void *at = NULL;
    int64_t i;
    int k;

    job->is_pinned = is_pinned;
    for (k = 0; k < 3; k++) {
        at = NULL;
        if (is_pinned && !is_ok(cudaMallocHost(&at, bytes), "cudaMallocHost"))
            return false;
        if (!is_pinned && !(at = malloc(bytes))) {
            printf("  no memory for %zu bytes\n", bytes);
            return false;
        }
        job->array[k] = at;
    }
    for (i = 0; i < job->n; i++) {
        job->array[0][i] = (int32_t)(i % 1000000007);
        job->array[1][i] = (int32_t)(i % 499999);
    }
    return true;
}

/* Frees them. */
static void release(struct job *job)
{
    int k;

    for (k = 0; k < 3; k++) {
        if (job->is_pinned)
            cudaFreeHost(job->array[k]);
        else
            free(job->array[k]);
        job->array[k] = NULL;
    }
}

/* The lines of arrays that are pinned, or not. */
static bool print_lines(struct job *job, bool is_pinned)
{
    static const uint32_t lanes[] = {0, 1, 2, 3, 4, 8};
    bool ok = fill(job, is_pinned);
    size_t i;

    for (i = 0; i < sizeof lanes / sizeof *lanes && ok; i++) {
        job->lanes = lanes[i];
        ok = print_line(job);
    }
    release(job);
    return ok;
}

/* The table of a size.  The last column compares with its first line, which is
 * how a first program is written. */
static bool print_table(struct ingot_module *module, int64_t n, int64_t chunk)
{
    struct job job = {.module = module, .n = n, .chunk = chunk};
    double bytes = (double)n * INTS_OF_SUM * INT;
    bool ok = fill(&job, true) && measure(&job, run_copies, false, &job.limit);

    release(&job);
    if (!ok)
        return false;
    printf("%" PRId64 " ints in chunks of %" PRId64 "; copies alone, both ways "
           "at a time: %.2f ms, %.2f GB/s\n",
           n, chunk, 1e3 * job.limit, bytes / job.limit / 1e9);
    printf("  %-9s %-11s  %12s %12s %8s %12s\n", "host", "", "time", "rate",
           "of that", "speed-up");
    return print_lines(&job, false) && print_lines(&job, true);
}

int main(int argc, char **argv)
{
    int count = argc - 1,
        defaults = sizeof default_sizes / sizeof *default_sizes;
    const char *const *sizes = (const char *const *)argv + 1;
    struct ingot_module *module = NULL;
    int64_t chunk = 1 << 22;
    bool ok;
    int i;

    if (count > 1 && !strcmp(sizes[0], "-c")) {
        chunk = strtoll(sizes[1], NULL, 10);
        sizes += 2;
        count -= 2;
    }
    if (!count) {
        sizes = default_sizes;
        count = defaults;
    }
    ok = is_ok(cudaSetDevice(0), "cudaSetDevice") &&
         is_ok(cudaFree(NULL), "cudaFree") &&
         is_done(ingot_open(&module, &vadd_artifact, vadd_fatbin,
                            sizeof vadd_fatbin, NULL),
                 module) &&
         is_done(ingot_preload(module), module);
    for (i = 0; i < count && ok; i++)
        ok = print_table(module, strtoll(sizes[i], NULL, 10), chunk);
    ingot_close(module);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
