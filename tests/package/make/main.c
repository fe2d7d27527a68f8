/* Opens the module that the header embeds; ends with 0 if that went well. */

#include <stdio.h>

#include "scale.h"

int main(void)
{
    char text[INGOT_TEXT_SIZE];
    struct ingot_module *module;
    enum ingot_status status = ingot_open(&module, &scale_artifact,
                                          scale_fatbin, sizeof scale_fatbin, 0);
    puts(ingot_error_text(module, text, sizeof text));
    ingot_close(module);
    return status != INGOT_OK;
}
