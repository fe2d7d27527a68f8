/* The part of the program of many.sh that is the same for all artefacts; the
 * script puts their headers in front, and behind it a LAUNCH for each. */

#include "tests/fake_driver/fake_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the path of the fake driver. */
static const char *driver_path(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/libcuda.so.1", getenv("FAKE_DRIVER"));
    return path;
}

/* Returns the state of the fake driver, whose images hold a kernel vadd. */
static struct fake *driver_state(void)
{
    void (*reset)(void);
    struct fake *(*state)(void);
    void *library = dlopen(driver_path(), RTLD_NOW), *function;
    function = dlsym(library, "fake_reset");
    memcpy(&reset, &function, sizeof reset);
    reset();
    function = dlsym(library, "fake_state");
    memcpy(&state, &function, sizeof state);
    return state();
}

/* Defines run_NAME: opens an artefact, launches its kernel, closes it.
 * Returns the status. */
#define LAUNCH(artifact, name)                                                 \
    static int run_##name(void)                                                \
    {                                                                          \
        const struct ingot_options options = {driver_path(), 0, 0};            \
        struct ingot_module *module;                                           \
        char text[INGOT_TEXT_SIZE];                                            \
        int status =                                                           \
            (int)ingot_open(&module, &artifact##_artifact, artifact##_fatbin,  \
                            sizeof artifact##_fatbin, &options);               \
        if (!status)                                                           \
            status = (int)name(module, NULL, 1000, (const float *)4096,        \
                               (float *)8192, 1.0f, NULL);                     \
        if (status)                                                            \
            puts(ingot_error_text(module, text, sizeof text));                 \
        ingot_close(module);                                                   \
        return status;                                                         \
    }

/* Runs all; prints how many launches the driver saw.  Returns an exit code. */
static int run_all(int (*const *all)(void), size_t n)
{
    const struct fake *state = driver_state();
    for (size_t i = 0; i < n; i++)
        if (all[i]())
            return 1;
    printf("launches %d of %zu\n", state->launches, n);
    return 0;
}
