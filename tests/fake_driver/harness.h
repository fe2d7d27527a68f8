/* harness.h: what every test of the runtime needs: cmocka, the fake driver by
 * name, and fatbins with their tables made of a line of text.
 *
 *   struct sample sample;
 *   sample_make(&sample, "cubin90a cubin80 ptx75");
 *   ... change bytes or tables ...
 *   sample_seal(&sample);
 *   open_sample(&sample, 0)
 *
 * The kernel of a sample is "vadd", whose parameters are 8, 8, 8 and 4 bytes. */

#ifndef FAKE_DRIVER_HARNESS_H
#define FAKE_DRIVER_HARNESS_H

#include "runtime/ingot.h"
#include "tests/fake_driver/fake_cuda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE_IMAGES = 8,
    SAMPLE_BYTES = 16384,
    CUBIN_BYTES = 512,
    SAMPLE_STAMP = 24
};

/* A fatbin and its tables. */
struct sample {
    unsigned char bytes[SAMPLE_BYTES];
    size_t size;
    struct ingot_image images[SAMPLE_IMAGES];
    struct ingot_entry entries[2]; /* the second is not used at first */
    struct ingot_artifact artifact;
};

/* The functions of the fake driver. */
struct fake_functions {
    struct fake *(*state)(void);
    void (*reset)(void);
    int (*calls)(const char *function);
    void *(*context_create)(int device);
    void (*context_destroy)(void *context);
    void (*context_reset)(void *context);
    void (*primary_reset)(int device);
    void (*context_push)(void *context);
    void *(*stream_create)(void *context);
    int (*capture_mode)(void);
    int (*depth)(void);
    const char *(*operations)(void);
    int (*host_alloc)(void **at, size_t size, unsigned flags);
    int (*host_free)(void *at);
};

/* The path of the fake driver. */
static inline const char *fake_path(void)
{
    static char path[4096];
    const char *folder = getenv("FAKE_DRIVER");

    if (!*path)
        snprintf(path, sizeof path, "%s/libcuda.so.1", folder ? folder : ".");
    return path;
}

/* The fake driver, opened once and never closed, as the runtime does. */
static inline const struct fake_functions *fake_driver(void)
{
    static struct fake_functions functions;
    static const char *const names[] = {
        "fake_state",          "fake_reset",           "fake_calls",
        "fake_context_create", "fake_context_destroy", "fake_context_reset",
        "fake_primary_reset",  "fake_context_push",    "fake_stream_create",
        "fake_capture_mode",   "fake_depth",           "fake_operations",
        "cuMemHostAlloc",      "cuMemFreeHost"};
    void *library, *function;
    size_t i;

    if (functions.state)
        return &functions;
    library = dlopen(fake_path(), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        function = dlsym(library, names[i]);
        assert_non_null(function);
        memcpy((char *)&functions + i * sizeof function, &function,
               sizeof function);
    }
    return &functions;
}

/* Prepares the fake driver for a test. */
static inline struct fake *fake_fresh(void)
{
    fake_driver()->reset();
    return fake_driver()->state();
}

/* Writes `count` bytes of `value` at `p`, little-endian. */
static inline void put(unsigned char *p, uint64_t value, size_t count)
{
    memcpy(p, &value, count);
}

/* Writes a small machine code file of CUBIN_BYTES: header, one segment, a
 * table of three sections, code. */
static inline void put_cubin(unsigned char *elf, uint32_t sm)
{
    memset(elf, 0, CUBIN_BYTES);
    memcpy(elf, "\177ELF\2\1\1\101", 8);
    put(elf + 16, 2, 2);
    put(elf + 18, 190, 2);
    put(elf + 32, 64, 8);
    put(elf + 40, 128, 8);
    put(elf + 48, 0x6000004 | sm << 8, 4);
    put(elf + 54, 56, 2);
    put(elf + 56, 1, 2);
    put(elf + 58, 64, 2);
    put(elf + 60, 3, 2);
    put(elf + 62, 1, 2);
    put(elf + 64 + 8, 320, 8);
    put(elf + 64 + 32, 192, 8);
    put(elf + 192 + 4, 3, 4);
    put(elf + 192 + 24, 320, 8);
    put(elf + 192 + 32, 64, 8);
    put(elf + 256 + 4, 8, 4);
    put(elf + 256 + 32, 1 << 20, 8);
    memset(elf + 320, 0x5a, CUBIN_BYTES - 320);
}

/* Appends an entry to `sample` with `size` bytes of payload room, of which the
 * caller writes what it likes; returns the payload. */
static inline unsigned char *sample_append(struct sample *sample, uint32_t kind,
                                           uint32_t sm, char suffix,
                                           size_t size)
{
    uint32_t header = kind == INGOT_PTX ? 0x50 : 0x40;
    unsigned char *entry = sample->bytes + sample->size;
    struct ingot_image image = {kind, sm, suffix, sample->size + header,
                                size, 0};

    memset(entry, 0, header + size);
    put(entry, kind, 2);
    put(entry + 2, 0x101, 2);
    put(entry + 4, header, 4);
    put(entry + 8, size, 8);
    put(entry + 28, sm, 4);
    put(entry + 32, header, 4);
    put(entry + 40,
        0x11 | (suffix == 'a' ? 0x100000 : 0) | (suffix == 'f' ? 0x200000 : 0),
        8);
    sample->images[sample->artifact.image_count++] = image;
    sample->size += header + size;
    return entry + header;
}

/* Writes sizes and hashes that fit the bytes as they are. */
static inline void sample_seal(struct sample *sample)
{
    uint32_t i;

    for (i = 0; i < sample->artifact.image_count; i++)
        sample->images[i].hash =
            ingot_hash(sample->bytes + sample->images[i].offset,
                       (size_t)sample->images[i].size);
    sample->artifact.fatbin_size = sample->size;
    sample->artifact.fatbin_hash = ingot_hash(sample->bytes, sample->size);
}

/* Writes the declared size of the container, too. */
static inline void sample_close(struct sample *sample)
{
    put(sample->bytes + 8, sample->size - 16, 8);
    sample_seal(sample);
}

/* Makes a fatbin of the images in `list`: "cubin90a ptx75". */
static inline void sample_make(struct sample *sample, const char *list)
{
    static const uint16_t sizes[] = {8, 8, 8, 4};
    const struct ingot_entry entry = {"vadd", 4, sizes, 0, 0, 0, 0, 0};
    const struct ingot_artifact artifact = {
        INGOT_ABI, "sample", 0, 0, 0, sample->images, 1, sample->entries};
    char kind[8], suffix;
    unsigned char *payload;
    unsigned sm;
    int length;

    memset(sample, 0, sizeof *sample);
    sample->artifact = artifact;
    sample->entries[0] = sample->entries[1] = entry;
    put(sample->bytes, 0x00100001ba55ed50, 8);
    sample->size = 16;
    for (; sscanf(list, " %5[a-z]%u%n", kind, &sm, &length) == 2;
         list += length) {
        suffix = list[length] == 'a' || list[length] == 'f' ? list[length] : 0;
        length += suffix != 0;
        if (kind[0] == 'c') {
            payload =
                sample_append(sample, INGOT_CUBIN, sm, suffix, CUBIN_BYTES);
            put_cubin(payload, sm);
        } else {
            payload = sample_append(sample, INGOT_PTX, sm, suffix, 72);
            snprintf((char *)payload, 72,
                     ".version 6.3\n.target sm_%u\n.address_size 64\n", sm);
        }
    }
    sample_close(sample);
}

/* Makes `sample` of the images in `list` what `ingot image` would make of `built`:
 * the tables are still those of `built`. */
static inline void sample_change(struct sample *sample, const char *list,
                                 const struct sample *built)
{
    sample_make(sample, list);
    memcpy(sample->bytes + sample->size, "INGOTIMG", 8);
    put(sample->bytes + sample->size + 8, built->artifact.fatbin_hash, 8);
    put(sample->bytes + sample->size + 16,
        ingot_hash(sample->bytes, sample->size), 8);
    sample->size += SAMPLE_STAMP;
    memcpy(sample->images, built->images, sizeof sample->images);
    sample->artifact = built->artifact;
    sample->artifact.images = sample->images;
    sample->artifact.entries = sample->entries;
}

/* Opens `sample` for the fake driver with `flags`. */
static inline struct ingot_module *open_sample(const struct sample *sample,
                                               uint32_t flags)
{
    struct ingot_options options = {fake_path(), 0, flags};
    struct ingot_module *module;

    assert_int_equal(ingot_open(&module, &sample->artifact, sample->bytes,
                                sample->size, &options),
                     INGOT_OK);
    return module;
}

/* Launches vadd of one block of 128 threads into `stream`. */
static inline enum ingot_status launch_vadd(struct ingot_module *module,
                                            void *stream)
{
    static const uint64_t grid[] = {1, 1, 1};
    static const uint32_t block[] = {128, 1, 1};
    void *params[4] = {0};

    return ingot_launch(module, 0, stream, grid, block, 0, params);
}

/* Does the module's text contain `part`? */
static inline bool says(struct ingot_module *module, const char *part)
{
    char text[INGOT_TEXT_SIZE];

    if (strstr(ingot_error_text(module, text, sizeof text), part))
        return true;
    print_error("text: %s\n", text);
    return false;
}

/* Closes the module and checks that the driver got everything back. */
static inline void close_balanced(struct ingot_module *module)
{
    const struct fake_functions *driver = fake_driver();

    ingot_close(module);
    assert_int_equal(driver->state()->live_modules, 0);
    assert_int_equal(driver->state()->live_links, 0);
    assert_int_equal(driver->state()->retains, 0);
    assert_int_equal(driver->state()->malformed, 0);
    assert_int_equal(driver->state()->live_memory, 0);
    assert_int_equal(driver->state()->live_streams, 0);
    assert_int_equal(driver->state()->live_events, 0);
    assert_int_equal(driver->capture_mode(), 0);
}

#endif
