/* kernels.c: see kernels.h. */

#include "kernels.h"

#include <math.h>
#include <string.h>

/* A size of a launch. */
static int64_t size(const void *param)
{
    int64_t value;

    memcpy(&value, param, sizeof value);
    return value;
}

/* An array of a launch. */
static void *array(const void *param)
{
    void *at;

    memcpy(&at, param, sizeof at);
    return at;
}

/* Y = a X + Y. */
static void run_saxpy(void *const *params)
{
    const float *x = array(params[2]);
    float *y = array(params[3]), a;
    int64_t i;

    memcpy(&a, params[1], sizeof a);
    for (i = 0; i < size(params[0]); i++)
        y[i] = a * x[i] + y[i];
}

/* The softmax of rows. */
static void run_softmax(void *const *params)
{
    int64_t m = size(params[0]), n = size(params[1]), i, j;
    const float *x = array(params[2]);
    float *y = array(params[3]), sum;

    for (i = 0; i < m; i++, x += n, y += n) {
        sum = 0;
        for (j = 0; j < n; j++)
            sum += expf(x[j]);
        for (j = 0; j < n; j++)
            y[j] = expf(x[j]) / sum;
    }
}

/* y = A x. */
static void run_gemv(void *const *params)
{
    int64_t m = size(params[0]), n = size(params[1]), i, j;
    const float *a = array(params[2]), *x = array(params[3]);
    float *y = array(params[4]);

    for (i = 0; i < m; i++, a += n) {
        y[i] = 0;
        for (j = 0; j < n; j++)
            y[i] += a[j] * x[j];
    }
}

/* Pixels to gray. */
static void run_gray(void *const *params)
{
    const uint32_t *p = array(params[1]);
    uint8_t *g = array(params[2]);
    int64_t i;

    for (i = 0; i < size(params[0]); i++)
        g[i] = (uint8_t)((19595 * 257 * (p[i] & 255) +
                          38470 * 257 * (p[i] >> 8 & 255) +
                          7471 * 257 * (p[i] >> 16 & 255) + 32768) >>
                         24);
}

/* A step of the heat equation. */
static void run_heat(void *const *params)
{
    int64_t n = size(params[0]), i;
    const float *u = array(params[1]);
    float *v = array(params[2]);

    for (i = 0; i < n; i++)
        v[i] = i == 0 || i == n - 1
                   ? u[i]
                   : u[i] + 0.25f * (u[i - 1] - 2.0f * u[i] + u[i + 1]);
}

/* A step of the logistic map. */
static void run_logistic(void *const *params)
{
    const float *x = array(params[1]);
    float *y = array(params[2]);
    int64_t i;

    for (i = 0; i < size(params[0]); i++)
        y[i] = 3.5f * x[i] * (1.0f - x[i]);
}

/* R = X + Y. */
static void run_vadd(void *const *params)
{
    const int32_t *x = array(params[1]), *y = array(params[2]);
    int32_t *r = array(params[3]);
    int64_t i;

    for (i = 0; i < size(params[0]); i++)
        r[i] = x[i] + y[i];
}

const struct fake_kernel example_kernels[FAKE_MAX] = {
    {"saxpy", 4, {8, 4, 8, 8}, 0, 1024, run_saxpy},
    {"softmax", 4, {8, 8, 8, 8}, 0, 1024, run_softmax},
    {"softmax__i32", 4, {8, 8, 8, 8}, 0, 1024, run_softmax},
    {"gemv", 5, {8, 8, 8, 8, 8}, 0, 1024, run_gemv},
    {"gemv__i32", 5, {8, 8, 8, 8, 8}, 0, 1024, run_gemv},
    {"gray", 3, {8, 8, 8}, 0, 1024, run_gray},
    {"heat", 3, {8, 8, 8}, 0, 1024, run_heat},
    {"logistic", 3, {8, 8, 8}, 0, 1024, run_logistic},
    {"vadd", 4, {8, 8, 8, 8}, 0, 1024, run_vadd}};
