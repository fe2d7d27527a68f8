/* A chain of launches as a CUDA graph: 100 steps of the heat equation are captured
 * once, and launched as one.  Compares with the CPU, and times both ways. */

#define _POSIX_C_SOURCE 200809L

#include "heat.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 4099, BYTES = N * (int)sizeof(float), STEPS = 100, LAUNCHES = 5 };

/* What every step of the program uses. */
struct heat {
    struct ingot_module *module;
    cudaStream_t stream;
    cudaGraphExec_t steps; /* STEPS steps */
    void *U, *V;           /* on the GPU */
};

/* Is that CUDA's success?  Else says what failed. */
static bool is_ok(cudaError_t error, const char *what)
{
    if (error)
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    return !error;
}

/* Is that Ingot's success?  Else says why not. */
static bool is_done(enum ingot_status status, struct ingot_module *module)
{
    char text[INGOT_TEXT_SIZE];

    if (status)
        fprintf(stderr, "%s\n", ingot_error_text(module, text, sizeof text));
    return !status;
}

/* Queues STEPS steps, from U to V and back. */
static bool queue_steps(const struct heat *h)
{
    bool ok = true;
    int i;

    for (i = 0; i < STEPS / 2 && ok; i++)
        ok =
            is_done(heat(h->module, h->stream, N, h->U, h->V, NULL),
                    h->module) &&
            is_done(heat(h->module, h->stream, N, h->V, h->U, NULL), h->module);
    return ok;
}

/* Makes a graph of the steps.  While a stream is captured, launches into it become
 * nodes; the kernels were loaded before, and the graph needs their module. */
static bool capture(struct heat *h)
{
    cudaGraph_t graph = NULL;
    bool ok =
        is_ok(cudaStreamBeginCapture(h->stream, cudaStreamCaptureModeGlobal),
              "cudaStreamBeginCapture");

    if (!ok)
        return false;
    ok = queue_steps(h);
    ok = is_ok(cudaStreamEndCapture(h->stream, &graph),
               "cudaStreamEndCapture") &&
         ok &&
         is_ok(cudaGraphInstantiateWithFlags(&h->steps, graph, 0),
               "cudaGraphInstantiateWithFlags");
    if (graph)
        cudaGraphDestroy(graph);
    return ok;
}

/* Seconds of a clock that only goes forward. */
static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Takes u through all steps on the GPU, LAUNCHES graphs or as many launches. */
static bool all_steps(const struct heat *h, bool by_graph, float *u,
                      double *seconds)
{
    bool ok = is_ok(cudaMemcpy(h->U, u, BYTES, cudaMemcpyHostToDevice),
                    "copy to the GPU");
    double begin = now();
    int i;

    for (i = 0; i < LAUNCHES && ok; i++)
        ok = by_graph ? is_ok(cudaGraphLaunch(h->steps, h->stream),
                              "cudaGraphLaunch")
                      : queue_steps(h);
    ok = ok && is_ok(cudaStreamSynchronize(h->stream), "cudaStreamSynchronize");
    *seconds = now() - begin;
    return ok && is_ok(cudaMemcpy(u, h->U, BYTES, cudaMemcpyDeviceToHost),
                       "copy from the GPU");
}

/* One step on the CPU. */
static void step(const float *u, float *v)
{
    int i;

    v[0] = u[0];
    v[N - 1] = u[N - 1];
    for (i = 1; i < N - 1; i++)
        v[i] = u[i] + 0.25f * (u[i - 1] - 2.0f * u[i] + u[i + 1]);
}

/* Computes on the GPU both ways and on the CPU; are all three alike? */
static bool run(const struct heat *h)
{
    static float graph[N], launches[N], u[N], v[N];
    double by_graph, by_launches;
    int i, wrong = 0;

    u[0] = graph[0] = launches[0] = 100.0f;
    if (!all_steps(h, true, graph, &by_graph) ||
        !all_steps(h, false, launches, &by_launches))
        return false;
    for (i = 0; i < LAUNCHES * STEPS / 2; i++) {
        step(u, v);
        step(v, u);
    }
    for (i = 0; i < N; i++)
        wrong += !(graph[i] - u[i] < 1e-3f && u[i] - graph[i] < 1e-3f) ||
                 memcmp(&graph[i], &launches[i], sizeof *graph);
    printf("heat: %d steps, %d wrong; u[9] = %.4f; %.1f us by %d graphs, "
           "%.1f us by %d launches\n",
           LAUNCHES * STEPS, wrong, graph[9], 1e6 * by_graph, LAUNCHES,
           1e6 * by_launches, LAUNCHES * STEPS);
    return !wrong;
}

int main(void)
{
    struct heat h = {0};
    bool ok = is_ok(cudaSetDevice(0), "cudaSetDevice") &&
              is_ok(cudaStreamCreate(&h.stream), "cudaStreamCreate") &&
              is_ok(cudaMalloc(&h.U, BYTES), "cudaMalloc") &&
              is_ok(cudaMalloc(&h.V, BYTES), "cudaMalloc") &&
              is_done(ingot_open(&h.module, &heat_artifact, heat_fatbin,
                                 sizeof heat_fatbin, NULL),
                      h.module) &&
              is_done(ingot_preload(h.module), h.module) && capture(&h) &&
              run(&h);

    if (h.steps)
        cudaGraphExecDestroy(h.steps);
    ingot_close(h.module);
    cudaFree(h.U);
    cudaFree(h.V);
    if (h.stream)
        cudaStreamDestroy(h.stream);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
