// Opens the module of the library: 0 if that went well.

#include "scale.h"

int tree_open();

int tree_open()
{
    ingot_module *module = nullptr;
    ingot_status status = ingot_open(&module, &scale_artifact, scale_fatbin,
                                     sizeof scale_fatbin, nullptr);
    ingot_close(module);
    return status != INGOT_OK;
}
