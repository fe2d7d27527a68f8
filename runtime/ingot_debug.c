/* ingot_debug.c: see ingot_debug.h. */

#include "ingot_debug.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Values of the driver's enumerations. */
enum {
    UNKNOWN_POINTER = 1,
    POINTER_MEMORY_TYPE = 2,
    POINTER_RANGE_START = 11,
    POINTER_RANGE_SIZE = 12,
    DEVICE_REACHES_THE_HOST = 88
};

/* cuPointerGetAttribute, cuCtxGetDevice, cuDeviceGetAttribute. */
typedef int pointer_attribute(void *, int, uint64_t);
typedef int context_device(int *);
typedef int device_attribute(int *, int, int);

/* Does the current GPU reach all memory of the host? */
static bool reaches_the_host(struct ingot_module *module)
{
    void *found[] = {
        ingot_driver_function(module, "cuCtxGetDevice", 2000),
        ingot_driver_function(module, "cuDeviceGetAttribute", 2000)};
    context_device *get_device;
    device_attribute *get;
    int device, value = 0;

    memcpy(&get_device, &found[0], sizeof get_device);
    memcpy(&get, &found[1], sizeof get);
    return get_device && get && !get_device(&device) &&
           !get(&value, DEVICE_REACHES_THE_HOST, device) && value;
}

/* The first byte behind the memory that holds `address` and what follows it
 * without a gap, at least up to `end` if it reaches so far; 0 if the driver
 * does not say. */
static uint64_t end_of_memory(pointer_attribute *get, uint64_t address,
                              uint64_t end)
{
    uint64_t start, size, at = address;

    while (at < end) {
        if (get(&start, POINTER_RANGE_START, at) ||
            get(&size, POINTER_RANGE_SIZE, at) || start > at ||
            size <= at - start)
            return at == address ? 0 : at;
        at = start + size;
    }
    return at;
}

/* Refuses `array` if the driver knows no such memory, or too little. */
static enum ingot_status check_memory(struct ingot_module *module,
                                      const char *kernel,
                                      const struct ingot_debug_array *array,
                                      pointer_attribute *get)
{
    uint64_t address = (uintptr_t)array->address, end;
    char text[INGOT_TEXT_SIZE / 2];
    unsigned type;
    int result = get(&type, POINTER_MEMORY_TYPE, address);

    if (result == UNKNOWN_POINTER && !reaches_the_host(module)) {
        snprintf(text, sizeof text,
                 "`%s` is no memory of the GPU, and none that the driver knows",
                 array->name);
        return ingot_reject(module, INGOT_BAD_ARRAY, kernel, text);
    }
    end = result ? 0 : end_of_memory(get, address, address + array->bytes);
    if (!end || end - address >= array->bytes)
        return INGOT_OK;
    snprintf(text, sizeof text,
             "`%s` has %" PRIu64 " bytes, but its memory ends after %" PRIu64,
             array->name, array->bytes, end - address);
    return ingot_reject(module, INGOT_BAD_ARRAY, kernel, text);
}

/* Do two arrays share a byte? */
static bool overlap(const struct ingot_debug_array *one,
                    const struct ingot_debug_array *other)
{
    uint64_t a = (uintptr_t)one->address, b = (uintptr_t)other->address;

    return one->bytes && other->bytes &&
           (a < b ? b - a < one->bytes : a - b < other->bytes);
}

/* Refuses `array` if it overlaps one of the `count` before it and either is
 * written. */
static enum ingot_status check_overlap(struct ingot_module *module,
                                       const char *kernel,
                                       const struct ingot_debug_array *array,
                                       size_t count)
{
    char text[INGOT_TEXT_SIZE / 2];
    const struct ingot_debug_array *other, *written;

    for (other = array - count; other < array; other++) {
        if (!(array->is_written || other->is_written) || !overlap(array, other))
            continue;
        written = array->is_written ? array : other;
        snprintf(text, sizeof text, "`%s`, which is written, overlaps `%s`",
                 written->name, written == array ? other->name : array->name);
        return ingot_reject(module, INGOT_BAD_ARRAY, kernel, text);
    }
    return INGOT_OK;
}

enum ingot_status ingot_debug_arrays(struct ingot_module *module,
                                     const char *kernel,
                                     const struct ingot_debug_array *arrays,
                                     size_t count)
{
    void *found = ingot_driver_function(module, "cuPointerGetAttribute", 4000);
    enum ingot_status status = INGOT_OK;
    pointer_attribute *get;
    size_t i;

    memcpy(&get, &found, sizeof get);
    for (i = 0; get && !status && i < count; i++) {
        if (arrays[i].bytes)
            status = check_memory(module, kernel, &arrays[i], get);
        if (!status)
            status = check_overlap(module, kernel, &arrays[i], i);
    }
    return status;
}
