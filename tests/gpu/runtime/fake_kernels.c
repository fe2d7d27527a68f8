/* fake_kernels.c: what the kernels of checks.ing compute, for the driver of
 * tests/fake_driver under tests/examples/cudart.c. */

#include "tests/examples/kernels.h"

#include <stdio.h>
#include <string.h>

/* The size of a launch, its first argument. */
static int64_t size(void *const *params)
{
    int64_t value;

    memcpy(&value, params[0], sizeof value);
    return value;
}

/* Array k of a launch, behind the size. */
static float *array(void *const *params, int k)
{
    float *at;

    memcpy(&at, params[k + 1], sizeof at);
    return at;
}

/* C = 2 A. */
static void run_scale(void *const *params)
{
    int64_t i;

    for (i = 0; i < size(params); i++)
        array(params, 1)[i] = 2 * array(params, 0)[i];
}

/* The same, and what the kernel prints. */
static void run_tells(void *const *params)
{
    int i;

    run_scale(params);
    for (i = 0; i < 2; i++)
        printf("A[%d] = %g, C = %g\n", i, (double)array(params, 0)[i],
               (double)array(params, 1)[i]);
}

/* C = A B. */
static void run_product(void *const *params)
{
    const float *a = array(params, 0), *b = array(params, 1);
    int64_t n = size(params), i, j, k;
    float *c = array(params, 2), sum;

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            sum = 0;
            for (k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

/* Z = (X + Y) / 2. */
static void run_step(void *const *params)
{
    int64_t i;

    for (i = 0; i < size(params); i++)
        array(params, 2)[i] =
            0.5f * (array(params, 0)[i] + array(params, 1)[i]);
}

/* Z = X / sum of X. */
static void run_shares(void *const *params)
{
    double sum = 0;
    int64_t i;

    for (i = 0; i < size(params); i++)
        sum += array(params, 0)[i];
    for (i = 0; i < size(params); i++)
        array(params, 1)[i] = (float)(array(params, 0)[i] / sum);
}

const struct fake_kernel example_kernels[FAKE_MAX] = {
    {"scale", 3, {8, 8, 8}, 0, 1024, run_scale},
    {"tells", 3, {8, 8, 8}, 0, 1024, run_tells},
    {"product", 4, {8, 8, 8, 8}, 0, 1024, run_product},
    {"product__i32", 4, {8, 8, 8, 8}, 0, 1024, run_product},
    {"step", 4, {8, 8, 8, 8}, 0, 1024, run_step},
    {"together", 3, {8, 8, 8}, 0, 1024, run_scale},
    {"shares", 4, {8, 8, 8, 8}, 0, 1024, NULL},
    {"shares_1", 4, {8, 8, 8, 8}, 0, 1024, NULL},
    {"shares_at_once", 5, {8, 8, 8, 8, 8}, 0, 1024, NULL},
    {"shares_at_once_1", 5, {8, 8, 8, 8, 8}, 0, 1024, run_shares}};
