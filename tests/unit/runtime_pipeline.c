/* Chunks through lanes (ingot_pipeline.h), on a driver that does what is queued
 * as late as it may: the order of calls, what is waited for, and what becomes of
 * a failure of each call. */

#include "runtime/ingot_copiers.h"
#include "runtime/ingot_pipeline.h"
#include "tests/fake_driver/harness.h"

enum { ELEMENTS = 1000 };

/* What a test has: a loaded module, and arrays of the host. */
struct fixture {
    struct sample sample;
    struct ingot_module *module;
    int32_t a[ELEMENTS], b[ELEMENTS], c[ELEMENTS];
    int64_t fail_at; /* the chunk whose compute is to fail, from 1; 0: none */
};

/* The kernel, as the GPU would run it: C = A + B. */
static void add_on_gpu(void *const *params)
{
    int32_t *array[3], count, i;

    for (i = 0; i < 3; i++)
        memcpy(&array[i], params[i], sizeof array[i]);
    memcpy(&count, params[3], sizeof count);
    for (i = 0; i < count; i++)
        array[2][i] = array[0][i] + array[1][i];
}

/* Launches it for a chunk. */
static enum ingot_status add(void *context, CUstream stream, int64_t first,
                             int64_t count, void *const *arrays)
{
    static const uint64_t grid[] = {1, 1, 1};
    static const uint32_t block[] = {128, 1, 1};
    struct fixture *fixture = context;
    void *address[3] = {arrays[0], arrays[1], arrays[2]};
    int32_t size = (int32_t)count;
    void *params[] = {&address[0], &address[1], &address[2], &size};

    if (fixture->fail_at && first / 300 == fixture->fail_at - 1)
        return INGOT_BAD_SIZE;
    return ingot_launch(fixture->module, 0, stream, grid, block, 0, params);
}

/* A pipeline of chunks of 300, all alike: A and B in, C out. */
static struct ingot_pipeline pipeline_of(uint32_t lanes)
{
    struct ingot_pipeline p;

    memset(&p, 0, sizeof p);
    p.driver = fake_path();
    p.chunk = p.least = 300;
    p.lane_count = lanes;
    p.array_count = 3;
    p.copiers = 2;
    p.arrays[0].flow = p.arrays[1].flow = INGOT_PIPELINE_IN;
    p.arrays[2].flow = INGOT_PIPELINE_OUT;
    p.arrays[0].bytes = p.arrays[1].bytes = p.arrays[2].bytes = 4;
    return p;
}

/* Loads the kernel in a new context, and fills the arrays. */
static void prepare(struct fixture *fixture)
{
    int32_t i;

    memset(fixture, 0, sizeof *fixture);
    fake_fresh()->kernels[0].run = add_on_gpu;
    sample_make(&fixture->sample, "cubin90a");
    fixture->module = open_sample(&fixture->sample, 0);
    fake_driver()->context_push(fake_driver()->context_create(0));
    assert_int_equal(ingot_preload(fixture->module), INGOT_OK);
    for (i = 0; i < ELEMENTS; i++) {
        fixture->a[i] = i;
        fixture->b[i] = 7 * i;
    }
}

/* Runs `count` elements of the fixture's arrays. */
static enum ingot_status run(struct fixture *fixture, struct ingot_pipeline *p,
                             int64_t count)
{
    void *host[] = {fixture->a, fixture->b, fixture->c};

    return ingot_pipeline_run(p, count, host, add, fixture);
}

/* How many of the first `count` sums are wrong, or there behind them. */
static int wrong_sums(const struct fixture *fixture, int32_t count)
{
    int wrong = 0;
    int32_t i;

    for (i = 0; i < ELEMENTS; i++)
        wrong += fixture->c[i] != (i < count ? 8 * i : 0);
    return wrong;
}

static void all_elements_come_back(void **state)
{
    static const int32_t counts[] = {0, 1, 299, 300, 301, 900, 1000};
    struct fixture fixture;
    struct ingot_pipeline p;
    uint32_t lanes, i;

    (void)state;
    for (lanes = 1; lanes <= INGOT_PIPELINE_LANES; lanes++)
        for (i = 0; i < sizeof counts / sizeof *counts; i++) {
            prepare(&fixture);
            p = pipeline_of(lanes);
            assert_int_equal(ingot_pipeline_create(&p), INGOT_OK);
            assert_int_equal(run(&fixture, &p, counts[i]), INGOT_OK);
            assert_int_equal(wrong_sums(&fixture, counts[i]), 0);
            assert_string_equal(p.text, "");
            ingot_pipeline_destroy(&p);
            close_balanced(fixture.module);
        }
}

static void a_stage_is_filled_again_when_its_chunk_has_ended(void **state)
{
    struct fixture fixture;
    struct ingot_pipeline p = pipeline_of(2);

    (void)state;
    prepare(&fixture);
    assert_int_equal(ingot_pipeline_create(&p), INGOT_OK);
    assert_int_equal(run(&fixture, &p, 1000), INGOT_OK);
    assert_string_equal(fake_driver()->operations(),
                        "in0:1200 in0:1200 mark0 after2 run2 "
                        "mark2 after1 out1:1200 mark1 "
                        "in0:1200 in0:1200 mark0 after3 run3 "
                        "mark3 after1 out1:1200 mark1 "
                        "wait1 after0 in0:1200 in0:1200 mark0 after2 run2 "
                        "mark2 after1 out1:1200 mark1 "
                        "wait1 after0 in0:400 in0:400 mark0 after3 run3 "
                        "mark3 after1 out1:400 mark1 "
                        "wait1 wait1 ");
    ingot_pipeline_destroy(&p);
    close_balanced(fixture.module);
}

static void a_pipeline_runs_again(void **state)
{
    struct fixture fixture;
    struct ingot_pipeline p = pipeline_of(3);

    (void)state;
    prepare(&fixture);
    assert_int_equal(ingot_pipeline_create(&p), INGOT_OK);
    assert_int_equal(run(&fixture, &p, 700), INGOT_OK);
    assert_int_equal(wrong_sums(&fixture, 700), 0);
    assert_int_equal(run(&fixture, &p, 1000), INGOT_OK);
    assert_int_equal(wrong_sums(&fixture, 1000), 0);
    ingot_pipeline_destroy(&p);
    ingot_pipeline_destroy(&p);
    close_balanced(fixture.module);
}

static void pinned_arrays_are_copied_straight_and_waited_for_once(void **state)
{
    struct fixture fixture;
    struct ingot_pipeline p = pipeline_of(2);
    void *host[3];
    int i;

    (void)state;
    prepare(&fixture);
    for (i = 0; i < 3; i++) {
        p.arrays[i].flow |= INGOT_PIPELINE_PINNED;
        fake_driver()->host_alloc(&host[i], sizeof fixture.a, 0);
    }
    memcpy(host[0], fixture.a, sizeof fixture.a);
    memcpy(host[1], fixture.b, sizeof fixture.b);
    assert_int_equal(ingot_pipeline_create(&p), INGOT_OK);
    assert_false(p.lanes[1].stage[2]);
    assert_int_equal(ingot_pipeline_run(&p, 700, host, add, &fixture),
                     INGOT_OK);
    assert_string_equal(fake_driver()->operations(),
                        "in0:1200 in0:1200 mark0 after2 run2 "
                        "mark2 after1 out1:1200 mark1 "
                        "in0:1200 in0:1200 mark0 after3 run3 "
                        "mark3 after1 out1:1200 mark1 "
                        "after0 in0:400 in0:400 mark0 after2 run2 "
                        "mark2 after1 out1:400 mark1 "
                        "wait1 wait1 ");
    assert_null(p.team);
    memcpy(fixture.c, host[2], 700 * sizeof *fixture.c);
    assert_int_equal(wrong_sums(&fixture, 700), 0);
    ingot_pipeline_destroy(&p);
    for (i = 0; i < 3; i++)
        fake_driver()->host_free(host[i]);
    close_balanced(fixture.module);
}

static void an_array_may_go_both_ways(void **state)
{
    struct fixture fixture;
    struct ingot_pipeline p = pipeline_of(2);
    int32_t i;

    (void)state;
    prepare(&fixture);
    p.arrays[1].flow = INGOT_PIPELINE_IN | INGOT_PIPELINE_OUT;
    assert_int_equal(ingot_pipeline_create(&p), INGOT_OK);
    assert_int_equal(run(&fixture, &p, 1000), INGOT_OK);
    assert_int_equal(wrong_sums(&fixture, 1000), 0);
    for (i = 0; i < ELEMENTS; i++)
        assert_int_equal(fixture.b[i], 7 * i);
    ingot_pipeline_destroy(&p);
    close_balanced(fixture.module);
}

/* The first words of what was queued for the elements that come in: their bytes. */
static const char *bytes_in(void)
{
    static char text[512];
    const char *at = fake_driver()->operations();
    size_t length = 0;
    int which = 0, bytes;

    for (*text = '\0'; (at = strstr(at, "in0:")); at += 4)
        if (++which % 2 && sscanf(at + 4, "%d", &bytes) == 1)
            length += (size_t)snprintf(text + length, sizeof text - length,
                                       "%d ", bytes / 4);
    return text;
}

static void chunks_grow_and_shrink(void **state)
{
    static const struct {
        int64_t chunk, least;
        int32_t count;
        const char *chunks;
    } cases[] = {{160, 0, 1000, "10 20 40 80 160 160 160 160 110 50 30 10 10 "},
                 {160, 0, 50, "10 20 10 10 "},
                 {160, 0, 10, "10 "},
                 {160, 0, 3, "3 "},
                 {160, 0, 11, "10 1 "},
                 {100, 30, 300, "30 60 100 60 30 20 "},
                 {100, 100, 250, "100 100 50 "},
                 {7, 0, 20, "1 2 4 7 3 2 1 "},
                 {1, 1, 3, "1 1 1 "},
                 {2000, 500, 1000, "500 500 "}};
    struct fixture fixture;
    struct ingot_pipeline p;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        prepare(&fixture);
        p = pipeline_of(3);
        p.chunk = cases[i].chunk;
        p.least = cases[i].least;
        assert_int_equal(ingot_pipeline_create(&p), INGOT_OK);
        assert_int_equal(run(&fixture, &p, cases[i].count), INGOT_OK);
        assert_int_equal(wrong_sums(&fixture, cases[i].count), 0);
        assert_string_equal(bytes_in(), cases[i].chunks);
        ingot_pipeline_destroy(&p);
        close_balanced(fixture.module);
    }
}

/* A kernel of one argument, the bytes of which are counted up, and its launch. */
enum { MANY = 5 << 20 };

static void count_up_on_gpu(void *const *params)
{
    unsigned char *array;
    int32_t count, i;

    memcpy(&array, params[0], sizeof array);
    memcpy(&count, params[3], sizeof count);
    for (i = 0; i < count; i++)
        array[i]++;
}

static enum ingot_status count_up(void *context, CUstream stream, int64_t first,
                                  int64_t count, void *const *arrays)
{
    static const uint64_t grid[] = {1, 1, 1};
    static const uint32_t block[] = {128, 1, 1};
    struct fixture *fixture = context;
    void *address = arrays[0];
    int32_t size = (int32_t)count;
    void *params[] = {&address, &address, &address, &size};

    (void)first;
    return ingot_launch(fixture->module, 0, stream, grid, block, 0, params);
}

static void threads_share_the_copies_of_large_chunks(void **state)
{
    unsigned char *bytes = malloc(MANY);
    void *host[] = {bytes};
    struct fixture fixture;
    struct ingot_pipeline p;
    uint32_t copiers;
    int32_t i, wrong;

    (void)state;
    for (copiers = 1; copiers <= 5; copiers += 2) {
        prepare(&fixture);
        fake_driver()->state()->kernels[0].run = count_up_on_gpu;
        for (i = 0; i < MANY; i++)
            bytes[i] = (unsigned char)(i % 251);
        p = pipeline_of(2);
        p.chunk = 3 << 20;
        p.least = 0;
        p.copiers = copiers;
        p.array_count = 1;
        p.arrays[0].flow = INGOT_PIPELINE_IN | INGOT_PIPELINE_OUT;
        p.arrays[0].bytes = 1;
        assert_int_equal(ingot_pipeline_create(&p), INGOT_OK);
        assert_non_null(p.team);
        assert_int_equal(ingot_pipeline_run(&p, MANY, host, count_up, &fixture),
                         INGOT_OK);
        for (i = wrong = 0; i < MANY; i++)
            wrong += bytes[i] != i % 251 + 1;
        assert_int_equal(wrong, 0);
        ingot_pipeline_destroy(&p);
        assert_null(p.team);
        close_balanced(fixture.module);
    }
    free(bytes);
}

static void copiers_copy_in_any_number(void **state)
{
    static const char from[] = "abcdefgh";
    char to[sizeof from] = "";
    struct ingot_copy copies[] = {{to, from, 3}, {to + 3, from + 3, 6}};
    struct ingot_copiers *team;
    uint32_t threads;

    (void)state;
    assert_null(ingot_copiers_create(0));
    assert_null(ingot_copiers_create(INGOT_COPIERS_THREADS + 1));
    for (threads = 1; threads <= INGOT_COPIERS_THREADS; threads *= 4) {
        team = ingot_copiers_create(threads);
        memset(to, 0, sizeof to);
        ingot_copiers_run(team, copies, 0);
        assert_string_equal(to, "");
        ingot_copiers_run(team, copies, 2);
        assert_string_equal(to, from);
        ingot_copiers_destroy(team);
    }
    memset(to, 0, sizeof to);
    ingot_copiers_run(NULL, copies, 2);
    assert_string_equal(to, from);
    ingot_copiers_destroy(NULL);
}

static void every_failure_of_making_leaves_nothing(void **state)
{
    static const struct {
        const char *function;
        int calls, result;
        enum ingot_status status;
        const char *text;
    } cases[] = {
        {"cuStreamCreate", 4, 1, INGOT_DRIVER,
         "cuStreamCreate: CUDA_ERROR_INVALID_VALUE (1)"},
        {"cuEventCreate", 6, 700, INGOT_POISONED,
         "cuEventCreate: CUDA_ERROR_ILLEGAL_ADDRESS (700)"},
        {"cuMemAlloc_v2", 6, 2, INGOT_DEVICE_MEMORY,
         "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2)"},
        {"cuMemHostAlloc", 6, 304, INGOT_DRIVER,
         "cuMemHostAlloc: an error without a name (304)"},
    };
    struct fixture fixture;
    struct ingot_pipeline p;
    size_t i;
    int call;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        for (call = 1; call <= cases[i].calls; call++) {
            prepare(&fixture);
            p = pipeline_of(2);
            fake_driver()->state()->fail_function = cases[i].function;
            fake_driver()->state()->fail_call = call;
            fake_driver()->state()->fail_result = cases[i].result;
            assert_int_equal(ingot_pipeline_create(&p), cases[i].status);
            assert_string_equal(p.text, cases[i].text);
            ingot_pipeline_destroy(&p);
            close_balanced(fixture.module);
        }
}

static void every_failure_of_a_run_ends_it(void **state)
{
    static const struct {
        const char *function;
        int calls;
    } cases[] = {{"cuMemcpyHtoDAsync_v2", 8}, {"cuLaunchKernel", 4},
                 {"cuMemcpyDtoHAsync_v2", 4}, {"cuEventRecord", 12},
                 {"cuStreamWaitEvent", 10},   {"cuEventSynchronize", 4}};
    struct fixture fixture;
    struct ingot_pipeline p;
    struct fake *fake;
    size_t i;
    int call;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        for (call = 1; call <= cases[i].calls; call++) {
            prepare(&fixture);
            p = pipeline_of(2);
            assert_int_equal(ingot_pipeline_create(&p), INGOT_OK);
            fake = fake_driver()->state();
            fake->fail_function = cases[i].function;
            fake->fail_call = call;
            fake->fail_result = 2;
            assert_int_equal(run(&fixture, &p, 1000), INGOT_DEVICE_MEMORY);
            assert_non_null(strstr(p.text, "chunk "));
            assert_int_equal(fake_driver()->calls("cuStreamSynchronize"), 4);
            assert_true(fake_driver()->calls("cuLaunchKernel") <= 4);
            ingot_pipeline_destroy(&p);
            close_balanced(fixture.module);
        }
    assert_string_equal(
        p.text, "chunk 3: cuEventSynchronize: CUDA_ERROR_OUT_OF_MEMORY (2)");
}

static void a_failure_of_compute_is_what_a_run_returns(void **state)
{
    struct fixture fixture;
    struct ingot_pipeline p = pipeline_of(2);

    (void)state;
    prepare(&fixture);
    fixture.fail_at = 3;
    assert_int_equal(ingot_pipeline_create(&p), INGOT_OK);
    assert_int_equal(run(&fixture, &p, 1000), INGOT_BAD_SIZE);
    assert_string_equal(
        p.text,
        "chunk 2: compute: a size violates the kernel's `where` clause");
    assert_int_equal(fake_driver()->calls("cuLaunchKernel"), 2);
    ingot_pipeline_destroy(&p);
    close_balanced(fixture.module);
}

/* Sets one member of a pipeline to what is refused. */
static void spoil(struct ingot_pipeline *p, int how)
{
    switch (how) {
    case 0: p->chunk = 0; break;
    case 1: p->lane_count = 0; break;
    case 2: p->lane_count = INGOT_PIPELINE_LANES + 1; break;
    case 3: p->array_count = 0; break;
    case 4: p->array_count = INGOT_PIPELINE_ARRAYS + 1; break;
    case 5: p->arrays[1].flow = INGOT_PIPELINE_PINNED; break;
    case 6: p->arrays[1].flow = 9; break;
    case 7: p->arrays[2].bytes = 0; break;
    case 8: p->least = -1; break;
    case 9: p->least = 301; break;
    case 10: p->copiers = INGOT_PIPELINE_COPIERS + 1; break;
    case 11: p->lanes[1].arrived = NULL; break;
    case 12: p->lanes[1].computed = NULL; break;
    case 13: p->lanes[0].returned = NULL; break;
    case 14: p->lanes[1].device[2] = NULL; break;
    case 15: p->lanes[0].stage[0] = NULL; break;
    case 16: p->in = NULL; break;
    case 17: p->out = NULL; break;
    default: break;
    }
}

static void what_is_no_pipeline_is_refused(void **state)
{
    static const char *const texts[] = {
        "chunk is less than 1",
        "lane_count is not 1 to 16",
        "lane_count is not 1 to 16",
        "array_count is not 1 to 8",
        "array_count is not 1 to 8",
        "the flow of an array is not IN, OUT or both",
        "the flow of an array is not IN, OUT or both",
        "the element of an array has 0 bytes",
        "least is not 0 to chunk",
        "least is not 0 to chunk",
        "copiers is not 0 to 64"};
    const int plans = sizeof texts / sizeof *texts;
    struct fixture fixture;
    struct ingot_pipeline p = pipeline_of(2), spoiled;
    int i;

    (void)state;
    prepare(&fixture);
    assert_int_equal(ingot_pipeline_create(&p), INGOT_OK);
    for (i = 0; i < plans + 7; i++) {
        spoiled = p;
        spoil(&spoiled, i);
        assert_int_equal(run(&fixture, &spoiled, 1000), INGOT_INVALID);
        assert_non_null(
            strstr(spoiled.text,
                   i < plans ? texts[i]
                             : "a stream, an event or a buffer is missing"));
        if (i < plans)
            assert_int_equal(ingot_pipeline_create(&spoiled), INGOT_INVALID);
    }
    assert_string_equal(fake_driver()->operations(), "");
    ingot_pipeline_destroy(&p);
    close_balanced(fixture.module);
}

static void sizes_and_arrays_are_checked(void **state)
{
    struct fixture fixture;
    struct ingot_pipeline p = pipeline_of(1), huge = pipeline_of(1);
    void *host[3] = {NULL, NULL, NULL};

    (void)state;
    prepare(&fixture);
    huge.chunk = INT64_MAX / 2;
    assert_int_equal(ingot_pipeline_create(&huge), INGOT_OVERFLOW);
    assert_int_equal(ingot_pipeline_create(&p), INGOT_OK);
    assert_int_equal(run(&fixture, &p, -1), INGOT_BAD_SIZE);
    assert_int_equal(run(&fixture, &p, INT64_MAX), INGOT_OVERFLOW);
    assert_int_equal(ingot_pipeline_run(&p, 1, host, add, &fixture),
                     INGOT_NULL_ARRAY);
    assert_int_equal(ingot_pipeline_run(&p, 0, host, add, &fixture), INGOT_OK);
    ingot_pipeline_destroy(&p);
    close_balanced(fixture.module);
}

static void without_a_driver_or_a_context_it_says_so(void **state)
{
    struct ingot_pipeline p = pipeline_of(1);

    (void)state;
    fake_fresh();
    assert_int_equal(ingot_pipeline_create(&p), INGOT_DRIVER);
    assert_non_null(strstr(p.text, "cuStreamCreate"));
    p.driver = "/nowhere/libcuda.so.1";
    assert_int_equal(ingot_pipeline_create(&p), INGOT_NO_DRIVER);
    assert_string_equal(
        p.text, "/nowhere/libcuda.so.1: no NVIDIA driver on this machine");
    fake_fresh()->is_stub = 1;
    p.driver = fake_path();
    assert_int_equal(ingot_pipeline_create(&p), INGOT_STUB_DRIVER);
    ingot_pipeline_destroy(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_elements_come_back),
        cmocka_unit_test(a_stage_is_filled_again_when_its_chunk_has_ended),
        cmocka_unit_test(a_pipeline_runs_again),
        cmocka_unit_test(pinned_arrays_are_copied_straight_and_waited_for_once),
        cmocka_unit_test(an_array_may_go_both_ways),
        cmocka_unit_test(chunks_grow_and_shrink),
        cmocka_unit_test(threads_share_the_copies_of_large_chunks),
        cmocka_unit_test(copiers_copy_in_any_number),
        cmocka_unit_test(every_failure_of_making_leaves_nothing),
        cmocka_unit_test(every_failure_of_a_run_ends_it),
        cmocka_unit_test(a_failure_of_compute_is_what_a_run_returns),
        cmocka_unit_test(what_is_no_pipeline_is_refused),
        cmocka_unit_test(sizes_and_arrays_are_checked),
        cmocka_unit_test(without_a_driver_or_a_context_it_says_so)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
