/* The runtime's strict reader: what is taken, what is refused and why. */

#include "tests/fake_driver/harness.h"

#include <unistd.h>

/* Opens the sample and checks for `status` and a text with `part`. */
static void refuses(const struct sample *sample, enum ingot_status status,
                    const char *part)
{
    struct ingot_module *module;

    assert_int_equal(ingot_open(&module, &sample->artifact, sample->bytes,
                                sample->size, NULL),
                     status);
    assert_true(says(module, part));
    assert_int_equal(ingot_preload(module), status);
    assert_int_equal(launch_vadd(module, NULL), status);
    ingot_close(module);
}

/* One change of a good fatbin of a cubin, at 16, and PTX. */
struct damage {
    size_t at;         /* of the bytes changed */
    uint64_t value;    /* written there ... */
    size_t count;      /* ... in so many bytes */
    const char *fault; /* part of the text */
};

static void takes_good_fatbins(void **state)
{
    static const char *const lists[] = {
        "cubin90a", "cubin90 ptx75", "ptx75", "ptx90a ptx75",
        "cubin75 cubin80 cubin86 cubin90 cubin90a cubin100f cubin120 ptx75"};
    struct ingot_module *module;
    struct sample sample;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof lists / sizeof *lists; i++) {
        sample_make(&sample, lists[i]);
        assert_int_equal(ingot_open(&module, &sample.artifact, sample.bytes,
                                    sample.size, NULL),
                         INGOT_OK);
        assert_true(says(module, ""));
        ingot_close(module);
    }
}

static void refuses_each_damage(void **state)
{
    enum { CUBIN = 16 + 0x40, PTX = CUBIN + CUBIN_BYTES };
    static const struct damage damages[] = {
        {0, 0x1ee55a01, 4, "not a fatbin"},
        {0, 0x466243b1, 4, "not a fatbin"},
        {4, 0, 2, "not a fatbin"},
        {4, 2, 2, "not a fatbin"},
        {6, 0, 2, "not a fatbin"},
        {6, 8, 2, "not a fatbin"},
        {6, 24, 2, "not a fatbin"},
        {8, 0, 8, "not a fatbin"},
        {8, 8, 8, "not a fatbin"},
        {8, UINT64_C(1) << 40, 8, "not a fatbin"},
        {16, 0, 2, "not the one"},
        {16, 1, 2, "not the one"},
        {16, 8, 2, "not the one"},
        {18, 0x102, 2, "header is malformed"},
        {20, 0, 4, "header is malformed"},
        {20, 0x38, 4, "header is malformed"},
        {20, 0x41, 4, "header is malformed"},
        {20, 0x48, 4, "not the one"},
        {20, 0x10000, 4, "header is malformed"},
        {20, UINT32_MAX, 4, "header is malformed"},
        {24, 0, 8, "cut off"},
        {24, 7, 8, "cut off"},
        {24, 8, 8, "not the one"},
        {24, CUBIN_BYTES + 8, 8, "not the one"},
        {24, UINT64_C(1) << 40, 8, "cut off"},
        {24, UINT64_MAX - 7, 8, "cut off"},
        {32, 16, 4, "payload is malformed"},
        {36, 0x41, 4, "header is malformed"},
        {44, 1000, 4, "not the one"},
        {44, 80, 4, "not the one"},
        {48, UINT32_MAX, 4, "header is malformed"},
        {52, 1, 4, "header is malformed"},
        {56, 0x10, 8, "unknown flags"},
        {56, 0x300011, 8, "unknown flags"},
        {56, 0x2011, 8, "unknown flags"},
        {56, 0x400011, 8, "unknown flags"},
        {56, 0x108011, 8, "payload is malformed"},
        {56, 0x11, 8, "not the one"},
        {56, 0x200011, 8, "not the one"},
        {72, 16, 8, "payload is malformed"},
        {CUBIN, 0, 4, "payload is malformed"},
        {CUBIN + 4, 1, 1, "payload is malformed"},
        {CUBIN + 5, 2, 1, "payload is malformed"},
        {CUBIN + 18, 62, 2, "payload is malformed"},
        {CUBIN + 32, CUBIN_BYTES - 40, 8, "payload is malformed"},
        {CUBIN + 32, UINT64_MAX - 8, 8, "payload is malformed"},
        {CUBIN + 40, CUBIN_BYTES - 128, 8, "payload is malformed"},
        {CUBIN + 40, UINT64_MAX - 64, 8, "payload is malformed"},
        {CUBIN + 54, 32, 2, "payload is malformed"},
        {CUBIN + 56, UINT16_MAX, 2, "payload is malformed"},
        {CUBIN + 58, 40, 2, "payload is malformed"},
        {CUBIN + 60, 0, 2, "payload is malformed"},
        {CUBIN + 60, UINT16_MAX, 2, "payload is malformed"},
        {CUBIN + 62, 3, 2, "payload is malformed"},
        {CUBIN + 64 + 32, CUBIN_BYTES, 8, "payload is malformed"},
        {CUBIN + 192 + 24, UINT64_MAX, 8, "payload is malformed"},
        {CUBIN + 192 + 32, INT32_MAX, 8, "payload is malformed"},
        {PTX, 2, 2, "not the one"},
        {PTX + 8, 0, 8, "cut off"},
        {PTX + 0x50, 0, 1, "payload is malformed"},
        {PTX + 0x50 + 71, 'x', 1, "payload is malformed"}};
    struct sample sample;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof damages / sizeof *damages; i++) {
        sample_make(&sample, "cubin90a ptx75");
        put(sample.bytes + damages[i].at, damages[i].value, damages[i].count);
        sample_seal(&sample);
        refuses(&sample, INGOT_BAD_FATBIN, damages[i].fault);
    }
}

static void refuses_every_shorter_length(void **state)
{
    struct sample sample;
    size_t whole, size;

    (void)state;
    sample_make(&sample, "cubin90a ptx75");
    whole = sample.size;
    for (size = 0; size < whole; size++) {
        sample.size = size;
        refuses(&sample, INGOT_BAD_FATBIN, "wrong size");
        sample.artifact.fatbin_size = size;
        sample.artifact.fatbin_hash = ingot_hash(sample.bytes, size);
        refuses(&sample, INGOT_BAD_FATBIN, "not a fatbin");
        if (size >= 16) {
            put(sample.bytes + 8, size - 16, 8);
            sample.artifact.fatbin_hash = ingot_hash(sample.bytes, size);
            refuses(&sample, INGOT_BAD_FATBIN, "cut off");
        }
        sample.artifact.fatbin_size = whole;
    }
}

static void refuses_a_tail_filled_with_zeros(void **state)
{
    struct sample sample;
    size_t at;

    (void)state;
    for (at = 16; at < 16 + 0x40; at += 8) {
        sample_make(&sample, "cubin90a ptx75");
        memset(sample.bytes + at, 0, sample.size - at);
        sample_seal(&sample);
        refuses(&sample, INGOT_BAD_FATBIN, "");
    }
}

static void refuses_bytes_behind_the_last_entry(void **state)
{
    struct sample sample;
    size_t extra;

    (void)state;
    for (extra = 1; extra <= 128; extra++) {
        sample_make(&sample, "cubin90a ptx75");
        sample.size += extra;
        sample_seal(&sample);
        refuses(&sample, INGOT_BAD_FATBIN, "not a fatbin");
        sample_close(&sample);
        refuses(&sample, INGOT_BAD_FATBIN, "bytes follow");
    }
}

static void refuses_a_table_with_fewer_images(void **state)
{
    struct sample sample;

    (void)state;
    sample_make(&sample, "cubin90a ptx75");
    sample.artifact.image_count = 1;
    refuses(&sample, INGOT_BAD_FATBIN, "bytes follow");
    sample.artifact.image_count = 3;
    refuses(&sample, INGOT_BAD_FATBIN, "entry is cut off");
}

static void refuses_any_flipped_bit(void **state)
{
    struct ingot_module *module;
    struct sample sample;
    size_t bit;

    (void)state;
    sample_make(&sample, "cubin90a ptx75");
    for (bit = 0; bit < sample.size * 8; bit++) {
        sample.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_not_equal(ingot_open(&module, &sample.artifact, sample.bytes,
                                        sample.size, NULL),
                             INGOT_OK);
        ingot_close(module);
        sample.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}

static void names_a_fatbin_of_another_build(void **state)
{
    struct sample sample;

    (void)state;
    sample_make(&sample, "cubin90a ptx75");
    sample.bytes[16 + 0x40 + 400] ^= 1;
    refuses(&sample, INGOT_BAD_HASH, "sample: damaged, or of another build");
}

static void takes_zstd_and_refuses_odd_frames(void **state)
{
    unsigned char *payload, *entry;
    struct ingot_module *module;
    struct sample sample;

    (void)state;
    sample_make(&sample, "");
    payload = sample_append(&sample, INGOT_CUBIN, 90, 'a', 64);
    entry = payload - 0x40;
    put(payload, 0xfd2fb528, 4);
    put(entry + 16, 61, 4);
    put(entry + 40, 0x108011, 8);
    put(entry + 56, 4096, 8);
    sample_close(&sample);
    assert_int_equal(
        ingot_open(&module, &sample.artifact, sample.bytes, sample.size, NULL),
        INGOT_OK);
    ingot_close(module);
    put(entry + 16, 56, 4);
    sample_seal(&sample);
    refuses(&sample, INGOT_BAD_FATBIN, "payload is malformed");
    put(entry + 16, 65, 4);
    sample_seal(&sample);
    refuses(&sample, INGOT_BAD_FATBIN, "payload is malformed");
    put(entry + 16, 61, 4);
    put(entry + 56, UINT64_C(1) << 63, 8);
    sample_seal(&sample);
    refuses(&sample, INGOT_BAD_FATBIN, "payload is malformed");
}

static void refuses_headers_that_are_unusable(void **state)
{
    struct ingot_module *module;
    struct sample sample;

    (void)state;
    sample_make(&sample, "ptx75");
    assert_int_equal(ingot_open(&module, NULL, sample.bytes, sample.size, NULL),
                     INGOT_BAD_ARTIFACT);
    ingot_close(module);
    assert_int_equal(
        ingot_open(&module, &sample.artifact, NULL, sample.size, NULL),
        INGOT_BAD_FATBIN);
    ingot_close(module);
    sample.artifact.abi++;
    refuses(&sample, INGOT_BAD_ARTIFACT, "another version");
    sample_make(&sample, "ptx75");
    sample.artifact.entry_count = 0;
    refuses(&sample, INGOT_BAD_ARTIFACT, "table is missing");
    sample_make(&sample, "ptx75");
    sample.entries[0].param_sizes = NULL;
    refuses(&sample, INGOT_BAD_ARTIFACT, "table is missing");
}

/* Writes the first `size` bytes of `sample` to a new file. */
static void write_file(const struct sample *sample, size_t size, char path[32])
{
    int file;

    strcpy(path, "/tmp/ingot-test-XXXXXX");
    file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, sample->bytes, size), size);
    close(file);
}

/* Opens the file `path` and checks for `status` and a text with `part`. */
static void opens_file(const struct sample *sample, const char *path,
                       enum ingot_status status, const char *part)
{
    struct ingot_module *module;

    assert_int_equal(ingot_open_file(&module, &sample->artifact, path, NULL),
                     status);
    assert_true(says(module, part));
    ingot_close(module);
}

static void reads_files(void **state)
{
#ifdef _WIN32
    const char *why = "Permission denied";
#else
    const char *why = "directory";
#endif
    struct sample sample;
    char path[32];

    (void)state;
    sample_make(&sample, "cubin90a ptx75");
    write_file(&sample, sample.size, path);
    opens_file(&sample, path, INGOT_OK, "");
    unlink(path);
    opens_file(&sample, path, INGOT_FILE, "No such file");
    opens_file(&sample, NULL, INGOT_FILE, "");
    opens_file(&sample, "/", INGOT_FILE, why);
    write_file(&sample, sample.size - 1, path);
    opens_file(&sample, path, INGOT_BAD_FATBIN, "wrong size");
    unlink(path);
    write_file(&sample, sample.size + 100, path);
    opens_file(&sample, path, INGOT_BAD_FATBIN, "wrong size");
    unlink(path);
}

static void a_huge_size_in_the_header_is_no_harm(void **state)
{
    struct sample sample;
    char path[32];

    (void)state;
    sample_make(&sample, "cubin90a ptx75");
    write_file(&sample, sample.size, path);
    sample.artifact.fatbin_size = UINT64_MAX;
    opens_file(&sample, path, INGOT_BAD_FATBIN, "wrong size");
    unlink(path);
}

static void hash_is_as_documented(void **state)
{
    static const unsigned char text[] = "0123456789abcdef";
    unsigned char buffer[64];
    size_t offset;

    (void)state;
    assert_true(ingot_hash("", 0) == 0);
    assert_true(ingot_hash("abc", 3) == 0x9cc9c33498a95efb);
    assert_true(ingot_hash(text, 16) == 0x93a92d1a91a24bc7);
    for (offset = 0; offset < 16; offset++) {
        memcpy(buffer + offset, text, 16);
        assert_true(ingot_hash(buffer + offset, 16) == 0x93a92d1a91a24bc7);
    }
}

static void every_status_has_a_text(void **state)
{
    int status;

    (void)state;
    for (status = INGOT_OK; status <= INGOT_BAD_ARRAY; status++)
        assert_string_not_equal(ingot_status_text((enum ingot_status)status),
                                "unknown status");
    assert_string_equal(ingot_status_text(INGOT_OK), "success");
    assert_string_equal(ingot_status_text(INGOT_DRIVER),
                        "a driver call failed");
    assert_string_equal(ingot_status_text((enum ingot_status)status),
                        "unknown status");
    assert_string_equal(ingot_status_text((enum ingot_status) - 1),
                        "unknown status");
}

static void null_modules_are_refused(void **state)
{
    struct ingot_kernel kernel;
    struct ingot_load load;
    char text[16];
    int available;

    (void)state;
    ingot_close(NULL);
    assert_int_equal(ingot_preload(NULL), INGOT_INVALID);
    assert_int_equal(launch_vadd(NULL, NULL), INGOT_INVALID);
    assert_int_equal(ingot_available(NULL, 0, NULL, &available), INGOT_INVALID);
    assert_int_equal(ingot_report(NULL, &load), INGOT_INVALID);
    assert_int_equal(ingot_entry_info(NULL, 0, &kernel), INGOT_INVALID);
    assert_int_equal(ingot_reject(NULL, INGOT_BAD_SIZE, "k", "n > 0"),
                     INGOT_BAD_SIZE);
    assert_string_equal(ingot_error_text(NULL, text, sizeof text),
                        "out of host mem");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_good_fatbins),
        cmocka_unit_test(refuses_each_damage),
        cmocka_unit_test(refuses_every_shorter_length),
        cmocka_unit_test(refuses_a_tail_filled_with_zeros),
        cmocka_unit_test(refuses_bytes_behind_the_last_entry),
        cmocka_unit_test(refuses_a_table_with_fewer_images),
        cmocka_unit_test(refuses_any_flipped_bit),
        cmocka_unit_test(names_a_fatbin_of_another_build),
        cmocka_unit_test(takes_zstd_and_refuses_odd_frames),
        cmocka_unit_test(refuses_headers_that_are_unusable),
        cmocka_unit_test(reads_files),
        cmocka_unit_test(a_huge_size_in_the_header_is_no_harm),
        cmocka_unit_test(hash_is_as_documented),
        cmocka_unit_test(every_status_has_a_text),
        cmocka_unit_test(null_modules_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
