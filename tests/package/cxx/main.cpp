// Opens the module that the header embeds, with a cache, and has a launch
// refused: for want of a driver, or its arrays, which are none. Ends with 0 if
// that went well.

#include <cstdio>

#include "ingot_cache.h"
#include "scale.h"

int main()
{
    char text[INGOT_TEXT_SIZE];
    ingot_module *module = nullptr;
    ingot_status status = ingot_open(&module, &scale_artifact, scale_fatbin,
                                     sizeof scale_fatbin, nullptr);
    ingot_cache *cache = nullptr;
    const ingot_cache_store nowhere = {nullptr, nullptr, nullptr};
    if (!status)
        status = ingot_cache_open(&cache, &nowhere);
    if (!status)
        status = ingot_cache_use(cache, module);
    float *array = reinterpret_cast<float *>(0x1000);
    const bool is_refused =
        scale(module, nullptr, 4, 2.0f, array, array, nullptr) != INGOT_OK;
    std::puts(ingot_error_text(module, text, sizeof text));
    ingot_close(module);
    ingot_cache_close(cache);
    return status != INGOT_OK || !is_refused;
}
