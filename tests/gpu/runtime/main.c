/* What of the runtime shows on a GPU alone: each word does one thing with the
 * kernels of checks.ing, compares its results with the CPU, and prints a line.
 *
 *   main FATBIN load | print | programmatic | cooperative | arrays
 *   main FATBIN cache FOLDER
 *
 * Compiled with INGOT_DEBUG, `arrays` finds what is wrong with arrays. */

#include "checks.h"
#include "ingot_cache.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4096, SIDE = 256, STEPS = 1000, ARRAYS = 3 };

/* What all need: the module, arrays of the GPU and as many of the host, what one of
 * them should be, and the last word of the command line. */
struct job {
    struct ingot_module *module;
    float *device[ARRAYS], host[ARRAYS][SIDE * SIDE], expected[N];
    const char *word;
};

/* Is that CUDA's success?  Else says what failed. */
static bool is_ok(cudaError_t error, const char *what)
{
    if (error)
        printf("%s: %s\n", what, cudaGetErrorString(error));
    return !error;
}

/* Is that Ingot's success?  Else says why not. */
static bool is_done(const struct job *job, enum ingot_status status)
{
    char text[INGOT_TEXT_SIZE];

    if (status)
        printf("%s\n", ingot_error_text(job->module, text, sizeof text));
    return !status;
}

/* Copies array k to the GPU, or waits for all and copies it back. */
static bool give(struct job *job, int k)
{
    return is_ok(cudaMemcpy(job->device[k], job->host[k], sizeof job->host[k],
                            cudaMemcpyHostToDevice),
                 "copy to the GPU");
}
static bool take(struct job *job, int k)
{
    return is_ok(cudaStreamSynchronize(NULL), "waiting") &&
           is_ok(cudaMemcpy(job->host[k], job->device[k], sizeof job->host[k],
                            cudaMemcpyDeviceToHost),
                 "copy from the GPU");
}

/* Fills the first array with small whole numbers, the others with others. */
static bool fill(struct job *job)
{
    int i, k;

    for (k = 0; k < ARRAYS; k++)
        for (i = 0; i < SIDE * SIDE; i++)
            job->host[k][i] = (float)((i + 1) * (k + 1) % 61);
    return give(job, 0) && give(job, 1) && give(job, 2);
}

/* Prints which image is loaded, and how it was chosen. */
static bool print_load(const struct job *job)
{
    static const char *const rungs[] = {"nothing", "exact", "family", "JIT"};
    struct ingot_image image;
    struct ingot_load load;

    if (!is_done(job, ingot_report(job->module, &load)) ||
        !is_done(job, ingot_image_info(job->module, load.image, &image)))
        return false;
    printf("image %s_%u, %s, load %.3f ms, JIT %.3f ms\n",
           image.kind == INGOT_PTX ? "compute" : "sm", (unsigned)image.sm,
           rungs[load.rung], load.load_ms, load.jit_ms);
    return true;
}

/* The product of the first two arrays as matrices; its hash and wrong elements. */
static bool do_product(struct job *job)
{
    int i, j, k, wrong = 0;
    float sum;

    if (!fill(job) ||
        !is_done(job, product(job->module, NULL, SIDE, job->device[0],
                              job->device[1], job->device[2], NULL)) ||
        !take(job, 2))
        return false;
    for (i = 0; i < SIDE; i++)
        for (j = 0; j < SIDE; j++) {
            sum = 0;
            for (k = 0; k < SIDE; k++)
                sum += job->host[0][i * SIDE + k] * job->host[1][k * SIDE + j];
            wrong += sum != job->host[2][i * SIDE + j];
        }
    printf("product: %d wrong, hash %016" PRIx64 "\n", wrong,
           ingot_hash(job->host[2], sizeof job->host[2]));
    return !wrong;
}

/* Loads, and computes. */
static bool do_load(struct job *job)
{
    return is_done(job, ingot_preload(job->module)) && print_load(job) &&
           do_product(job);
}

/* The same with a cache in the folder that the command line names. */
static bool do_cache(struct job *job)
{
    struct ingot_cache_counts counts;
    struct ingot_cache *cache;
    bool ok;

    if (ingot_cache_open_folder(&cache, job->word)) {
        printf("no cache in %s\n", job->word);
        return false;
    }
    ok = is_done(job, ingot_cache_use(cache, job->module)) && do_load(job);
    ingot_cache_count(cache, &counts);
    printf("cache: found %u, missing %u, damaged %u, stored %u, not stored "
           "%u\n",
           (unsigned)counts.found, (unsigned)counts.missing,
           (unsigned)counts.damaged, (unsigned)counts.stored,
           (unsigned)counts.not_stored);
    ingot_close(job->module);
    job->module = NULL;
    ingot_cache_close(cache);
    return ok;
}

/* The kernel prints two lines. */
static bool do_print(struct job *job)
{
    fflush(stdout);
    return fill(job) &&
           is_done(job, tells(job->module, NULL, N, job->device[0],
                              job->device[1], NULL)) &&
           is_ok(cudaStreamSynchronize(NULL), "waiting");
}

/* Launches all steps into a stream of its own, and waits. */
static bool run_steps(struct job *job)
{
    float *const *at = job->device;
    cudaStream_t stream = NULL;
    bool ok = is_ok(cudaStreamCreate(&stream), "cudaStreamCreate");
    int t;

    for (t = 0; t < STEPS && ok; t++)
        ok = is_done(job, step(job->module, stream, N, at[t % 3],
                               at[(t + 1) % 3], at[(t + 2) % 3], NULL));
    ok = ok && is_ok(cudaStreamSynchronize(stream), "waiting");
    if (stream)
        cudaStreamDestroy(stream);
    return ok;
}

/* Each step reads what the two before it wrote. */
static bool do_programmatic(struct job *job)
{
    int i, t, wrong = 0;

    if (!fill(job) || !run_steps(job))
        return false;
    for (t = 0; t < STEPS; t++)
        for (i = 0; i < N; i++)
            job->host[(t + 2) % 3][i] =
                0.5f * (job->host[t % 3][i] + job->host[(t + 1) % 3][i]);
    for (t = 0; t < ARRAYS; t++) {
        memcpy(job->expected, job->host[t], sizeof job->expected);
        if (!take(job, t))
            return false;
        for (i = 0; i < N; i++)
            wrong += job->expected[i] != job->host[t][i];
    }
    printf("programmatic: %d steps, %d wrong\n", STEPS, wrong);
    return !wrong;
}

/* More blocks than run at a time are refused, fewer are not. */
static bool try_together(struct job *job)
{
    char text[INGOT_TEXT_SIZE];
    bool ok = is_done(job, together(job->module, NULL, N, job->device[0],
                                    job->device[1], NULL)) &&
              together(job->module, NULL, INT64_C(1) << 30, job->device[0],
                       job->device[1], NULL) == INGOT_BAD_LAUNCH;

    printf("too many blocks: %s\n",
           ingot_error_text(job->module, text, sizeof text));
    return ok;
}

/* Blocks that wait for each other. */
static bool do_cooperative(struct job *job)
{
    size_t more = shares_at_once_workspace(N);
    void *workspace = NULL;
    double sum = 0, share;
    int i, wrong = 0;
    bool ok = fill(job) &&
              (!more || is_ok(cudaMalloc(&workspace, more), "cudaMalloc")) &&
              is_done(job, shares_at_once(job->module, NULL, N, job->device[0],
                                          job->device[1], workspace)) &&
              take(job, 1);

    cudaFree(workspace);
    if (!ok)
        return false;
    for (i = 0; i < N; i++)
        sum += job->host[0][i];
    for (i = 0; i < N; i++) {
        share = job->host[0][i] / sum - job->host[1][i];
        wrong += share > 1e-6 || share < -1e-6;
    }
    printf("cooperative: %d shares, %d wrong\n", N, wrong);
    return !wrong && try_together(job);
}

/* Launches `scale`, and prints what becomes of it. */
static bool try_arrays(struct job *job, const char *what, int64_t n,
                       const float *A, float *C)
{
    enum ingot_status status = scale(job->module, NULL, n, A, C, NULL);
    char text[INGOT_TEXT_SIZE];

    printf("%s: %s\n", what,
           status ? ingot_error_text(job->module, text, sizeof text) : "runs");
    return is_ok(cudaStreamSynchronize(NULL), "waiting");
}

/* Arrays that are as they should be, and arrays that are not.  Nothing that is
 * launched leaves the memory that there is. */
static bool do_arrays(struct job *job)
{
    float *A = job->device[0], *C = job->device[1];
    float *host = calloc(1, sizeof job->host[0]);
    int i, wrong = 0;
    bool ok;

    if (!host || !fill(job))
        return false;
    ok = try_arrays(job, "misaligned", N, A + 1, C) &&
         try_arrays(job, "overlapping", N, A, A + N / 2) &&
         try_arrays(job, "null", N, NULL, C);
#ifdef INGOT_DEBUG
    ok = ok && try_arrays(job, "too short", INT64_C(1) << 40, A, C) &&
         try_arrays(job, "of the host", N, host, C);
#endif
    ok = ok && give(job, 0) && try_arrays(job, "as they should be", N, A, C) &&
         take(job, 1);
    for (i = 0; i < N && ok; i++)
        wrong += job->host[1][i] != 2 * job->host[0][i];
    printf("arrays: %d wrong\n", wrong);
    free(host);
    return ok && !wrong;
}

/* The words of the command line. */
static const struct {
    const char *word;
    bool (*does)(struct job *job);
} words[] = {{"load", do_load},
             {"cache", do_cache},
             {"print", do_print},
             {"programmatic", do_programmatic},
             {"cooperative", do_cooperative},
             {"arrays", do_arrays}};

int main(int argc, char **argv)
{
    static struct job job;
    void *at;
    bool ok = argc >= 3 && is_ok(cudaSetDevice(0), "cudaSetDevice") &&
              is_ok(cudaFree(NULL), "cudaFree");
    size_t i;
    int k;

    job.word = argc > 3 ? argv[3] : "";
    for (k = 0; k < ARRAYS && ok; k++) {
        ok = is_ok(cudaMalloc(&at, sizeof job.host[k]), "cudaMalloc");
        job.device[k] = ok ? at : NULL;
    }
    ok = ok && is_done(&job, ingot_open_file(&job.module, &checks_artifact,
                                             argv[1], NULL));
    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (ok && !strcmp(argv[2], words[i].word)) {
            ok = words[i].does(&job);
            break;
        }
    ingot_close(job.module);
    for (k = 0; k < ARRAYS; k++)
        cudaFree(job.device[k]);
    return ok && i < sizeof words / sizeof *words ? EXIT_SUCCESS : EXIT_FAILURE;
}
