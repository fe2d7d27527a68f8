/* fake_errors.c: the names and texts of the driver's results. */

#include "fake_cuda.h"

int cuGetErrorName(int result, const char **name)
{
    static const struct {
        int result;
        const char *name;
    } names[] = {{1, "CUDA_ERROR_INVALID_VALUE"},
                 {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                 {100, "CUDA_ERROR_NO_DEVICE"},
                 {200, "CUDA_ERROR_INVALID_IMAGE"},
                 {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                 {218, "CUDA_ERROR_INVALID_PTX"},
                 {400, "CUDA_ERROR_INVALID_HANDLE"},
                 {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                 {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"}};
    size_t i;

    if (fake_state()->is_stub)
        return 34;
    *name = NULL;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].result == result)
            *name = names[i].name;
    return *name ? 0 : 1;
}

int cuGetErrorString(int result, const char **text)
{
    if (fake_state()->is_stub)
        return 34;
    *text = result == 700 ? "an illegal memory access was encountered" : NULL;
    return *text ? 0 : 1;
}
