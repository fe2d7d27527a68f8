/* fake_tensor.c: tensor maps; only cuGetProcAddress_v2 finds it. */

#include "fake_cuda.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* As measured: the driver checks what is checked here. */
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank,
                           const void *address, const uint64_t *sizes,
                           const uint64_t *strides, const unsigned *box,
                           const unsigned *steps, int interleave, int swizzle,
                           int promotion, int fill)
{
    struct fake_tensor tensor = {address, type, swizzle, rank, {0}, {0}, {0}};
    int result = fake_common(__func__);
    unsigned d;

    if (result)
        return result;
    if (!fake_depth())
        return 201;
    if (rank < 1 || rank > 5 || (uintptr_t)address % 16 || interleave ||
        promotion > 3 || fill)
        return 1;
    for (d = 0; d < rank; d++) {
        if (sizes[d] < 1 || sizes[d] > UINT64_C(1) << 32 || steps[d] != 1 ||
            box[d] < 1 || box[d] > 256 ||
            (d && (strides[d - 1] % 16 || strides[d - 1] >> 40)))
            return 1;
        tensor.sizes[d] = sizes[d];
        tensor.box[d] = box[d];
        if (d)
            tensor.strides[d - 1] = strides[d - 1];
    }
    memset(map, 0x5a, 128);
    pthread_mutex_lock(&lock);
    fake_state()->tensor = tensor;
    pthread_mutex_unlock(&lock);
    return 0;
}
