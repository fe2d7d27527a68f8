/* The checks of arrays before a launch, and functions of the driver by name. */

#include "tests/fake_driver/harness.h"

#include "runtime/ingot_debug.h"

enum { COUNT = 3 };

/* An address of the fake GPU. */
static const void *at(uint64_t address)
{
    return (const void *)(uintptr_t)address;
}

/* A driver with memory: of the GPU at 0x10000, two pieces that touch, and behind
 * a gap, of the host, a third. */
static struct fake *fresh(void)
{
    struct fake *fake = fake_fresh();

    fake->memory[0] = (struct fake_memory){0x10000, 0x1000, 2};
    fake->memory[1] = (struct fake_memory){0x11000, 0x1000, 2};
    fake->memory[2] = (struct fake_memory){0x20000, 0x1000, 1};
    return fake;
}

/* Checks for `status` of a launch with these arrays, and `text`. */
static void check(const struct ingot_debug_array *arrays,
                  enum ingot_status status, const char *text)
{
    struct sample sample;
    struct ingot_module *module;

    sample_make(&sample, "cubin90");
    module = open_sample(&sample, 0);
    assert_int_equal(ingot_debug_arrays(module, "vadd", arrays, COUNT), status);
    assert_true(says(module, text));
    close_balanced(module);
}

static void arrays_of_the_gpu_pass(void **state)
{
    const struct ingot_debug_array arrays[COUNT] = {
        {"A", at(0x10000), 0x800, 0},
        {"B", at(0x10800), 0x1800, 0},
        {"C", at(0x20000), 0x1000, 1}};

    (void)state;
    fresh();
    check(arrays, INGOT_OK, "");
}

static void arrays_without_elements_pass(void **state)
{
    const struct ingot_debug_array arrays[COUNT] = {
        {"A", at(0x10000), 0x800, 0}, {"B", NULL, 0, 1}, {"C", at(8), 0, 1}};

    (void)state;
    fresh();
    check(arrays, INGOT_OK, "");
}

static void memory_that_no_driver_knows_is_refused(void **state)
{
    const struct ingot_debug_array arrays[COUNT] = {{"A", at(0x10000), 16, 0},
                                                    {"B", at(0x7000), 16, 0},
                                                    {"C", at(0x20000), 16, 1}};
    void *context;

    (void)state;
    fresh();
    check(arrays, INGOT_BAD_ARRAY,
          "sample: vadd: `B` is no memory of the GPU, and none that the driver "
          "knows");
    fresh()->reaches_the_host = 1;
    check(arrays, INGOT_BAD_ARRAY, "`B` is no memory");
    fresh()->reaches_the_host = 1;
    context = fake_driver()->context_create(0);
    fake_driver()->context_push(context);
    check(arrays, INGOT_OK, "");
}

static void an_array_that_is_too_large_is_refused(void **state)
{
    struct ingot_debug_array arrays[COUNT] = {{"A", at(0x10000), 0x2000, 0},
                                              {"B", at(0x11f00), 0x101, 0},
                                              {"C", at(0x20000), 16, 1}};

    (void)state;
    fresh();
    check(arrays, INGOT_BAD_ARRAY,
          "sample: vadd: `B` has 257 bytes, but its memory ends after 256");
    arrays[1].bytes--;
    check(arrays, INGOT_OK, "");
    arrays[2].bytes = UINT64_MAX - 0x30000;
    check(arrays, INGOT_BAD_ARRAY, "but its memory ends after 4096");
}

static void what_is_written_overlaps_nothing(void **state)
{
    struct ingot_debug_array arrays[COUNT] = {{"A", at(0x10000), 0x100, 0},
                                              {"B", at(0x100ff), 0x100, 0},
                                              {"C", at(0x101fe), 0x100, 1}};

    (void)state;
    fresh();
    check(arrays, INGOT_BAD_ARRAY,
          "sample: vadd: `C`, which is written, overlaps `B`");
    arrays[2].address = at(0x101ff);
    check(arrays, INGOT_OK, "");
    arrays[0].is_written = 1;
    check(arrays, INGOT_BAD_ARRAY,
          "sample: vadd: `A`, which is written, overlaps `B`");
    arrays[0].address = at(0x10fff);
    check(arrays, INGOT_OK, "");
    arrays[2] = arrays[1];
    arrays[2].is_written = 1;
    check(arrays, INGOT_BAD_ARRAY, "overlaps `B`");
    arrays[2].bytes = 0;
    check(arrays, INGOT_OK, "");
}

static void what_the_driver_does_not_say_passes(void **state)
{
    const struct ingot_debug_array arrays[COUNT] = {
        {"A", at(0x10000), 0x9000, 0},
        {"B", at(0x20000), 16, 0},
        {"C", at(0x20010), 16, 1}};

    (void)state;
    fresh()->has_no_ranges = 1;
    check(arrays, INGOT_OK, "");
    fresh()->pointer_result = 201;
    check(arrays, INGOT_OK, "");
}

static void without_a_driver_the_launch_reports(void **state)
{
    const struct ingot_debug_array arrays[COUNT] = {
        {"A", at(8), 8, 1}, {"B", at(8), 8, 1}, {"C", at(8), 8, 1}};
    struct ingot_options options = {"/no/such/driver", 0, 0};
    struct ingot_module *module;
    struct sample sample;

    (void)state;
    sample_make(&sample, "cubin90");
    assert_int_equal(ingot_open(&module, &sample.artifact, sample.bytes,
                                sample.size, &options),
                     INGOT_OK);
    assert_int_equal(ingot_debug_arrays(module, "vadd", arrays, COUNT),
                     INGOT_OK);
    assert_int_equal(launch_vadd(module, NULL), INGOT_NO_DRIVER);
    ingot_close(module);
    assert_int_equal(ingot_debug_arrays(NULL, "vadd", arrays, COUNT), INGOT_OK);
}

static void functions_of_the_driver_have_names(void **state)
{
    struct fake *fake = fake_fresh();
    struct ingot_module *module;
    struct sample sample;

    (void)state;
    sample_make(&sample, "cubin90");
    module = open_sample(&sample, 0);
    assert_non_null(ingot_driver_function(module, "cuCtxGetId", 12000));
    assert_non_null(ingot_driver_function(module, "cuLinkCreate_v2", 6050));
    assert_non_null(ingot_driver_function(module, "cuInit", 2000));
    assert_true(!ingot_driver_function(module, "cuCtxGetId", 11080));
    assert_true(!ingot_driver_function(module, "cuNoSuchFunction", 12000));
    assert_true(!ingot_driver_function(NULL, "cuInit", 2000));
    fake->is_old = 1;
    assert_true(!ingot_driver_function(module, "cuCtxGetId", 12000));
    assert_non_null(ingot_driver_function(module, "cuInit", 2000));
    close_balanced(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_of_the_gpu_pass),
        cmocka_unit_test(arrays_without_elements_pass),
        cmocka_unit_test(memory_that_no_driver_knows_is_refused),
        cmocka_unit_test(an_array_that_is_too_large_is_refused),
        cmocka_unit_test(what_is_written_overlaps_nothing),
        cmocka_unit_test(what_the_driver_does_not_say_passes),
        cmocka_unit_test(without_a_driver_the_launch_reports),
        cmocka_unit_test(functions_of_the_driver_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
