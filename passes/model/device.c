// The devices that the model knows.

#include "passes/model/model.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const struct model_device devices[] = {
#define DEVICE(name, sm, sms, clock, dram, l2, l2_mib, launch, latency)        \
    {                                                                          \
        name, sm, sms, clock, dram, l2, l2_mib, launch, latency,
#define SM(threads, shared, fma, f64, mufu, integer)                           \
    threads, shared, fma, f64, mufu, integer,
#define MATRIX_RATES(half, tf32, byte, f64, mma)                               \
    {half, tf32, byte, f64}, mma                                               \
    }                                                                          \
    ,
#include "passes/model/devices.def"
#undef DEVICE
#undef SM
#undef MATRIX_RATES
};

enum { DEVICES = sizeof devices / sizeof *devices };

const struct model_device *model_device_at(size_t i)
{
    return i < DEVICES ? &devices[i] : NULL;
}

const struct model_device *model_device_named(const char *name)
{
    for (size_t i = 0; i < DEVICES; i++)
        if (strcasecmp(devices[i].name, name) == 0)
            return &devices[i];
    return NULL;
}

// Return whether a name is among the words of a text.
static bool has_words(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at++)
        if ((at == text || !isalnum((unsigned char)at[-1])) &&
            !isalnum((unsigned char)at[n]))
            return true;
    return false;
}

const struct model_device *model_device_called(const char *text)
{
    for (size_t i = 0; i < DEVICES; i++)
        if (has_words(text, devices[i].name))
            return &devices[i];
    return NULL;
}

// Return whether one device stands for a compute capability rather than another.
static bool is_nearer(const struct model_device *d,
                      const struct model_device *than, unsigned sm)
{
    if (!than)
        return true;
    if ((d->sm <= sm) != (than->sm <= sm))
        return d->sm <= sm;
    return d->sm <= sm ? d->sm > than->sm : d->sm < than->sm;
}

const struct model_device *model_device_for(unsigned sm)
{
    const struct model_device *r = NULL;
    for (size_t i = 0; i < DEVICES; i++)
        if (is_nearer(&devices[i], r, sm))
            r = &devices[i];
    return r;
}
