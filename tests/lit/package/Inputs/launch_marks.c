// Tells of each launch; there is no driver.

#include <stdio.h>

#define INGOT_BEFORE_LAUNCH(symbol) printf("begin %s\n", symbol)
#define INGOT_AFTER_LAUNCH(symbol)  printf("end %s\n", symbol)
#include "launch-marks.h"

int main(int argc, char **argv)
{
    static const struct ingot_options options = {.driver = "/no/driver"};
    static float a[4], c[4];
    struct ingot_module *module;
    enum ingot_status status = ingot_open_file(&module, &launch_marks_artifact,
                                               argv[argc - 1], &options);
    if (!status)
        status = scaled(module, NULL, 4, a, c, NULL);
    printf("status %d\n", (int)status);
    ingot_close(module);
    return 0;
}
