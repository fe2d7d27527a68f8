/* Launches the kernel of object.ing from the fatbin in the file that argv[1] names, on the
 * driver that argv[2] names, and prints which image was loaded. */

#include "object.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    const struct ingot_options options = {argc > 2 ? argv[2] : NULL, 0, 0};
    struct ingot_module *module;
    struct ingot_image image = {0, 0, 0, 0, 0, 0};
    struct ingot_load load;
    char text[INGOT_TEXT_SIZE];
    int status =
        (int)ingot_open_file(&module, &object_artifact, argv[1], &options);
    if (!status)
        status = (int)vadd(module, NULL, 1000, (const float *)4096,
                           (float *)8192, 1.0f, NULL);
    if (!status)
        status = (int)ingot_report(module, &load);
    if (!status)
        status = (int)ingot_image_info(module, load.image, &image);
    if (status)
        printf("%s\n", ingot_error_text(module, text, sizeof text));
    else
        printf("%s_%u%.1s\n", image.kind == INGOT_PTX ? "compute" : "sm",
               (unsigned)image.sm, &image.suffix);
    ingot_close(module);
    return status;
}
