// Opens the CUDA driver.

#include "tools/ingot/driver.h"

#include <dlfcn.h>
#include <string.h>

enum {
    ATTRIBUTE_SMS = 16,
    ATTRIBUTE_L2_BYTES = 38,
    ATTRIBUTE_MAJOR = 75,
    ATTRIBUTE_MINOR = 76,
};

// Copy a function's address to a pointer to a function.
static void set_function(void *pointer, void *symbol)
{
    memcpy(pointer, &symbol, sizeof symbol);
}

// Find every function of the table.
// Returns the name of one that is missing, or NULL.
static const char *find_functions(struct driver *d, void *library)
{
    const char *missing = NULL;
#define DRIVER(name, parameters)                                               \
    set_function(&d->name, dlsym(library, #name));                             \
    missing = d->name ? missing : #name;
#include "tools/ingot/driver.def"
#undef DRIVER
    return missing;
}

// Ask for what is to be known of the device.  Returns a CUresult.
static int ask(struct driver *d)
{
    static const int attributes[] = {ATTRIBUTE_MAJOR, ATTRIBUTE_MINOR,
                                     ATTRIBUTE_SMS, ATTRIBUTE_L2_BYTES};
    enum { N = sizeof attributes / sizeof *attributes };
    int values[N] = {0};
    int result = d->cuDeviceGetName(d->name, sizeof d->name, d->device);
    result = result ? result : d->cuDriverGetVersion(&d->version);
    for (int i = 0; i < N && !result; i++)
        result = d->cuDeviceGetAttribute(&values[i], attributes[i], d->device);
    d->sm = (unsigned)(values[0] * 10 + values[1]);
    d->sms = values[2];
    d->l2_bytes = values[3];
    return result;
}

const char *driver_open(struct driver *d, const char *path)
{
    memset(d, 0, sizeof *d);
    d->path = path;
    void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
    if (!library)
        return "no NVIDIA driver is installed";
    if (find_functions(d, library))
        return "the NVIDIA driver is too old";
    if (d->cuInit(0) || d->cuDeviceGetCount(&d->count) || !d->count)
        return "the NVIDIA driver has no usable GPU";
    if (d->cuDeviceGet(&d->device, 0) || ask(d))
        return "the NVIDIA driver does not describe its GPU";
    if (d->cuDevicePrimaryCtxRetain(&d->context, d->device))
        return "the GPU takes no further program";
    if (d->cuCtxSetCurrent(d->context)) {
        driver_close(d);
        return "the GPU cannot be selected";
    }
    return NULL;
}

void driver_close(struct driver *d)
{
    d->cuDevicePrimaryCtxRelease_v2(d->device);
}

int64_t driver_memory(const struct driver *d)
{
    size_t free_bytes, all;
    return d->cuMemGetInfo_v2(&free_bytes, &all) ? INT64_MAX
                                                 : (int64_t)free_bytes;
}

bool driver_check(const struct driver *d, int result, const char *call,
                  struct diag_list *diags)
{
    const char *name = NULL;
    if (!result)
        return true;
    if (d->cuGetErrorName(result, &name) || !name)
        name = "an unknown error";
    diag_error(diags, (struct span){0}, D_driver_call, call, name,
               (long long)result);
    return false;
}
