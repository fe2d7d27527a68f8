/* fake_launch.c: launches by attributes; only cuGetProcAddress_v2 finds it. */

#include "fake_cuda.h"

/* Unknown attributes are an error; blocks that cannot run at a time, too. */
int cuLaunchKernelEx(const void *with, void *function, void **params,
                     void **extra)
{
    const struct fake_config *config = with;
    const unsigned *grid = config->grid, *block = config->block;
    struct fake *state = fake_state();
    int values[7] = {0}, result = fake_common(__func__);
    unsigned i;

    if (result)
        return result;
    for (i = 0; i < config->count; i++) {
        if (config->attributes[i].id != 2 && config->attributes[i].id != 6)
            return 1;
        values[config->attributes[i].id] = config->attributes[i].value;
    }
    if (values[2] &&
        grid[0] * grid[1] * grid[2] > (unsigned)(state->resident * FAKE_SMS))
        return 720;
    result =
        cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1],
                       block[2], config->shared, config->stream, params, extra);
    state->last.has_attributes = 1;
    state->last.cooperative = values[2];
    state->last.programmatic = values[6];
    return result;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function,
                                                int threads, size_t shared)
{
    int result = fake_common(__func__);

    (void)function, (void)threads, (void)shared;
    if (!result)
        *blocks = fake_state()->resident;
    return result;
}
