/* The runtime when anything fails: each call of the driver with each of many
 * results, and each allocation.  Includes the runtime to count allocations. */

#include "tests/fake_driver/harness.h"

/* Allocations left before one fails; -1: none does. */
static int allocations_left = -1;

/* Is it this allocation's turn to fail? */
static bool fails_now(void)
{
    if (allocations_left < 0)
        return false;
    return allocations_left-- == 0;
}

static void *test_malloc_(size_t size)
{
    return fails_now() ? NULL : malloc(size);
}

static void *test_calloc_(size_t count, size_t size)
{
    return fails_now() ? NULL : calloc(count, size);
}

static void *test_realloc_(void *old, size_t size)
{
    return fails_now() ? NULL : realloc(old, size);
}

#undef fail
#undef malloc
#undef calloc
#undef realloc
#define malloc(size)        test_malloc_(size)
#define calloc(count, size) test_calloc_(count, size)
#define realloc(old, size)  test_realloc_(old, size)
#include "runtime/ingot.c"
#undef malloc
#undef calloc
#undef realloc

/* The last machine code that a module stored, which it finds again. */
static struct {
    unsigned char code[1024];
    size_t size;
} kept;

static const void *find_kept(void *user, const struct ingot_jit_key *key,
                             size_t *size)
{
    (void)user, (void)key;
    *size = kept.size;
    return kept.size ? kept.code : NULL;
}

static void release_kept(void *user, const void *code)
{
    (void)user, (void)code;
}

static void keep(void *user, const struct ingot_jit_key *key, const void *code,
                 size_t size)
{
    (void)user, (void)key;
    assert_true(size <= sizeof kept.code);
    memcpy(kept.code, code, size);
    kept.size = size;
}

/* Has the driver encode a tensor map. */
static enum ingot_status encode_any(struct ingot_module *module, void *stream)
{
    static const struct ingot_tensor tensor = {"A", 2, 4,
                                               0,   0, {8, 8, 0, 0, 0}};
    static const int64_t sizes[] = {64, 64}, strides[] = {1, 64};
    struct ingot_tensor_map map;

    return ingot_encode(module, stream, &tensor, (void *)0x100, sizes, strides,
                        &map);
}

/* Uses all of a module's functions, whatever they say; the first failure. */
static enum ingot_status use_all(struct ingot_module *module, void *stream)
{
    enum ingot_status first = ingot_preload(module), status;
    struct ingot_kernel information;
    struct ingot_load load;
    int available;

    status = launch_vadd(module, NULL);
    first = first ? first : status;
    status = launch_vadd(module, stream);
    first = first ? first : status;
    status = encode_any(module, stream);
    first = first ? first : status;
    ingot_resident(module, stream, 1);
    ingot_driver_function(module, "cuInit", 2000);
    status = ingot_available(module, 0, stream, &available);
    first = first ? first : status;
    status = ingot_report(module, &load);
    first = first ? first : status;
    status = ingot_entry_info(module, 0, &information);
    return first ? first : status;
}

/* Makes call `number` of `function` return `result` and uses everything, in
 * two contexts, the second of which finds what the first compiled; the kernel has
 * launch attributes or none.  True if there was such a call.  A failure is reported with a
 * text, and nothing is lost unless giving back is what failed. */
static bool survives(const char *function, int number, int result,
                     uint32_t attributes)
{
    static const struct ingot_jit_cache cache = {NULL, find_kept, release_kept,
                                                 keep};
    struct fake *fake = fake_fresh();
    struct sample sample;
    struct ingot_module *module;
    char text[INGOT_TEXT_SIZE];
    enum ingot_status status;
    void *stream;

    sample_make(&sample, "cubin90a ptx75");
    sample.entries[0].max_dynamic_shared = 100000;
    sample.entries[0].attributes = attributes;
    module = open_sample(&sample, 0);
    kept.size = 0;
    assert_int_equal(ingot_use_jit_cache(module, &cache), INGOT_OK);
    stream = fake_driver()->stream_create(fake_driver()->context_create(0));
    fake->rules[0] = (struct fake_rule){2, 90, 200};
    fake->fail_function = function;
    fake->fail_call = number;
    fake->fail_result = result;
    status = use_all(module, stream);
    ingot_error_text(module, text, sizeof text);
    if (status)
        assert_true(strlen(text) > strlen("sample: "));
    assert_string_not_equal(ingot_status_text(status), "unknown status");
    assert_int_equal(fake_driver()->depth() > 0, !strcmp(function, "never"));
    ingot_close(module);
    assert_int_equal(fake->live_links, 0);
    assert_int_equal(fake->malformed, 0);
    if (strcmp(function, "cuModuleUnload") && status != INGOT_POISONED)
        assert_int_equal(fake->live_modules, 0);
    if (strcmp(function, "cuDevicePrimaryCtxRelease_v2"))
        assert_int_equal(fake->retains, 0);
    return fake_driver()->calls(function) >= number;
}

static void every_call_with_every_result(void **state)
{
    static const int results[] = {
        1,   2,   3,   4,   34,  36,  46,  100, 101, 200, 201, 209, 214,
        218, 220, 221, 222, 223, 226, 300, 302, 400, 500, 600, 700, 701,
        709, 716, 719, 720, 721, 803, 804, 900, 906, 912, 913, 999, 12345};
#define ROW(name, version, needed, parameters) #name,
    static const char *const functions[] = {DRIVER(ROW)};
#undef ROW
    size_t f, r;
    uint32_t attributes;
    int number, cases = 0;

    (void)state;
    for (f = 0; f < sizeof functions / sizeof *functions; f++) {
        attributes = strcmp(functions[f], "cuLaunchKernelEx")
                         ? 0
                         : (uint32_t)INGOT_COOPERATIVE;
        for (r = 0; r < sizeof results / sizeof *results; r++)
            for (number = 1;
                 survives(functions[f], number, results[r], attributes);
                 number++)
                cases++;
    }
    print_message("%d single faults\n", cases);
    assert_true(cases > 3200);
}

static void every_allocation(void **state)
{
    struct ingot_module *module;
    struct sample sample;
    enum ingot_status status = INGOT_NO_MEMORY;
    char text[INGOT_TEXT_SIZE];
    int k;

    (void)state;
    for (k = 0; status; k++) {
        fake_fresh();
        sample_make(&sample, "cubin90a ptx75");
        allocations_left = k;
        status = ingot_open(&module, &sample.artifact, sample.bytes,
                            sample.size, NULL);
        if (!status) {
            module->options.driver = fake_path();
            status = ingot_preload(module);
        }
        assert_true(!status || status == INGOT_NO_MEMORY);
        ingot_error_text(module, text, sizeof text);
        assert_int_equal(*text != '\0', status != INGOT_OK);
        if (module) {
            allocations_left = -1;
            assert_int_equal(ingot_preload(module), INGOT_OK);
        }
        close_balanced(module);
    }
    assert_int_equal(k, 4);
    allocations_left = -1;
}

/* Opening a fatbin with other images allocates the module and, for each image,
 * their table. */
static void every_allocation_of_a_changed_fatbin(void **state)
{
    struct ingot_module *module;
    struct sample built, sample;
    enum ingot_status status = INGOT_NO_MEMORY;
    int k;

    (void)state;
    sample_make(&built, "ptx75");
    sample_change(&sample, "cubin90a ptx75", &built);
    for (k = 0; status; k++) {
        allocations_left = k;
        status = ingot_open(&module, &sample.artifact, sample.bytes,
                            sample.size, NULL);
        assert_true(!status || status == INGOT_NO_MEMORY);
        assert_true(!status || says(module, module ? "no room" : "host mem"));
        ingot_close(module);
    }
    assert_int_equal(k, 4);
    allocations_left = -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_with_every_result),
        cmocka_unit_test(every_allocation),
        cmocka_unit_test(every_allocation_of_a_changed_fatbin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
