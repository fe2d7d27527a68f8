/* The runtime's ladder: which driver, which context, which image, and what is
 * said when none will do. */

#include "tests/fake_driver/harness.h"

/* Makes and opens a sample. */
static struct ingot_module *opened(struct sample *sample, const char *list)
{
    sample_make(sample, list);
    return open_sample(sample, 0);
}

/* Preloads `list` on a device `sm` and checks the rung and the tries. */
static void climbs(int sm, const char *list, enum ingot_rung rung,
                   const char *loads)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, list);
    struct ingot_load load;

    fake->sm[0] = sm;
    assert_int_equal(ingot_preload(module), rung ? INGOT_OK : INGOT_NO_IMAGE);
    assert_string_equal(fake->loads, loads);
    assert_int_equal(ingot_report(module, &load), INGOT_OK);
    assert_int_equal(load.rung, rung);
    if (rung) {
        assert_int_equal(load.device_sm, sm);
        assert_int_equal(load.driver_version, 13000);
        assert_int_equal(load.contexts, 1);
        assert_int_equal(load.refused, 0);
        assert_true(load.load_ms > 0 && load.load_ms >= load.jit_ms);
        assert_int_equal(load.jit_ms > 0, rung == INGOT_RUNG_PTX);
        assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
        assert_int_equal(fake->launches, 1);
    }
    close_balanced(module);
}

/* Opens with the driver library `path`; preloading says `status`, `part`. */
static void needs_driver(const char *path, enum ingot_status status,
                         const char *part)
{
    struct ingot_options options = {path, 0, 0};
    struct ingot_module *module;
    struct ingot_load load;
    struct sample sample;

    sample_make(&sample, "ptx75");
    assert_int_equal(ingot_open(&module, &sample.artifact, sample.bytes,
                                sample.size, &options),
                     INGOT_OK);
    assert_int_equal(ingot_preload(module), status);
    assert_true(says(module, part));
    assert_int_equal(launch_vadd(module, NULL), status);
    assert_int_equal(ingot_report(module, &load), INGOT_OK);
    assert_int_equal(load.rung, INGOT_RUNG_NONE);
    ingot_close(module);
}

static void no_driver(void **state)
{
    (void)state;
    needs_driver("/nowhere/libcuda.so.1", INGOT_NO_DRIVER, "/nowhere/libcuda");
}

static void a_library_that_is_no_driver(void **state)
{
#ifdef _WIN32
    const char *path = "kernel32.dll";
#else
    const char *path = "libc.so.6";
#endif

    (void)state;
    needs_driver(path, INGOT_OLD_DRIVER, "it lacks cuInit");
}

static void a_driver_that_lacks_a_function(void **state)
{
    struct fake *fake = fake_fresh();

    (void)state;
    fake->hidden[0] = "cuFuncSetAttribute";
    needs_driver(fake_path(), INGOT_OLD_DRIVER, "it lacks cuFuncSetAttribute");
}

static void the_stub_driver(void **state)
{
    struct fake *fake = fake_fresh();

    (void)state;
    fake->is_stub = 1;
    needs_driver(fake_path(), INGOT_OLD_DRIVER, "it lacks");
    fake->is_stub = 0;
    fake->fail_function = "cuInit";
    fake->fail_result = 34;
    needs_driver(fake_path(), INGOT_STUB_DRIVER, "cuInit: CUDA error (34)");
}

static void no_device(void **state)
{
    struct fake *fake = fake_fresh();

    (void)state;
    fake->device_count = 0;
    needs_driver(fake_path(), INGOT_NO_DEVICE, "CUDA_ERROR_NO_DEVICE (100)");
    assert_int_equal(fake_driver()->calls("cuCtxGetCurrent"), 0);
}

static void a_device_that_is_not_there(void **state)
{
    struct ingot_options options = {fake_path(), 5, 0};
    struct ingot_module *module;
    struct sample sample;

    (void)state;
    fake_fresh();
    sample_make(&sample, "ptx75");
    assert_int_equal(ingot_open(&module, &sample.artifact, sample.bytes,
                                sample.size, &options),
                     INGOT_OK);
    assert_int_equal(ingot_preload(module), INGOT_NO_DEVICE);
    close_balanced(module);
}

static void a_failed_driver_is_tried_again(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, "cubin90a");

    (void)state;
    fake->device_count = 0;
    assert_int_equal(ingot_preload(module), INGOT_NO_DEVICE);
    fake->device_count = 1;
    assert_int_equal(ingot_preload(module), INGOT_OK);
    close_balanced(module);
}

static void picks_the_exact_cubin(void **state)
{
    (void)state;
    climbs(90, "cubin80 cubin90 ptx75", INGOT_RUNG_EXACT, "2:90 ");
    climbs(90, "cubin90 cubin90a ptx75", INGOT_RUNG_EXACT, "2:90a ");
    climbs(90, "ptx90a cubin90a cubin90", INGOT_RUNG_EXACT, "2:90a ");
    climbs(100, "cubin100 cubin100f cubin100a", INGOT_RUNG_EXACT, "2:100a ");
    climbs(100, "cubin100 cubin100f", INGOT_RUNG_EXACT, "2:100f ");
}

static void picks_the_nearest_of_the_same_major(void **state)
{
    (void)state;
    climbs(89, "cubin75 cubin80 cubin86 cubin90 ptx75", INGOT_RUNG_FAMILY,
           "2:86 ");
    climbs(103, "cubin100 cubin100f cubin100a", INGOT_RUNG_FAMILY, "2:100f ");
    climbs(121, "cubin120f ptx75", INGOT_RUNG_FAMILY, "2:120f ");
}

static void picks_the_highest_ptx_below(void **state)
{
    (void)state;
    climbs(90, "cubin80 cubin100 ptx75 ptx80 ptx100", INGOT_RUNG_PTX, "1:80 ");
    climbs(90, "ptx90 ptx90a", INGOT_RUNG_PTX, "1:90 ");
    climbs(120, "cubin90a ptx90a ptx90", INGOT_RUNG_PTX, "1:90 ");
    climbs(103, "cubin103a ptx100f ptx100", INGOT_RUNG_EXACT, "2:103a ");
    climbs(103, "cubin100a ptx100f ptx100", INGOT_RUNG_PTX, "1:100 ");
}

static void never_picks_what_cannot_run(void **state)
{
    (void)state;
    climbs(89, "cubin90 cubin80a ptx90 ptx80a", INGOT_RUNG_NONE, "");
    climbs(86, "cubin89 cubin75 ptx87", INGOT_RUNG_NONE, "");
    climbs(120, "cubin100f ptx100f ptx100a", INGOT_RUNG_NONE, "");
}

static void no_fit_names_device_and_images(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module =
        opened(&sample, "cubin80 cubin100a ptx120 ptx100f");

    (void)state;
    assert_int_equal(ingot_preload(module), INGOT_NO_IMAGE);
    assert_true(says(module, "sample: the GPU is sm_90, the fatbin has "
                             "cubin sm_80 cubin sm_100a PTX sm_120 PTX "
                             "sm_100f"));
    assert_int_equal(ingot_reject(module, INGOT_BAD_SIZE, "k", "n"),
                     INGOT_BAD_SIZE);
    assert_int_equal(launch_vadd(module, NULL), INGOT_NO_IMAGE);
    assert_true(says(module, "the GPU is sm_90"));
    assert_int_equal(fake_driver()->calls("cuCtxGetDevice"), 1);
    assert_string_equal(fake->loads, "");
    close_balanced(module);
}

static void steps_down_when_an_image_is_refused(void **state)
{
    static const int results[] = {200, 209, 218, 221, 222, 223, 300, 999};
    struct ingot_module *module;
    struct ingot_load load;
    struct sample sample;
    struct fake *fake;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof results / sizeof *results; i++) {
        fake = fake_fresh();
        module = opened(&sample, "ptx75 cubin90 cubin90a ptx90");
        fake->rules[0] = (struct fake_rule){2, 90, results[i]};
        fake->rules[1] = (struct fake_rule){1, 90, results[i]};
        assert_int_equal(ingot_preload(module), INGOT_OK);
        assert_string_equal(fake->loads, "2:90a 2:90 1:90 1:75 ");
        assert_int_equal(ingot_report(module, &load), INGOT_OK);
        assert_int_equal(load.refused, 3);
        assert_int_equal(load.image, 0);
        assert_int_equal(load.rung, INGOT_RUNG_PTX);
        close_balanced(module);
    }
}

static void stops_when_the_next_image_would_not_help(void **state)
{
    static const struct {
        int result;
        enum ingot_status status;
    } rows[] = {{2, INGOT_DEVICE_MEMORY}, {700, INGOT_POISONED},
                {719, INGOT_POISONED},    {1, INGOT_DRIVER},
                {201, INGOT_DRIVER},      {4, INGOT_DRIVER},
                {3, INGOT_DRIVER}};
    struct ingot_module *module;
    struct sample sample;
    struct fake *fake;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        fake = fake_fresh();
        module = opened(&sample, "ptx75 cubin90a");
        fake->rules[0] = (struct fake_rule){2, 90, rows[i].result};
        assert_int_equal(ingot_preload(module), rows[i].status);
        assert_string_equal(fake->loads, "2:90a ");
        assert_true(says(module, "cubin sm_90a: "));
        close_balanced(module);
    }
}

static void out_of_memory_is_not_for_ever(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, "cubin90a");

    (void)state;
    fake->rules[0] = (struct fake_rule){2, 90, 2};
    assert_int_equal(ingot_preload(module), INGOT_DEVICE_MEMORY);
    assert_true(says(module, "CUDA_ERROR_OUT_OF_MEMORY (2)"));
    fake->rules[0].kind = 0;
    assert_int_equal(ingot_preload(module), INGOT_OK);
    close_balanced(module);
}

static void a_refusal_of_all_is_for_ever_and_names_the_first(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, "cubin90a ptx75");
    char log[INGOT_LOG_SIZE];

    (void)state;
    fake->rules[0] = (struct fake_rule){2, 90, 200};
    fake->rules[1] = (struct fake_rule){1, 75, 218};
    fake->compiler_log = "ptxas fatal : first";
    assert_int_equal(ingot_preload(module), INGOT_LOAD_FAILED);
    assert_true(says(module, "cubin sm_90a: CUDA_ERROR_INVALID_IMAGE (200)"));
    assert_string_equal(ingot_log_text(module, log, sizeof log),
                        "ptxas fatal : first");
    fake->rules[0].kind = 0;
    assert_int_equal(launch_vadd(module, NULL), INGOT_LOAD_FAILED);
    assert_true(says(module, "cubin sm_90a"));
    assert_string_equal(fake->loads, "2:90a 1:75 ");
    close_balanced(module);
}

static void keeps_the_log_of_refused_ptx(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, "ptx75");
    char log[12];

    (void)state;
    fake->rules[0] = (struct fake_rule){1, 75, 218};
    fake->compiler_log = "line 3: not an instruction";
    assert_int_equal(ingot_preload(module), INGOT_LOAD_FAILED);
    assert_true(says(module, "PTX sm_75: CUDA_ERROR_INVALID_PTX (218); "
                             "see ingot_log_text"));
    assert_string_equal(ingot_log_text(module, log, sizeof log), "line 3: not");
    close_balanced(module);
}

static void compressed_text_is_left_to_the_loader(void **state)
{
    struct fake *fake = fake_fresh();
    struct ingot_module *module;
    unsigned char *payload;
    struct sample sample;

    (void)state;
    sample_make(&sample, "");
    payload = sample_append(&sample, INGOT_PTX, 75, '\0', 64);
    put(payload, 0xfd2fb528, 4);
    put(payload - 0x50 + 16, 60, 4);
    put(payload - 0x50 + 40, 0x8011, 8);
    put(payload - 0x50 + 56, 4096, 8);
    sample_close(&sample);
    module = open_sample(&sample, 0);
    assert_int_equal(ingot_preload(module), INGOT_OK);
    assert_int_equal(fake_driver()->calls("cuLinkCreate_v2"), 0);
    assert_string_equal(fake->loads, "1:75 ");
    close_balanced(module);
}

static void skips_an_image_that_was_changed(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, "cubin90a ptx75");
    struct ingot_load load;

    (void)state;
    sample.bytes[16 + 0x40 + 400] ^= 1;
    assert_int_equal(ingot_preload(module), INGOT_OK);
    assert_string_equal(fake->loads, "1:75 ");
    assert_int_equal(ingot_report(module, &load), INGOT_OK);
    assert_int_equal(load.refused, 1);
    close_balanced(module);
}

static void never_gives_the_driver_a_changed_container(void **state)
{
    struct sample sample, good;
    struct ingot_module *module;
    struct fake *fake;
    size_t at;

    (void)state;
    for (at = 16; at < 16 + 0x40; at++) {
        fake = fake_fresh();
        module = opened(&sample, "cubin90a");
        good = sample;
        sample.bytes[at] ^= 0xff;
        if (ingot_preload(module)) {
            assert_true(says(module, "cubin sm_90a: changed after it was"));
            assert_string_equal(fake->loads, "");
        }
        sample = good;
        close_balanced(module);
    }
}

static void an_old_driver_does_without_the_new_functions(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, "ptx75");

    (void)state;
    fake->hidden[0] = "cuCtxGetId";
    fake->hidden[1] = "cuThreadExchangeStreamCaptureMode";
    fake->hidden[2] = "cuStreamGetCtx";
    fake->hidden[3] = "cuFuncGetParamInfo";
    fake->hidden[4] = "cuLinkCreate_v2";
    fake->hidden[5] = "cuModuleLoadDataEx";
    assert_int_equal(ingot_preload(module), INGOT_OK);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 1);
    assert_int_equal(fake_driver()->calls("cuLinkAddData_v2"), 0);
    assert_string_equal(fake->loads, "1:75 ");
    close_balanced(module);
}

static void a_kernel_that_is_missing(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, "cubin90a");

    (void)state;
    sample.entries[0].name = "vsub";
    assert_int_equal(ingot_preload(module), INGOT_NO_KERNEL);
    assert_true(says(module, "sample: vsub"));
    assert_int_equal(fake->live_modules, 0);
    assert_int_equal(launch_vadd(module, NULL), INGOT_NO_KERNEL);
    close_balanced(module);
}

static void parameters_of_another_header(void **state)
{
    static const uint16_t sizes[][5] = {
        {8, 8, 8, 8}, {8, 8, 8}, {8, 8, 8, 4, 4}, {4, 8, 8, 4}};
    static const uint32_t counts[] = {4, 3, 5, 4};
    struct ingot_module *module;
    struct sample sample;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof counts / sizeof *counts; i++) {
        fake_fresh();
        module = opened(&sample, "cubin90a");
        sample.entries[0].param_count = counts[i];
        sample.entries[0].param_sizes = sizes[i];
        assert_int_equal(ingot_preload(module), INGOT_BAD_PARAMETERS);
        assert_true(says(module, "sample: vadd"));
        close_balanced(module);
    }
}

static void an_optional_kernel_may_be_missing(void **state)
{
    struct fake *fake = fake_fresh();
    static const uint64_t grid[] = {1, 1, 1};
    static const uint32_t block[] = {1, 1, 1};
    struct sample sample;
    struct ingot_module *module = opened(&sample, "cubin90a ptx75");
    int available;

    (void)state;
    fake->kernels[1] = fake->kernels[0];
    fake->kernels[1].name = "vadd_wgmma";
    fake->kernels[1].absent_kind = 1;
    fake->rules[0] = (struct fake_rule){2, 90, 200};
    sample.artifact.entry_count = 2;
    sample.entries[1].name = "vadd_wgmma";
    sample.entries[1].optional = 1;
    assert_int_equal(ingot_available(module, 0, NULL, &available), INGOT_OK);
    assert_int_equal(available, 1);
    assert_int_equal(ingot_available(module, 1, NULL, &available), INGOT_OK);
    assert_int_equal(available, 0);
    assert_int_equal(ingot_launch(module, 1, NULL, grid, block, 0, NULL),
                     INGOT_NO_KERNEL);
    assert_true(says(module, "vadd_wgmma<1x1x1, 1x1x1, 0 bytes>: the image"));
    assert_int_equal(ingot_available(module, 2, NULL, &available),
                     INGOT_INVALID);
    assert_int_equal(available, 0);
    close_balanced(module);
}

static void shared_memory_is_raised_once(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, "cubin90a");
    struct ingot_kernel kernel;
    int available;

    (void)state;
    sample.entries[0].max_dynamic_shared = 200000;
    assert_int_equal(ingot_preload(module), INGOT_OK);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    assert_int_equal(fake_driver()->calls("cuFuncSetAttribute"), 1);
    assert_int_equal(ingot_entry_info(module, 0, &kernel), INGOT_OK);
    assert_int_equal(kernel.dynamic_shared, 200000);
    assert_int_equal(ingot_available(module, 0, NULL, &available), INGOT_OK);
    assert_int_equal(available, 1);
    close_balanced(module);
    fake = fake_fresh();
    fake->shared_optin = 101376;
    module = open_sample(&sample, 0);
    assert_int_equal(ingot_preload(module), INGOT_OK);
    assert_int_equal(ingot_available(module, 0, NULL, &available), INGOT_OK);
    assert_int_equal(available, 0);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    close_balanced(module);
}

static void tells_about_kernels(void **state)
{
    struct sample sample;
    struct ingot_module *module;
    struct ingot_kernel kernel;

    (void)state;
    fake_fresh();
    module = opened(&sample, "cubin90a");
    assert_int_equal(ingot_entry_info(module, 0, &kernel), INGOT_NOT_LOADED);
    assert_int_equal(kernel.registers, -1);
    assert_int_equal(ingot_preload(module), INGOT_OK);
    assert_int_equal(ingot_entry_info(module, 0, &kernel), INGOT_OK);
    assert_int_equal(kernel.registers, 40);
    assert_int_equal(kernel.local_bytes, 16);
    assert_int_equal(kernel.static_shared, 0);
    assert_int_equal(kernel.dynamic_shared, 49152);
    assert_int_equal(kernel.max_threads, 1024);
    assert_int_equal(kernel.binary_version, 90);
    assert_int_equal(kernel.ptx_version, 75);
    assert_int_equal(ingot_entry_info(module, 1, &kernel), INGOT_INVALID);
    close_balanced(module);
}

static void loads_are_bracketed_during_capture(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, "ptx75");

    (void)state;
    fake->is_capturing = 1;
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    assert_int_equal(fake_driver()->capture_mode(), 0);
    close_balanced(module);
    assert_int_equal(fake->broken_capture, 0);
    assert_int_equal(fake_driver()->calls("cuModuleUnload"), 1);
}

static void preload_uses_the_current_context(void **state)
{
    struct sample sample;
    struct ingot_module *module;

    (void)state;
    fake_fresh();
    module = opened(&sample, "cubin90a");
    fake_driver()->context_push(fake_driver()->context_create(0));
    assert_int_equal(ingot_preload(module), INGOT_OK);
    assert_int_equal(fake_driver()->calls("cuDevicePrimaryCtxRetain"), 0);
    assert_int_equal(fake_driver()->depth(), 1);
    assert_int_equal(ingot_preload(module), INGOT_OK);
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 1);
    close_balanced(module);
}

static void preload_falls_back_to_the_primary_context(void **state)
{
    struct sample sample;
    struct ingot_module *module;

    (void)state;
    fake_fresh();
    module = opened(&sample, "cubin90a");
    assert_int_equal(ingot_preload(module), INGOT_OK);
    assert_int_equal(ingot_preload(module), INGOT_OK);
    assert_int_equal(fake_driver()->calls("cuDevicePrimaryCtxRetain"), 1);
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 1);
    assert_int_equal(fake_driver()->depth(), 0);
    assert_int_equal(fake_driver()->state()->retains, 1);
    close_balanced(module);
}

static void closes_after_the_driver_shut_down(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, "cubin90a");

    (void)state;
    assert_int_equal(ingot_preload(module), INGOT_OK);
    fake->is_shut_down = 1;
    assert_int_equal(launch_vadd(module, NULL), INGOT_DRIVER);
    ingot_close(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_driver),
        cmocka_unit_test(a_library_that_is_no_driver),
        cmocka_unit_test(a_driver_that_lacks_a_function),
        cmocka_unit_test(the_stub_driver),
        cmocka_unit_test(no_device),
        cmocka_unit_test(a_device_that_is_not_there),
        cmocka_unit_test(a_failed_driver_is_tried_again),
        cmocka_unit_test(picks_the_exact_cubin),
        cmocka_unit_test(picks_the_nearest_of_the_same_major),
        cmocka_unit_test(picks_the_highest_ptx_below),
        cmocka_unit_test(never_picks_what_cannot_run),
        cmocka_unit_test(no_fit_names_device_and_images),
        cmocka_unit_test(steps_down_when_an_image_is_refused),
        cmocka_unit_test(stops_when_the_next_image_would_not_help),
        cmocka_unit_test(out_of_memory_is_not_for_ever),
        cmocka_unit_test(a_refusal_of_all_is_for_ever_and_names_the_first),
        cmocka_unit_test(keeps_the_log_of_refused_ptx),
        cmocka_unit_test(compressed_text_is_left_to_the_loader),
        cmocka_unit_test(skips_an_image_that_was_changed),
        cmocka_unit_test(never_gives_the_driver_a_changed_container),
        cmocka_unit_test(an_old_driver_does_without_the_new_functions),
        cmocka_unit_test(a_kernel_that_is_missing),
        cmocka_unit_test(parameters_of_another_header),
        cmocka_unit_test(an_optional_kernel_may_be_missing),
        cmocka_unit_test(shared_memory_is_raised_once),
        cmocka_unit_test(tells_about_kernels),
        cmocka_unit_test(loads_are_bracketed_during_capture),
        cmocka_unit_test(preload_uses_the_current_context),
        cmocka_unit_test(preload_falls_back_to_the_primary_context),
        cmocka_unit_test(closes_after_the_driver_shut_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
