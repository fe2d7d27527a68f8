/* Tensor maps: what the driver is asked for, and what is refused before. */

#include "tests/fake_driver/harness.h"

/* Tiles of 64 rows of 32 elements of 2 bytes, of an array of three
 * dimensions. */
static const struct ingot_tensor tensor = {"A: tiles", 3, 2,
                                           64,         0, {32, 64, 1}};

/* Where an array might be. */
#define ADDRESS ((const void *)UINT64_C(0x7f0000001000))

/* Encodes a map of 4 x M x K elements in rows of `row` elements. */
static enum ingot_status encode(struct ingot_module *module, const void *array,
                                int64_t M, int64_t K, int64_t row,
                                struct ingot_tensor_map *map)
{
    const int64_t sizes[] = {K, M, 4}, strides[] = {1, row, row * M};

    return ingot_encode(module, NULL, &tensor, array, sizes, strides, map);
}

/* A module that is loaded in a context of the thread. */
static struct ingot_module *loaded(struct sample *sample)
{
    struct ingot_module *module;

    sample_make(sample, "cubin90");
    module = open_sample(sample, 0);
    fake_driver()->context_push(fake_driver()->context_create(0));
    assert_int_equal(ingot_preload(module), INGOT_OK);
    return module;
}

static void the_driver_is_told_everything(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = loaded(&sample);
    struct ingot_tensor_map map;

    (void)state;
    assert_int_equal((uintptr_t)&map % 64, 0);
    assert_int_equal(encode(module, ADDRESS, 1000, 72, 80, &map), INGOT_OK);
    assert_ptr_equal(fake->tensor.address, ADDRESS);
    assert_int_equal(fake->tensor.type, 1);
    assert_int_equal(fake->tensor.swizzle, 2);
    assert_int_equal(fake->tensor.rank, 3);
    assert_int_equal(fake->tensor.sizes[0], 72);
    assert_int_equal(fake->tensor.sizes[1], 1000);
    assert_int_equal(fake->tensor.sizes[2], 4);
    assert_int_equal(fake->tensor.strides[0], 160);
    assert_int_equal(fake->tensor.strides[1], 160000);
    assert_int_equal(fake->tensor.box[0], 32);
    assert_int_equal(fake->tensor.box[1], 64);
    assert_int_equal(fake->tensor.box[2], 1);
    assert_int_equal(map.words[15], UINT64_C(0x5a5a5a5a5a5a5a5a));
    close_balanced(module);
}

static void types_and_swizzles_are_the_drivers(void **state)
{
    static const int64_t sizes[] = {64}, strides[] = {1};
    static const int types[] = {0, 1, 2, 4};
    struct ingot_tensor flat = {"A", 1, 1, 0, 0, {32}};
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = loaded(&sample);
    struct ingot_tensor_map map;
    int i;

    (void)state;
    for (i = 0; i < 4; i++) {
        flat.element = 1u << i;
        flat.swizzle = i ? 16u << i : 0;
        assert_int_equal(
            ingot_encode(module, NULL, &flat, ADDRESS, sizes, strides, &map),
            INGOT_OK);
        assert_int_equal(fake->tensor.type, types[i]);
        assert_int_equal(fake->tensor.swizzle, i);
    }
    close_balanced(module);
}

/* Floats that TMA rounds are TFLOAT32 to the driver. */
static void rounded_floats_are_tfloat32(void **state)
{
    static const int64_t sizes[] = {64}, strides[] = {1};
    static const struct ingot_tensor rounded = {"A", 1, 4, 128, 1, {32}};
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = loaded(&sample);
    struct ingot_tensor_map map;

    (void)state;
    assert_int_equal(
        ingot_encode(module, NULL, &rounded, ADDRESS, sizes, strides, &map),
        INGOT_OK);
    assert_int_equal(fake->tensor.type, 11);
    assert_int_equal(fake->tensor.swizzle, 3);
    close_balanced(module);
}

static void what_tma_cannot_address_is_refused(void **state)
{
    struct sample sample;
    struct ingot_module *module;
    struct ingot_tensor_map map;

    (void)state;
    fake_fresh();
    module = loaded(&sample);
    assert_int_equal(encode(module, (const char *)ADDRESS + 8, 8, 8, 8, &map),
                     INGOT_MISALIGNED);
    assert_true(says(module, "A: tiles: not aligned to 16"));
    assert_int_equal(encode(module, ADDRESS, 8, 8, 9, &map), INGOT_BAD_SIZE);
    assert_true(says(module, "no multiple of 16 bytes"));
    assert_int_equal(encode(module, ADDRESS, INT64_C(1) << 33, 8, 8, &map),
                     INGOT_BAD_SIZE);
    assert_true(says(module, "more than 2^32 elements"));
    assert_int_equal(encode(module, ADDRESS, 8, 8, INT64_C(1) << 39, &map),
                     INGOT_BAD_SIZE);
    assert_true(says(module, "2^40 bytes"));
    assert_int_equal(fake_driver()->calls("cuTensorMapEncodeTiled"), 0);
    close_balanced(module);
}

static void an_array_without_elements_has_no_map(void **state)
{
    struct sample sample;
    struct ingot_module *module;
    struct ingot_tensor_map map = {{1}};

    (void)state;
    fake_fresh();
    module = loaded(&sample);
    assert_int_equal(encode(module, NULL, 0, 8, 8, &map), INGOT_OK);
    assert_int_equal(map.words[0], 0);
    assert_int_equal(fake_driver()->calls("cuTensorMapEncodeTiled"), 0);
    close_balanced(module);
}

static void a_driver_that_knows_no_maps_is_too_old(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module;
    struct ingot_tensor_map map;

    (void)state;
    fake->hidden[0] = "cuTensorMapEncodeTiled";
    module = loaded(&sample);
    assert_int_equal(encode(module, ADDRESS, 8, 8, 8, &map), INGOT_OLD_DRIVER);
    assert_true(says(module, "it lacks cuTensorMapEncodeTiled"));
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    close_balanced(module);
}

static void a_refusal_is_reported(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module = loaded(&sample);
    struct ingot_tensor_map map;

    (void)state;
    fake->fail_function = "cuTensorMapEncodeTiled";
    fake->fail_call = 1;
    fake->fail_result = 1;
    assert_int_equal(encode(module, ADDRESS, 8, 8, 8, &map), INGOT_DRIVER);
    assert_true(says(module, "cuTensorMapEncodeTiled: "));
    assert_int_equal(encode(module, ADDRESS, 8, 8, 8, &map), INGOT_OK);
    close_balanced(module);
}

static void a_thread_without_context_borrows_one(void **state)
{
    struct sample sample;
    struct ingot_module *module;
    struct ingot_tensor_map map;

    (void)state;
    fake_fresh();
    sample_make(&sample, "cubin90");
    module = open_sample(&sample, 0);
    assert_int_equal(encode(module, ADDRESS, 8, 8, 8, &map), INGOT_OK);
    assert_int_equal(encode(module, ADDRESS, 8, 8, 8, &map), INGOT_OK);
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 1);
    close_balanced(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_driver_is_told_everything),
        cmocka_unit_test(types_and_swizzles_are_the_drivers),
        cmocka_unit_test(rounded_floats_are_tfloat32),
        cmocka_unit_test(what_tma_cannot_address_is_refused),
        cmocka_unit_test(an_array_without_elements_has_no_map),
        cmocka_unit_test(a_driver_that_knows_no_maps_is_too_old),
        cmocka_unit_test(a_refusal_is_reported),
        cmocka_unit_test(a_thread_without_context_borrows_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
