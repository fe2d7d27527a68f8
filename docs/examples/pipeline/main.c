/* R = X + Y of arrays of the host that are copied in pieces while others are
 * computed (ingot_pipeline.h), with 1 to 8 lanes, beside one copy, one launch and
 * one copy back; and beside the rate at which this machine copies as many bytes
 * both ways at the same time, with nothing computed.
 *
 *   ./main [-c CHUNK] [-t THREADS] [INTS ...]
 *
 * Every result is compared with the CPU. */

#define _POSIX_C_SOURCE 200809L

#include "ingot_pipeline.h"
#include "vadd.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Bytes of an int, ints that a sum reads and writes, the most threads; how often a
 * way is timed, of which the fastest counts, and how often with more than so many
 * ints. */
enum {
    INT = 4,
    INTS_OF_SUM = 3,
    MOST_THREADS = 16,
    ROUNDS = 5,
    ROUNDS_OF_MANY = 2,
    MANY = 300000000
};

/* The sizes without arguments. */
static const char *const default_sizes[] = {"20000000", "100000000",
                                            "1000000000"};

/* How the host's arrays are: as malloc gives them; pinned; pinned for this run
 * alone, the time of which counts. */
enum host { PAGEABLE, PINNED, PINNED_NOW };

/* What one table is about, and its current line. */
struct job {
    struct ingot_module *module;
    int64_t n, chunk;
    uint32_t threads;  /* of this machine */
    int32_t *array[3]; /* X, Y, R on the host */
    double limit,
        plain;      /* seconds of copies alone, of the table's first line */
    double pinning; /* seconds of pinning the arrays, and giving that back */
    enum host host;
    uint32_t lanes, copiers; /* lanes 0: no pipeline */
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
    uint32_t pinned = job->host ? INGOT_PIPELINE_PINNED : 0;
    struct ingot_pipeline p = {.chunk = job->chunk,
                               .lane_count = job->lanes,
                               .copiers = job->copiers,
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

/* ---- The host's arrays --------------------------------------------------- */

/* What a thread does to elements `first` to `end`; returns how many are wrong. */
typedef int64_t part(const struct job *job, int64_t first, int64_t end);

/* A thread's share of the work. */
struct share {
    const struct job *job;
    part *part;
    int64_t first, end, wrong;
};

static void *share_main(void *at)
{
    struct share *share = at;

    share->wrong = share->part(share->job, share->first, share->end);
    return NULL;
}

/* Has all threads of the machine do their part of the arrays; the sum of what they
 * return. */
static int64_t in_parallel(const struct job *job, part *part)
{
    struct share shares[MOST_THREADS];
    pthread_t threads[MOST_THREADS];
    int64_t wrong = 0;
    uint32_t i;

    for (i = 0; i < job->threads; i++) {
        shares[i] = (struct share){.job = job,
                                   .part = part,
                                   .first = job->n / job->threads * i,
                                   .end = job->n / job->threads * (i + 1)};
        if (i + 1 == job->threads)
            shares[i].end = job->n;
        if (pthread_create(&threads[i], NULL, share_main, &shares[i])) {
            printf("  no thread\n");
            exit(EXIT_FAILURE);
        }
    }
    for (i = 0; i < job->threads; i++) {
        pthread_join(threads[i], NULL);
        wrong += shares[i].wrong;
    }
    return wrong;
}

/* Fills X and Y. */
static int64_t fill(const struct job *job, int64_t first, int64_t end)
{
    int64_t i;

    for (i = first; i < end; i++) {
        job->array[0][i] = (int32_t)(i % 1000000007);
        job->array[1][i] = (int32_t)(i % 499999);
    }
    return 0;
}

/* Spoils R. */
static int64_t spoil(const struct job *job, int64_t first, int64_t end)
{
    memset(job->array[2] + first, 0xff, (size_t)(end - first) * INT);
    return 0;
}

/* How many sums are wrong. */
static int64_t wrong_sums(const struct job *job, int64_t first, int64_t end)
{
    int64_t i, wrong = 0;

    for (i = first; i < end; i++)
        wrong += job->array[2][i] != job->array[0][i] + job->array[1][i];
    return wrong;
}

/* Allocates and fills the arrays. */
static bool allocate(struct job *job)
{
    size_t bytes = (size_t)job->n * INT;
    void *at;
    int k;

    for (k = 0; k < 3; k++) {
        if (posix_memalign(&at, 4096, bytes)) {
            printf("  no memory for %zu bytes\n", bytes);
            return false;
        }
        job->array[k] = at;
    }
    in_parallel(job, fill);
    in_parallel(job, spoil);
    return true;
}

/* Pins the arrays, or gives that back; adds the time to job->pinning. */
static bool pin(struct job *job, bool is_pinned)
{
    double begin = now();
    bool ok = true;
    int k;

    for (k = 0; k < 3 && ok; k++)
        ok = is_pinned
                 ? is_ok(cudaHostRegister(job->array[k], (size_t)job->n * INT,
                                          cudaHostRegisterDefault),
                         "cudaHostRegister")
                 : is_ok(cudaHostUnregister(job->array[k]),
                         "cudaHostUnregister");
    job->pinning += now() - begin;
    return ok;
}

/* ---- The table ---------------------------------------------------------- */

/* The least time of some rounds; with `is_sum`, the result of each is compared. */
static bool measure(struct job *job, bool (*run)(struct job *, double *),
                    bool is_sum, double *least)
{
    int round, rounds = job->n > MANY ? ROUNDS_OF_MANY : ROUNDS;
    double seconds;
    int64_t wrong;

    for (round = 0; round < rounds; round++) {
        in_parallel(job, spoil);
        if (!run(job, &seconds))
            return false;
        wrong = is_sum ? in_parallel(job, wrong_sums) : 0;
        if (wrong) {
            printf("  %" PRId64 " sums are wrong\n", wrong);
            return false;
        }
        *least = round && *least < seconds ? *least : seconds;
    }
    return true;
}

/* Prints the line of a way that took so many seconds. */
static void print_line(const struct job *job, double seconds)
{
    static const char *const hosts[] = {"pageable", "pinned", "pinned now"};
    double bytes = (double)job->n * INTS_OF_SUM * INT;
    char lanes[12] = "-", copiers[12] = "-";

    if (job->lanes)
        snprintf(lanes, sizeof lanes, "%u", job->lanes);
    if (job->lanes && job->host == PAGEABLE)
        snprintf(copiers, sizeof copiers, "%u", job->copiers);
    printf("  %-10s %5s %7s %9.2f ms %7.2f GB/s %6.1f %% %6.2f times\n",
           hosts[job->host], lanes, copiers, 1e3 * seconds,
           bytes / seconds / 1e9, 100 * job->limit / seconds,
           job->plain / seconds);
    fflush(stdout);
}

/* Measures a way with a pipeline, or with no lanes without one, and prints its
 * line. */
static bool try(struct job *job, enum host host, uint32_t lanes,
                uint32_t copiers, double *seconds)
{
    job->host = host;
    job->lanes = lanes;
    job->copiers = copiers;
    if (!measure(job, lanes ? run_pipeline : run_plain, true, seconds))
        return false;
    print_line(job, *seconds);
    return true;
}

/* The first line, with which the others are compared: how a first program does it.
 * The arrays are pinned behind it, for what copies alone take. */
static bool begin_table(struct job *job)
{
    double bytes = (double)job->n * INTS_OF_SUM * INT;

    if (!measure(job, run_plain, true, &job->plain) || !pin(job, true) ||
        !measure(job, run_copies, false, &job->limit))
        return false;
    printf("%" PRId64 " ints in chunks of %" PRId64 "; copies alone, both ways "
           "at a time: %.2f ms, %.2f GB/s\n",
           job->n, job->chunk, 1e3 * job->limit, bytes / job->limit / 1e9);
    printf("  %-10s %5s %7s %12s %12s %8s %12s\n", "host", "lanes", "threads",
           "time", "rate", "of that", "speed-up");
    print_line(job, job->plain);
    return true;
}

/* The lines of pinned arrays, and the fastest pipeline with the time of pinning. */
static bool print_pinned(struct job *job)
{
    static const uint32_t lanes[] = {1, 2, 4, 8};
    uint32_t best = 0;
    double seconds = 0, least = 0;
    size_t i;

    if (!try(job, PINNED, 0, 0, &seconds))
        return false;
    for (i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        if (!try(job, PINNED, lanes[i], 0, &seconds))
            return false;
        if (best && least <= seconds)
            continue;
        least = seconds;
        best = lanes[i];
    }
    if (!pin(job, false))
        return false;
    job->host = PINNED_NOW;
    job->lanes = best;
    print_line(job, least + job->pinning);
    return true;
}

/* The lines of pageable arrays: by one thread, four, all of the machine. */
static bool print_pageable(struct job *job)
{
    static const uint32_t lanes[] = {1, 2, 4, 8};
    double seconds;
    bool ok = try(job, PAGEABLE, 4, 1, &seconds) &&
              try(job, PAGEABLE, 4, 4, &seconds);
    size_t i;

    for (i = 0; i < sizeof lanes / sizeof *lanes && ok; i++)
        ok = try(job, PAGEABLE, lanes[i], job->threads, &seconds);
    return ok;
}

/* The table of a size. */
static bool print_table(struct job job, int64_t n)
{
    bool ok;
    int k;

    job.n = n;
    ok = allocate(&job) && begin_table(&job) && print_pinned(&job) &&
         print_pageable(&job);
    for (k = 0; k < 3; k++)
        free(job.array[k]);
    return ok;
}

/* As many threads as the machine runs at a time, but not too many. */
static uint32_t threads_of_machine(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    return count < 1              ? 1
           : count < MOST_THREADS ? (uint32_t)count
                                  : MOST_THREADS;
}

int main(int argc, char **argv)
{
    struct job job = {.chunk = 1 << 22, .threads = threads_of_machine()};
    int count = sizeof default_sizes / sizeof *default_sizes;
    const char *const *sizes = default_sizes;
    int option, i;
    bool ok;

    while ((option = getopt(argc, argv, "c:t:")) != -1)
        if (option == 'c')
            job.chunk = strtoll(optarg, NULL, 10);
        else if (option == 't' && atoi(optarg) >= 1 &&
                 atoi(optarg) <= MOST_THREADS)
            job.threads = (uint32_t)atoi(optarg);
        else
            return EXIT_FAILURE;
    if (optind < argc) {
        sizes = (const char *const *)argv + optind;
        count = argc - optind;
    }
    ok = is_ok(cudaSetDevice(0), "cudaSetDevice") &&
         is_ok(cudaFree(NULL), "cudaFree") &&
         is_done(ingot_open(&job.module, &vadd_artifact, vadd_fatbin,
                            sizeof vadd_fatbin, NULL),
                 job.module) &&
         is_done(ingot_preload(job.module), job.module);
    for (i = 0; i < count && ok; i++)
        ok = print_table(job, strtoll(sizes[i], NULL, 10));
    ingot_close(job.module);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
