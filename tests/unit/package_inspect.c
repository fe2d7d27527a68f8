// Tests of package.c, manifest.c and inspect.c: what goes into a package can
// be read out of it, and what is missing is noticed.

#include "nvptx/package/inspect.h"
#include "tests/unit/support/package_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const two_kernels[] = {fixture_vadd, fixture_softmax};
static const char *const text_only[] = {"compute_75"};

// A package of two kernels and the files that it became.
struct made {
    struct fixture fixture;
    struct package package;
    struct package_files files;
};

// Make one; the test is skipped without ptxas.
static void make(struct made *m, const char *const *targets, size_t n)
{
    fixture_start(&m->fixture);
    m->package = fixture_package(&m->fixture, "demo", two_kernels, 2);
    m->package.ptxas_version = "13.0.88";
    if (!fixture_images(&m->fixture, &m->package, targets, n)) {
        fixture_end(&m->fixture);
        skip();
    }
    assert_true(package_make(&m->fixture.arena, &m->package, &m->fixture.diags,
                             &m->files));
}

// Release one.
static void end(struct made *m)
{
    package_free(&m->files);
    fixture_end(&m->fixture);
}

// Read the files of a package; `manifest` may be NULL.
static bool inspect(struct made *m, const char *manifest,
                    struct inspection *out)
{
    struct inspect_file fatbin = {"demo.fatbin", m->files.fatbin.data,
                                  m->files.fatbin.n};
    struct inspect_file json = {"demo.json", manifest,
                                manifest ? strlen(manifest) : 0};
    return inspect_read(&m->fixture.arena, &fatbin, manifest ? &json : NULL,
                        &m->fixture.diags, out);
}

static void lists_kernels(void **state)
{
    static const char *const targets[] = {"sm_80", "sm_90a", "compute_75"};
    (void)state;
    struct made m;
    struct inspection seen;
    make(&m, targets, 3);
    assert_true(inspect(&m, NULL, &seen));
    assert_int_equal(seen.fatbin.images.n, 3);
    const struct kernel_usage *u = usage_find(&seen.usage[1], "softmax_1");
    assert_non_null(u);
    assert_true(u->registers > 0);
    assert_int_equal(u->parameter_bytes, 48);
    assert_int_equal(u->spill_stores, -1);
    u = usage_find(&seen.usage[2], "softmax_1");
    assert_non_null(u);
    assert_int_equal(u->registers, -1);
    end(&m);
}

static void learns_spills_from_the_manifest(void **state)
{
    static const char *const targets[] = {"sm_80", "compute_75"};
    (void)state;
    struct made m;
    struct inspection seen;
    make(&m, targets, 2);
    assert_true(inspect(&m, m.files.manifest.data, &seen));
    const struct kernel_usage *u = usage_find(&seen.usage[0], "vadd");
    assert_non_null(u);
    assert_int_equal(u->spill_stores, 0);
    assert_int_equal(u->spill_loads, 0);
    end(&m);
}

static void refuses_wrong_manifests(void **state)
{
    static const char *const manifests[] = {
        "", "[1, 2", "{}", "{\"format\": 1}",
        "{\"format\": 1, \"fatbin\": {\"hash\": \"0000000000000000\"}}"};
    static const char *const messages[] = {
        "`demo.json` is not the manifest of this fatbin: line 1: '[' or '{' "
        "expected near end of file",
        "`demo.json` is not the manifest of this fatbin: line 1: ']' expected "
        "near end of file",
        "`demo.json` is not the manifest of this fatbin: it is of an unknown "
        "format",
        "`demo.json` is not the manifest of this fatbin: it describes another "
        "fatbin",
        "`demo.json` is not the manifest of this fatbin: it describes another "
        "fatbin"};
    (void)state;
    struct made m;
    struct inspection seen;
    make(&m, text_only, 1);
    for (int i = 0; i < 5; i++) {
        assert_false(inspect(&m, manifests[i], &seen));
        assert_string_equal(fixture_message(&m.fixture), messages[i]);
    }
    assert_int_equal(m.fixture.diags.all.at[0].code, D_bad_manifest);
    end(&m);
}

static void refuses_what_is_no_fatbin(void **state)
{
    (void)state;
    struct fixture f;
    struct inspection seen;
    struct inspect_file file = {"x.fatbin", "hello, world, hello", 19};
    fixture_start(&f);
    assert_false(inspect_read(&f.arena, &file, NULL, &f.diags, &seen));
    assert_int_equal(f.diags.all.at[0].code, D_not_a_fatbin);
    assert_string_equal(fixture_message(&f),
                        "`x.fatbin` cannot be read as a fatbin: it is no "
                        "fatbin, at byte 0");
    fixture_end(&f);
}

// Every part that a program would look for.
static void manifest_says_what_is_in_it(void **state)
{
    static const char *const parts[] = {
        "\"name\": \"demo\"",        "\"source\": \"sample.ing\"",
        "\"ptxas\": \"13.0.88\"",    "\"llvm\": null",
        "\"file\": \"demo.fatbin\"", "\"target\": \"compute_75\"",
        "\"name\": \"softmax_1\"",   "\"registers\": null",
        "\"type\": \"f32\"",         "\"role\": \"workspace\"",
        "\"entry\": \"softmax_1\"",  "\"ceildiv(n, 32)\"",
        "\"in_every_image\": true",
    };
    (void)state;
    struct made m;
    make(&m, text_only, 1);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_non_null(strstr(m.files.manifest.data, parts[i]));
    end(&m);
}

// Make a package of which an image is changed first, and check the error.
static void
refuses_image(void (*change)(struct fixture *f, struct package_image *image),
              const char *target, enum diag_code code, const char *message)
{
    struct fixture f;
    struct package_files files;
    fixture_start(&f);
    struct package p = fixture_package(&f, "demo", two_kernels, 2);
    if (!fixture_images(&f, &p, &target, 1)) {
        fixture_end(&f);
        skip();
    }
    change(&f, (struct package_image *)p.images);
    assert_false(package_make(&f.arena, &p, &f.diags, &files));
    assert_int_equal(f.diags.all.at[0].code, code);
    assert_string_equal(fixture_message(&f), message);
    fixture_end(&f);
}

// Replace a kernel's name in PTX.
static void rename_kernel(struct fixture *f, struct package_image *image)
{
    char *text = arena_copy(&f->arena, image->bytes, image->size);
    memcpy(strstr(text, ".entry softmax_1"), ".entry softmin_1", 16);
    image->bytes = text;
}

// Cut an image.
static void cut_image(struct fixture *f, struct package_image *image)
{
    (void)f;
    image->size /= 2;
}

// Say that an image is for another architecture.
static void relabel_image(struct fixture *f, struct package_image *image)
{
    (void)f;
    image->sm = 86;
}

// Take the code of a kernel with other parameters for it.
static void change_parameters(struct fixture *f, struct package_image *image)
{
    static const char *const other[] = {
        "kernel vadd(n: int, A: f32[n]) -> C: f32[n]\n    level flat\n{\n"
        "    launch vadd grid(n, 1, 1) block(1, 1, 1) {\n    }\n}\n",
        fixture_softmax};
    static const char *const target[] = {"sm_80"};
    struct package p = fixture_package(f, "other", other, 2);
    fixture_images(f, &p, target, 1);
    *image = p.images[0];
}

static void notices_a_missing_kernel(void **state)
{
    (void)state;
    refuses_image(rename_kernel, "compute_75", D_fatbin_lacks_kernel,
                  "kernel `softmax_1` is not in the image for compute_75");
}

static void notices_damaged_images(void **state)
{
    (void)state;
    refuses_image(cut_image, "sm_80", D_fatbin_malformed,
                  "the fatbin does not read back: a cubin is malformed, at "
                  "byte 16");
}

static void notices_wrong_labels(void **state)
{
    (void)state;
    refuses_image(relabel_image, "sm_80", D_fatbin_malformed,
                  "the fatbin does not read back: a cubin is for another "
                  "architecture than its entry says, at byte 16");
}

static void notices_other_parameters(void **state)
{
    (void)state;
    refuses_image(change_parameters, "sm_80", D_parameters_differ,
                  "kernel `vadd` for sm_80 takes 24 bytes of parameters "
                  "instead of 32");
}

// Make a package with a script in the place of fatbinary.
static void refuses_packer(const char *format, enum diag_code code,
                           const char *message)
{
    struct fixture f;
    struct package_files files;
    fixture_start(&f);
    struct package p = fixture_package(&f, "demo", two_kernels, 2);
    fixture_images(&f, &p, text_only, 1);
    const char *tool = fixture_tool(&f, "fatbinary");
    struct buf script = {0};
    for (; *format; format++)
        if (*format == '@')
            buf_text(&script, tool ? tool : "");
        else
            buf_char(&script, *format);
    p.fatbinary = fixture_script(&f, script.data);
    buf_free(&script);
    if (!tool) {
        fixture_end(&f);
        skip();
    }
    assert_int_equal(package_make(&f.arena, &p, &f.diags, &files), !message);
    if (message) {
        assert_int_equal(f.diags.all.at[0].code, code);
        assert_non_null(strstr(fixture_message(&f), message));
    }
    package_free(&files);
    fixture_end(&f);
}

static void checks_what_fatbinary_packs(void **state)
{
    (void)state;
    refuses_packer("exec @ --compress=false --create=/dev/stdout -64 "
                   "--image3=kind=ptx,sm=75,file=/dev/fd/3",
                   D_tool_failed, NULL);
    refuses_packer("exit 0", D_fatbin_malformed,
                   "the fatbin does not read back: it is no fatbin, at byte 0");
    refuses_packer("exec @ --compress=false --create=/dev/stdout -64 "
                   "--image3=kind=ptx,sm=80,file=/dev/fd/3",
                   D_fatbin_lacks_image,
                   "the fatbin has no image for compute_75");
    refuses_packer("exec @ --compress=false --create=/dev/stdout -64 "
                   "--image3=kind=ptx,sm=75,file=/dev/fd/3 "
                   "--image3=kind=ptx,sm=80,file=/dev/fd/3",
                   D_fatbin_malformed,
                   "the fatbin does not read back: it holds an image that was "
                   "not put in, at byte");
    refuses_packer("exec @ --compress-all --create=/dev/stdout -64 "
                   "--image3=kind=ptx,sm=75,file=/dev/fd/3",
                   D_fatbin_malformed,
                   "the fatbin does not read back: an image is compressed, at "
                   "byte 16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_kernels),
        cmocka_unit_test(learns_spills_from_the_manifest),
        cmocka_unit_test(refuses_wrong_manifests),
        cmocka_unit_test(refuses_what_is_no_fatbin),
        cmocka_unit_test(manifest_says_what_is_in_it),
        cmocka_unit_test(notices_a_missing_kernel),
        cmocka_unit_test(notices_damaged_images),
        cmocka_unit_test(notices_wrong_labels),
        cmocka_unit_test(notices_other_parameters),
        cmocka_unit_test(checks_what_fatbinary_packs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
