/* Fatbins whose images `ingot image` changed: which are taken, what is loaded of
 * them, which are refused. */

#include "tests/fake_driver/harness.h"

#include <unistd.h>

/* Opens the sample and checks for `status` and a text with `part`. */
static void opens(const struct sample *sample, enum ingot_status status,
                  const char *part)
{
    struct ingot_module *module;

    assert_int_equal(ingot_open(&module, &sample->artifact, sample->bytes,
                                sample->size, NULL),
                     status);
    assert_true(says(module, part));
    ingot_close(module);
}

static void loads_what_was_added(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample built, sample;
    struct ingot_module *module;
    struct ingot_image image;
    struct ingot_load load;

    (void)state;
    sample_make(&built, "cubin80 ptx75");
    sample_change(&sample, "cubin80 cubin120a cubin90 ptx75", &built);
    fake->sm[0] = 120;
    module = open_sample(&sample, 0);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    assert_int_equal(ingot_report(module, &load), INGOT_OK);
    assert_int_equal(load.rung, INGOT_RUNG_EXACT);
    assert_int_equal(load.image, 1);
    assert_int_equal(ingot_image_info(module, load.image, &image), INGOT_OK);
    assert_int_equal(image.kind, INGOT_CUBIN);
    assert_int_equal(image.sm, 120);
    assert_int_equal(image.suffix, 'a');
    assert_int_equal(ingot_image_info(module, 3, &image), INGOT_OK);
    assert_int_equal(ingot_image_info(module, 4, &image), INGOT_INVALID);
    assert_int_equal(ingot_image_info(NULL, 0, &image), INGOT_INVALID);
    close_balanced(module);
}

static void does_not_load_what_was_removed(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample built, sample;
    struct ingot_module *module;

    (void)state;
    sample_make(&built, "cubin80 cubin90a ptx75");
    sample_change(&sample, "cubin80", &built);
    fake->sm[0] = 90;
    module = open_sample(&sample, 0);
    assert_int_equal(launch_vadd(module, NULL), INGOT_NO_IMAGE);
    assert_true(says(module, "the fatbin has cubin sm_80"));
    close_balanced(module);
}

static void an_image_that_changed_since_is_skipped(void **state)
{
    struct fake *fake = fake_fresh();
    struct sample built, sample;
    struct ingot_module *module;
    struct ingot_load load;

    (void)state;
    sample_make(&built, "ptx75");
    sample_change(&sample, "cubin90 ptx75", &built);
    fake->sm[0] = 90;
    module = open_sample(&sample, 0);
    sample.bytes[16 + 0x40 + 400] ^= 1;
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    assert_int_equal(ingot_report(module, &load), INGOT_OK);
    assert_int_equal(load.rung, INGOT_RUNG_PTX);
    close_balanced(module);
}

static void refuses_one_of_another_build(void **state)
{
    struct sample built, other, sample;

    (void)state;
    sample_make(&built, "cubin90a ptx75");
    sample_make(&other, "cubin90 ptx75");
    sample_change(&sample, "cubin90a cubin80 ptx75", &other);
    memcpy(sample.images, built.images, sizeof sample.images);
    sample.artifact = built.artifact;
    opens(&sample, INGOT_BAD_HASH, "of another build than the header");
}

static void refuses_any_flipped_bit(void **state)
{
    struct ingot_module *module;
    struct sample built, sample;
    size_t bit;

    (void)state;
    sample_make(&built, "ptx75");
    sample_change(&sample, "cubin90a ptx75", &built);
    for (bit = 0; bit < sample.size * 8; bit++) {
        sample.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_not_equal(ingot_open(&module, &sample.artifact, sample.bytes,
                                        sample.size, NULL),
                             INGOT_OK);
        ingot_close(module);
        sample.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}

static void refuses_every_shorter_length(void **state)
{
    struct ingot_module *module;
    struct sample built, sample;
    size_t size;

    (void)state;
    sample_make(&built, "ptx75");
    sample_change(&sample, "cubin90a ptx75", &built);
    for (size = 0; size < sample.size; size++) {
        assert_int_equal(
            ingot_open(&module, &sample.artifact, sample.bytes, size, NULL),
            INGOT_BAD_FATBIN);
        ingot_close(module);
    }
}

/* A container of no image, or whose entries are no entries, under a good stamp. */
static void refuses_containers_that_are_none(void **state)
{
    static const char *const faults[] = {"not a fatbin", "not a fatbin",
                                         "bytes follow", "not a fatbin"};
    struct sample built, sample;
    int i;

    (void)state;
    sample_make(&built, "ptx75");
    for (i = 0; i < 4; i++) {
        sample_change(&sample, i ? "cubin90a ptx75" : "", &built);
        if (i == 1)
            put(sample.bytes + 20, 0, 4);
        if (i == 2)
            put(sample.bytes + 16 + 0x40 + CUBIN_BYTES + 8, 1 << 20, 8);
        if (i == 3)
            put(sample.bytes + 24, UINT64_MAX - 7, 8);
        put(sample.bytes + sample.size - 8,
            ingot_hash(sample.bytes, sample.size - SAMPLE_STAMP), 8);
        opens(&sample, INGOT_BAD_FATBIN, faults[i]);
    }
}

/* Files that are longer and shorter than the header's table says. */
static void reads_files(void **state)
{
    static const char *const lists[] = {
        "ptx75", "cubin75 cubin80 cubin86 cubin90 cubin90a cubin100f ptx75"};
    struct sample built, sample;
    struct ingot_module *module;
    char path[] = "/tmp/ingot-test-XXXXXX";
    int file = mkstemp(path), i;

    (void)state;
    assert_true(file >= 0);
    close(file);
    sample_make(&built, "cubin90a ptx75");
    for (i = 0; i < 2; i++) {
        sample_change(&sample, lists[i], &built);
        FILE *to = fopen(path, "wb");
        assert_non_null(to);
        assert_int_equal(fwrite(sample.bytes, 1, sample.size, to), sample.size);
        fclose(to);
        assert_int_equal(ingot_open_file(&module, &sample.artifact, path, NULL),
                         INGOT_OK);
        ingot_close(module);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_what_was_added),
        cmocka_unit_test(does_not_load_what_was_removed),
        cmocka_unit_test(an_image_that_changed_since_is_skipped),
        cmocka_unit_test(refuses_one_of_another_build),
        cmocka_unit_test(refuses_any_flipped_bit),
        cmocka_unit_test(refuses_every_shorter_length),
        cmocka_unit_test(refuses_containers_that_are_none),
        cmocka_unit_test(reads_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
