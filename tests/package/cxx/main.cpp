// Opens the module that the header embeds; ends with 0 if that went well.

#include <cstdio>

#include "scale.h"

int main()
{
    char text[INGOT_TEXT_SIZE];
    ingot_module *module = nullptr;
    ingot_status status = ingot_open(&module, &scale_artifact, scale_fatbin,
                                     sizeof scale_fatbin, nullptr);
    std::puts(ingot_error_text(module, text, sizeof text));
    ingot_close(module);
    return status != INGOT_OK;
}
