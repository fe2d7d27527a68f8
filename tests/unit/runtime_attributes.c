/* Launches by attributes: programmatic ones where image and driver can, and
 * cooperative ones. */

#include "tests/fake_driver/harness.h"

/* A module of images for a kernel with attributes, loaded; the driver is as the
 * test has set it. */
static struct ingot_module *loaded(struct sample *sample, const char *images,
                                   uint32_t attributes)
{
    struct ingot_module *module;

    sample_make(sample, images);
    sample->entries[0].attributes = attributes;
    module = open_sample(sample, 0);
    fake_driver()->context_push(fake_driver()->context_create(0));
    assert_int_equal(ingot_preload(module), INGOT_OK);
    return module;
}

/* Launches so many blocks. */
static enum ingot_status launch(struct ingot_module *module, uint64_t blocks)
{
    const uint64_t grid[] = {blocks, 1, 1};
    const uint32_t block[] = {128, 1, 1};
    void *params[4] = {0};

    return ingot_launch(module, 0, NULL, grid, block, 0, params);
}

/* Is a programmatic kernel of `images` launched as such? */
static bool is_programmatic(const char *images)
{
    const struct fake_launch *last = &fake_driver()->state()->last;
    struct sample sample;
    struct ingot_module *module = loaded(&sample, images, INGOT_PROGRAMMATIC);

    assert_int_equal(launch(module, 5), INGOT_OK);
    assert_int_equal(last->grid[0], 5);
    assert_int_equal(last->block[0], 128);
    close_balanced(module);
    return last->programmatic;
}

static void a_programmatic_kernel_is_launched_so(void **state)
{
    (void)state;
    fake_fresh();
    assert_true(is_programmatic("cubin90"));
    assert_false(fake_driver()->state()->last.cooperative);
    fake_fresh();
    assert_true(is_programmatic("cubin90a ptx75"));
}

static void a_kernel_that_does_not_wait_is_not(void **state)
{
    (void)state;
    fake_fresh();
    assert_false(is_programmatic("ptx80"));
    fake_fresh()->sm[0] = 86;
    assert_false(is_programmatic("cubin80"));
    fake_fresh()->sm[0] = 120;
    assert_true(is_programmatic("ptx90 ptx75"));
}

static void an_older_driver_launches_as_usual(void **state)
{
    struct fake *fake = fake_fresh();

    (void)state;
    fake->driver_version = 12020;
    assert_false(is_programmatic("cubin90"));
    fake = fake_fresh();
    fake->driver_version = 12030;
    assert_true(is_programmatic("cubin90"));
    fake = fake_fresh();
    fake->hidden[0] = "cuLaunchKernelEx";
    assert_false(is_programmatic("cubin90"));
}

static void other_kernels_have_no_attributes(void **state)
{
    struct sample sample;
    struct ingot_module *module;

    (void)state;
    fake_fresh();
    module = loaded(&sample, "cubin90", 0);
    assert_int_equal(launch(module, 5), INGOT_OK);
    assert_false(fake_driver()->state()->last.has_attributes);
    close_balanced(module);
}

static void cooperative_blocks_all_fit_or_are_refused(void **state)
{
    struct sample sample;
    struct ingot_module *module;

    (void)state;
    fake_fresh()->resident = 3;
    module = loaded(&sample, "cubin90", INGOT_COOPERATIVE);
    assert_int_equal(launch(module, 396), INGOT_OK);
    assert_true(fake_driver()->state()->last.cooperative);
    assert_false(fake_driver()->state()->last.programmatic);
    assert_int_equal(launch(module, 397), INGOT_BAD_LAUNCH);
    assert_true(says(module, "sample: vadd<397x1x1, 128x1x1, 0 bytes>: its "
                             "blocks wait for each other, and only 396 of "
                             "them run at a time"));
    assert_int_equal(launch(module, 396), INGOT_OK);
    close_balanced(module);
}

static void cooperative_blocks_need_a_driver_that_knows_them(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module;

    (void)state;
    fake->hidden[0] = "cuLaunchKernelEx";
    module = loaded(&sample, "cubin90", INGOT_COOPERATIVE);
    assert_int_equal(launch(module, 5), INGOT_OLD_DRIVER);
    assert_true(says(module, "it lacks cuLaunchKernelEx"));
    assert_int_equal(fake->launches, 0);
    close_balanced(module);
}

static void both_attributes_go_together(void **state)
{
    const struct fake_launch *last = &fake_driver()->state()->last;
    struct sample sample;
    struct ingot_module *module;

    (void)state;
    fake_fresh();
    module = loaded(&sample, "cubin90", INGOT_PROGRAMMATIC | INGOT_COOPERATIVE);
    assert_int_equal(launch(module, 5), INGOT_OK);
    assert_true(last->programmatic && last->cooperative);
    close_balanced(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_programmatic_kernel_is_launched_so),
        cmocka_unit_test(a_kernel_that_does_not_wait_is_not),
        cmocka_unit_test(an_older_driver_launches_as_usual),
        cmocka_unit_test(other_kernels_have_no_attributes),
        cmocka_unit_test(cooperative_blocks_all_fit_or_are_refused),
        cmocka_unit_test(cooperative_blocks_need_a_driver_that_knows_them),
        cmocka_unit_test(both_attributes_go_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
