/* Launches the kernel of object.ing, whose fatbin is in an object file and whose
 * launch function in a C file, on the driver that argv[1] names. */

#include "object.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    const struct ingot_options options = {argc > 1 ? argv[1] : NULL, 0, 0};
    char text[INGOT_TEXT_SIZE];
    struct ingot_module *module;
    int status = (int)ingot_open(&module, &object_artifact, object_fatbin,
                                 sizeof object_fatbin, &options);
    if (!status)
        status = (int)vadd(module, NULL, 1000, (const float *)4096,
                           (float *)8192, 1.0f, NULL);
    printf("%d %d %s\n", status, vadd_workspace(1000) == 0,
           ingot_error_text(module, text, sizeof text));
    ingot_close(module);
    return status;
}
