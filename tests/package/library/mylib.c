// Opens the module of the library: 0 if that went well.

#include "scale.h"

int mylib_open(void);

int mylib_open(void)
{
    struct ingot_module *module;
    enum ingot_status status = ingot_open(&module, &scale_artifact,
                                          scale_fatbin, sizeof scale_fatbin, 0);
    ingot_close(module);
    return status != INGOT_OK;
}
