/* The runtime's launches: limits, streams and contexts, and what becomes of an
 * error of the driver. */

#include "tests/fake_driver/harness.h"

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

/* A module of a sample for sm_90, not loaded yet. */
static struct ingot_module *opened(struct sample *sample, uint32_t flags)
{
    sample_make(sample, "cubin90a ptx75");
    return open_sample(sample, flags);
}

/* The same, loaded in a new context that is current. */
static struct ingot_module *loaded(struct sample *sample)
{
    struct ingot_module *module;

    fake_fresh();
    module = opened(sample, 0);
    fake_driver()->context_push(fake_driver()->context_create(0));
    assert_int_equal(ingot_preload(module), INGOT_OK);
    return module;
}

/* Launches vadd as told. */
static enum ingot_status launch(struct ingot_module *module, uint64_t x,
                                uint64_t y, uint64_t z, const uint32_t *block,
                                uint32_t shared)
{
    const uint64_t grid[] = {x, y, z};
    void *params[4] = {0};

    return ingot_launch(module, 0, NULL, grid, block, shared, params);
}

static void passes_everything_on(void **state)
{
    static const uint64_t grid[] = {3, 4, 5};
    static const uint32_t block[] = {32, 2, 4};
    struct sample sample;
    struct ingot_module *module = loaded(&sample);
    struct fake_launch *last = &fake_driver()->state()->last;
    void *params[4] = {0}, *context = fake_driver()->context_create(0);
    CUstream stream;

    (void)state;
    sample.entries[0].max_dynamic_shared = 1000;
    fake_driver()->context_push(context);
    assert_int_equal(ingot_preload(module), INGOT_OK);
    stream = fake_driver()->stream_create(context);
    assert_int_equal(ingot_launch(module, 0, stream, grid, block, 1000, params),
                     INGOT_OK);
    assert_string_equal(last->name, "vadd");
    assert_int_equal(last->grid[0], 3);
    assert_int_equal(last->grid[1], 4);
    assert_int_equal(last->grid[2], 5);
    assert_int_equal(last->block[0], 32);
    assert_int_equal(last->block[1], 2);
    assert_int_equal(last->block[2], 4);
    assert_int_equal(last->shared, 1000);
    assert_ptr_equal(last->stream, stream);
    assert_ptr_equal(last->params, params);
    close_balanced(module);
}

static void asks_nothing_of_the_driver_when_hot(void **state)
{
    static const char *const functions[] = {
        "cuCtxGetCurrent",   "cuCtxGetId",          "cuStreamGetCtx",
        "cuCtxGetDevice",    "cuCtxPushCurrent_v2", "cuModuleGetFunction",
        "cuModuleLoadDataEx"};
    struct sample sample;
    struct ingot_module *module = loaded(&sample);
    int before[7], i;

    (void)state;
    for (i = 0; i < 7; i++)
        before[i] = fake_driver()->calls(functions[i]);
    for (i = 0; i < 1000; i++)
        assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    for (i = 0; i < 7; i++)
        assert_int_equal(fake_driver()->calls(functions[i]), before[i]);
    assert_int_equal(fake_driver()->calls("cuLaunchKernel"), 1000);
    close_balanced(module);
}

static void an_empty_grid_succeeds_without_a_launch(void **state)
{
    static const uint32_t block[] = {128, 1, 1};
    struct sample sample;
    struct ingot_module *module = loaded(&sample);

    (void)state;
    assert_int_equal(launch(module, 0, 1, 1, block, 0), INGOT_OK);
    assert_int_equal(launch(module, 1, 0, 1, block, 0), INGOT_OK);
    assert_int_equal(launch(module, 1, 1, 0, block, 0), INGOT_OK);
    assert_int_equal(fake_driver()->calls("cuLaunchKernel"), 0);
    close_balanced(module);
}

static void refuses_grids_beyond_the_limits(void **state)
{
    static const uint32_t block[] = {128, 1, 1};
    struct sample sample;
    struct ingot_module *module = loaded(&sample);

    (void)state;
    assert_int_equal(launch(module, INT32_MAX, 65535, 65535, block, 0),
                     INGOT_OK);
    assert_int_equal(launch(module, UINT64_C(1) << 31, 1, 1, block, 0),
                     INGOT_BAD_LAUNCH);
    assert_true(says(module, "sample: vadd<2147483648x1x1, 128x1x1, 0 bytes> "
                             "exceeds <2147483647x65535x65535, "));
    assert_int_equal(launch(module, (UINT64_C(1) << 32) + 1, 1, 1, block, 0),
                     INGOT_BAD_LAUNCH);
    assert_int_equal(launch(module, 1, 65536, 1, block, 0), INGOT_BAD_LAUNCH);
    assert_int_equal(launch(module, 1, 1, UINT64_MAX, block, 0),
                     INGOT_BAD_LAUNCH);
    assert_int_equal(fake_driver()->calls("cuLaunchKernel"), 1);
    close_balanced(module);
}

static void refuses_blocks_beyond_the_limits(void **state)
{
    static const uint32_t good[][3] = {
        {1024, 1, 1}, {1, 1024, 1}, {16, 1, 64}, {32, 32, 1}};
    static const uint32_t bad[][3] = {
        {0, 1, 1},      {1, 0, 1},         {1, 1, 0},       {1025, 1, 1},
        {1, 1025, 1},   {1, 1, 65},        {32, 33, 1},     {UINT32_MAX, 1, 1},
        {1024, 64, 64}, {65536, 65536, 1}, {1u << 31, 2, 1}};
    struct sample sample;
    struct ingot_module *module = loaded(&sample);
    size_t i;

    (void)state;
    for (i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(launch(module, 1, 1, 1, good[i], 0), INGOT_OK);
    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(launch(module, 1, 1, 1, bad[i], 0), INGOT_BAD_LAUNCH);
    close_balanced(module);
}

static void refuses_more_threads_than_the_kernel_takes(void **state)
{
    static const uint32_t block[] = {256, 1, 1};
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, 0);

    (void)state;
    fake->kernels[0].max_threads = 255;
    assert_int_equal(launch(module, 1, 1, 1, block, 0), INGOT_BAD_LAUNCH);
    assert_true(says(module, "or 255 threads"));
    close_balanced(module);
    fake = fake_fresh();
    module = opened(&sample, 0);
    sample.entries[0].max_threads = 128;
    assert_int_equal(launch(module, 1, 1, 1, block, 0), INGOT_BAD_LAUNCH);
    assert_true(says(module, "or 128 threads"));
    close_balanced(module);
}

static void refuses_more_shared_memory_than_there_is(void **state)
{
    static const uint32_t block[] = {1, 1, 1};
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, 0);

    (void)state;
    sample.entries[0].static_shared = 1024;
    sample.entries[0].max_dynamic_shared = 100000;
    fake->shared_optin = 65536;
    assert_int_equal(launch(module, 1, 1, 1, block, 48128), INGOT_OK);
    assert_int_equal(launch(module, 1, 1, 1, block, 48129), INGOT_BAD_LAUNCH);
    assert_true(says(module, "1x1x1, 48129 bytes> exceeds"));
    assert_true(says(module, ", 48128 bytes> or 1024 threads"));
    close_balanced(module);
}

static void explicit_loading_is_respected(void **state)
{
    struct sample sample;
    struct ingot_module *module;
    int available;

    (void)state;
    fake_fresh();
    module = opened(&sample, INGOT_LOAD_EXPLICITLY);
    fake_driver()->context_push(fake_driver()->context_create(0));
    assert_int_equal(launch_vadd(module, NULL), INGOT_NOT_LOADED);
    assert_int_equal(ingot_available(module, 0, NULL, &available),
                     INGOT_NOT_LOADED);
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 0);
    assert_int_equal(ingot_preload(module), INGOT_OK);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    fake_driver()->context_push(fake_driver()->context_create(0));
    assert_int_equal(launch_vadd(module, NULL), INGOT_NOT_LOADED);
    close_balanced(module);
}

static void a_thread_without_context_uses_the_primary(void **state)
{
    struct sample sample;
    struct ingot_module *module;

    (void)state;
    fake_fresh();
    module = opened(&sample, 0);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 1);
    assert_int_equal(fake_driver()->depth(), 0);
    assert_int_equal(fake_driver()->state()->launches, 2);
    close_balanced(module);
}

static void several_contexts_each_get_their_own(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, 0);
    void *contexts[3], *streams[3];
    struct ingot_load load;
    int i;

    (void)state;
    fake->device_count = 2;
    fake->sm[1] = 80;
    for (i = 0; i < 3; i++) {
        contexts[i] = fake_driver()->context_create(i % 2);
        streams[i] = fake_driver()->stream_create(contexts[i]);
    }
    for (i = 0; i < 3; i++) {
        fake_driver()->context_push(contexts[i]);
        assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
        assert_int_equal(ingot_report(module, &load), INGOT_OK);
        assert_int_equal(load.device_sm, i % 2 ? 80 : 90);
        assert_int_equal(load.rung, i % 2 ? INGOT_RUNG_PTX : INGOT_RUNG_EXACT);
        assert_int_equal(load.contexts, i + 1);
    }
    for (i = 0; i < 30; i++)
        assert_int_equal(launch_vadd(module, streams[i % 3]), INGOT_OK);
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 3);
    assert_int_equal(fake_driver()->calls("cuLaunchKernel"), 33 + 1);
    close_balanced(module);
}

static void a_stream_decides_against_the_current_context(void **state)
{
    struct sample sample;
    struct ingot_module *module = loaded(&sample);
    void *other = fake_driver()->context_create(0);
    void *stream = fake_driver()->stream_create(other);

    (void)state;
    assert_int_equal(launch_vadd(module, stream), INGOT_OK);
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 2);
    assert_int_equal(launch_vadd(module, stream), INGOT_OK);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    assert_int_equal(launch_vadd(module, (void *)1), INGOT_OK);
    assert_int_equal(launch_vadd(module, (void *)2), INGOT_OK);
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 2);
    assert_int_equal(fake_driver()->depth(), 1);
    close_balanced(module);
}

static void a_reset_context_is_loaded_again_once(void **state)
{
    struct sample sample;
    struct ingot_module *module;
    struct ingot_load load;
    void *context;
    int i;

    (void)state;
    fake_fresh();
    module = opened(&sample, 0);
    context = fake_driver()->context_create(0);
    fake_driver()->context_push(context);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    for (i = 0; i < 3; i++) {
        fake_driver()->context_reset(context);
        assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
        assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
        assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 2 + i);
    }
    assert_int_equal(ingot_report(module, &load), INGOT_OK);
    assert_int_equal(load.contexts, 1);
    close_balanced(module);
}

static void without_ids_a_reset_context_is_found_by_its_error(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, 0);
    void *context = fake_driver()->context_create(0);

    (void)state;
    fake->hidden[0] = "cuCtxGetId";
    fake_driver()->context_push(context);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    fake_driver()->context_reset(context);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 2);
    close_balanced(module);
}

static void a_primary_context_that_was_reset_is_retained_again(void **state)
{
    struct sample sample;
    struct ingot_module *module;

    (void)state;
    fake_fresh();
    module = opened(&sample, 0);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    fake_driver()->primary_reset(0);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 2);
    assert_int_equal(fake_driver()->state()->retains, 2);
    close_balanced(module);
}

static void a_destroyed_context_is_reported(void **state)
{
    struct sample sample;
    struct ingot_module *module;
    void *context;

    (void)state;
    fake_fresh();
    module = opened(&sample, 0);
    context = fake_driver()->context_create(0);
    fake_driver()->context_push(context);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    fake_driver()->context_destroy(context);
    assert_int_equal(launch_vadd(module, NULL), INGOT_DRIVER);
    assert_true(says(module, "CUDA_ERROR_CONTEXT_IS_DESTROYED (709)"));
    close_balanced(module);
}

static void handle_errors_are_retried_once(void **state)
{
    struct sample sample;
    struct ingot_module *module = loaded(&sample);
    struct fake *fake = fake_driver()->state();

    (void)state;
    fake->fail_function = "cuLaunchKernel";
    fake->fail_result = 400;
    assert_int_equal(launch_vadd(module, NULL), INGOT_DRIVER);
    assert_true(says(module, "vadd<1x1x1, 128x1x1, 0 bytes>: "
                             "CUDA_ERROR_INVALID_HANDLE (400)"));
    assert_int_equal(fake_driver()->calls("cuLaunchKernel"), 1);
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 1);
    fake->hidden[0] = "cuCtxGetId";
    close_balanced(module);
}

static void ordinary_errors_leave_the_module_usable(void **state)
{
    static const int results[] = {1, 2, 701, 720, 900, 906, 912, 999};
    struct sample sample;
    struct ingot_module *module = loaded(&sample);
    struct fake *fake = fake_driver()->state();
    size_t i;

    (void)state;
    for (i = 0; i < sizeof results / sizeof *results; i++) {
        fake->fail_function = "cuLaunchKernel";
        fake->fail_result = results[i];
        assert_int_equal(launch_vadd(module, NULL),
                         results[i] == 2 ? INGOT_DEVICE_MEMORY : INGOT_DRIVER);
        fake->fail_function = NULL;
        assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    }
    close_balanced(module);
}

static void a_fault_poisons_and_the_first_is_reported_for_ever(void **state)
{
    static const int results[] = {214, 220, 226, 700, 702, 710, 714,
                                  715, 716, 717, 718, 719, 721};
    struct ingot_module *module;
    struct ingot_kernel kernel;
    struct sample sample;
    struct fake *fake;
    char number[8];
    size_t i;
    int calls;

    (void)state;
    for (i = 0; i < sizeof results / sizeof *results; i++) {
        module = loaded(&sample);
        fake = fake_driver()->state();
        fake->sticky = results[i];
        snprintf(number, sizeof number, "(%d)", results[i]);
        assert_int_equal(launch_vadd(module, NULL), INGOT_POISONED);
        assert_true(says(module, number));
        assert_true(says(module, "; only a new process recovers"));
        fake->sticky = 719;
        ingot_reject(module, INGOT_BAD_SIZE, "vadd", "n > 0");
        calls = fake_driver()->calls("cuLaunchKernel");
        assert_int_equal(launch_vadd(module, NULL), INGOT_POISONED);
        assert_true(says(module, number));
        assert_int_equal(ingot_preload(module), INGOT_POISONED);
        assert_int_equal(ingot_entry_info(module, 0, &kernel), INGOT_POISONED);
        assert_true(says(module, number));
        assert_int_equal(fake_driver()->calls("cuLaunchKernel"), calls);
        ingot_close(module);
        assert_int_equal(fake_driver()->calls("cuModuleUnload"), 0);
    }
}

static void a_fault_before_the_load_is_reported(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, 0);

    (void)state;
    fake_driver()->context_push(fake_driver()->context_create(0));
    fake->sticky = 700;
    assert_int_equal(launch_vadd(module, NULL), INGOT_POISONED);
    assert_true(says(module, "an illegal memory access was encountered"));
    assert_int_equal(launch_vadd(module, NULL), INGOT_POISONED);
    ingot_close(module);
}

#ifndef _WIN32

/* Runs in a forked child: 0 if launch, preload, text and close are as
 * documented. */
static int check_child(struct ingot_module *module)
{
    char text[INGOT_TEXT_SIZE];

    if (launch_vadd(module, NULL) != INGOT_FORKED)
        return 1;
    if (ingot_preload(module) != INGOT_FORKED)
        return 2;
    if (strcmp(ingot_error_text(module, text, sizeof text),
               ingot_status_text(INGOT_FORKED)))
        return 3;
    ingot_close(module);
    return 0;
}

/* Forks and returns the child's exit status. */
static int status_of_child(struct ingot_module *module)
{
    int status;
    pid_t child = fork();

    if (!child)
        _exit(check_child(module));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_fork_is_detected(void **state)
{
    struct sample sample;
    struct ingot_module *module = loaded(&sample);

    (void)state;
    assert_int_equal(status_of_child(module), 0);
    fake_driver()->context_push(fake_driver()->context_create(0));
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    assert_int_equal(status_of_child(module), 0);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    close_balanced(module);
}

static void a_fork_before_is_fine_and_one_of_others_is_named(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = opened(&sample, 0);
    pid_t child = fork();
    int status;

    (void)state;
    if (!child)
        _exit(launch_vadd(module, NULL));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    fake->fail_function = "cuInit";
    fake->fail_result = 3;
    assert_int_equal(launch_vadd(module, NULL), INGOT_FORKED);
    assert_true(says(module, "cuInit: CUDA error (3)"));
    close_balanced(module);
}

#endif

static void rejections_are_recorded(void **state)
{
    struct sample sample;
    struct ingot_module *module = loaded(&sample);
    char text[8];

    (void)state;
    assert_int_equal(ingot_reject(module, INGOT_BAD_SIZE, "gemm", "N % 8 == 0"),
                     INGOT_BAD_SIZE);
    assert_true(says(module, "sample: gemm: N % 8 == 0"));
    assert_string_equal(ingot_error_text(module, text, sizeof text), "sample:");
    close_balanced(module);
}

static void long_names_are_cut_and_not_overrun(void **state)
{
    struct sample sample;
    struct ingot_module *module = loaded(&sample);
    char name[3 * INGOT_TEXT_SIZE], text[INGOT_TEXT_SIZE];

    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    sample.artifact.name = name;
    sample.entries[0].name = name;
    assert_int_equal(ingot_reject(module, INGOT_BAD_SIZE, name, name),
                     INGOT_BAD_SIZE);
    assert_int_equal(launch(module, UINT64_MAX, 1, 1, (uint32_t[]){1, 1, 1}, 0),
                     INGOT_BAD_LAUNCH);
    ingot_error_text(module, text, sizeof text);
    assert_int_equal(strlen(text), INGOT_TEXT_SIZE - 1);
    sample.entries[0].name = "vadd";
    close_balanced(module);
}

static void blocks_that_run_at_a_time_are_counted(void **state)
{
    struct sample sample;
    struct ingot_module *module = loaded(&sample);

    (void)state;
    assert_int_equal(ingot_resident(module, NULL, 1), 132);
    assert_int_equal(ingot_resident(module, NULL, 2), 264);
    close_balanced(module);
    module = opened(&sample, INGOT_LOAD_EXPLICITLY);
    assert_int_equal(ingot_resident(module, NULL, 2), 2);
    ingot_close(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_everything_on),
        cmocka_unit_test(asks_nothing_of_the_driver_when_hot),
        cmocka_unit_test(an_empty_grid_succeeds_without_a_launch),
        cmocka_unit_test(refuses_grids_beyond_the_limits),
        cmocka_unit_test(refuses_blocks_beyond_the_limits),
        cmocka_unit_test(refuses_more_threads_than_the_kernel_takes),
        cmocka_unit_test(refuses_more_shared_memory_than_there_is),
        cmocka_unit_test(explicit_loading_is_respected),
        cmocka_unit_test(a_thread_without_context_uses_the_primary),
        cmocka_unit_test(several_contexts_each_get_their_own),
        cmocka_unit_test(a_stream_decides_against_the_current_context),
        cmocka_unit_test(a_reset_context_is_loaded_again_once),
        cmocka_unit_test(without_ids_a_reset_context_is_found_by_its_error),
        cmocka_unit_test(a_primary_context_that_was_reset_is_retained_again),
        cmocka_unit_test(a_destroyed_context_is_reported),
        cmocka_unit_test(handle_errors_are_retried_once),
        cmocka_unit_test(ordinary_errors_leave_the_module_usable),
        cmocka_unit_test(a_fault_poisons_and_the_first_is_reported_for_ever),
        cmocka_unit_test(a_fault_before_the_load_is_reported),
#ifndef _WIN32
        cmocka_unit_test(a_fork_is_detected),
        cmocka_unit_test(a_fork_before_is_fine_and_one_of_others_is_named),
#endif
        cmocka_unit_test(blocks_that_run_at_a_time_are_counted),
        cmocka_unit_test(rejections_are_recorded),
        cmocka_unit_test(long_names_are_cut_and_not_overrun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
