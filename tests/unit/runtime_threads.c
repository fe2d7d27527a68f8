/* The runtime under many threads: one load a context, no lost or torn state.
 * Most telling under the thread sanitizer. */

#include "tests/fake_driver/harness.h"

#include <pthread.h>

enum { THREADS = 16, ROUNDS = 2000, CONTEXTS = 4 };

/* What the threads of a test share, and what each has. */
struct worker {
    struct ingot_module *module;
    pthread_barrier_t *start;
    void **contexts;
    void **streams;
    unsigned number;
    int failures;
    pthread_t thread;
};

/* Runs `body` in THREADS threads that start together; the failures of all. */
static int run_all(struct worker *shared, void *(*body)(void *))
{
    struct worker workers[THREADS];
    pthread_barrier_t start;
    unsigned i;
    int failures = 0;

    pthread_barrier_init(&start, NULL, THREADS);
    for (i = 0; i < THREADS; i++) {
        workers[i] = *shared;
        workers[i].start = &start;
        workers[i].number = i;
        assert_int_equal(
            pthread_create(&workers[i].thread, NULL, body, &workers[i]), 0);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        failures += workers[i].failures;
    }
    pthread_barrier_destroy(&start);
    return failures;
}

/* Preloads in the first context and launches once. */
static void *preload(void *argument)
{
    struct worker *worker = argument;

    pthread_barrier_wait(worker->start);
    fake_driver()->context_push(worker->contexts[0]);
    worker->failures += ingot_preload(worker->module) != INGOT_OK;
    worker->failures += launch_vadd(worker->module, NULL) != INGOT_OK;
    return NULL;
}

static void concurrent_preloads_load_once(void **state)
{
    struct fake *fake = fake_fresh();
    void *context = fake_driver()->context_create(0);
    struct worker shared = {.contexts = &context};
    struct sample sample;

    (void)state;
    sample_make(&sample, "cubin90a ptx75");
    shared.module = open_sample(&sample, 0);
    fake->load_delay_us = 20000;
    assert_int_equal(run_all(&shared, preload), 0);
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 1);
    assert_int_equal(fake_driver()->calls("cuInit"), 1);
    assert_int_equal(fake->launches, THREADS);
    close_balanced(shared.module);
}

static void concurrent_failures_are_tried_once(void **state)
{
    struct fake *fake = fake_fresh();
    void *context = fake_driver()->context_create(0);
    struct worker shared = {.contexts = &context};
    struct sample sample;

    (void)state;
    sample_make(&sample, "cubin90a ptx75");
    shared.module = open_sample(&sample, 0);
    fake->rules[0] = (struct fake_rule){2, 0, 200};
    fake->rules[1] = (struct fake_rule){1, 0, 218};
    assert_int_equal(run_all(&shared, preload), 2 * THREADS);
    assert_string_equal(fake->loads, "2:90a 1:75 ");
    close_balanced(shared.module);
}

/* Launches into all contexts in turn, by stream, by current context and by
 * neither, and asks for reports and texts between. */
static void *mix(void *argument)
{
    struct worker *worker = argument;
    char text[INGOT_TEXT_SIZE];
    struct ingot_load load;
    unsigned i, which;

    pthread_barrier_wait(worker->start);
    fake_driver()->context_push(worker->contexts[worker->number % CONTEXTS]);
    for (i = 0; i < ROUNDS; i++) {
        which = (i + worker->number) % CONTEXTS;
        worker->failures +=
            launch_vadd(worker->module,
                        i % 3 ? worker->streams[which] : NULL) != INGOT_OK;
        if (i % 16 == 0) {
            ingot_reject(worker->module, INGOT_BAD_SIZE, "vadd", "n > 0");
            ingot_error_text(worker->module, text, sizeof text);
            worker->failures += strcmp(text, "sample: vadd: n > 0") != 0;
            ingot_report(worker->module, &load);
            worker->failures += load.rung != INGOT_RUNG_EXACT;
        }
    }
    return NULL;
}

static void threads_and_contexts_mix(void **state)
{
    struct fake *fake = fake_fresh();
    void *contexts[CONTEXTS], *streams[CONTEXTS];
    struct worker shared = {.contexts = contexts, .streams = streams};
    struct sample sample;
    int i;

    (void)state;
    for (i = 0; i < CONTEXTS; i++) {
        contexts[i] = fake_driver()->context_create(0);
        streams[i] = fake_driver()->stream_create(contexts[i]);
    }
    sample_make(&sample, "cubin90a ptx75");
    shared.module = open_sample(&sample, 0);
    assert_int_equal(run_all(&shared, mix), 0);
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), CONTEXTS);
    assert_int_equal(fake->launches, THREADS * ROUNDS);
    close_balanced(shared.module);
}

/* Opens, loads, launches and closes a module of its own. */
static void *own_module(void *argument)
{
    struct worker *worker = argument;
    struct ingot_module *module;
    struct sample sample;
    int i;

    sample_make(&sample, "cubin90a ptx75");
    pthread_barrier_wait(worker->start);
    fake_driver()->context_push(worker->contexts[0]);
    for (i = 0; i < 50; i++) {
        module = open_sample(&sample, 0);
        worker->failures += launch_vadd(module, NULL) != INGOT_OK;
        ingot_close(module);
    }
    return NULL;
}

static void modules_do_not_meet(void **state)
{
    struct fake *fake = fake_fresh();
    void *context = fake_driver()->context_create(0);
    struct worker shared = {.contexts = &context};

    (void)state;
    assert_int_equal(run_all(&shared, own_module), 0);
    assert_int_equal(fake->launches, THREADS * 50);
    assert_int_equal(fake->live_modules, 0);
}

/* Launches until the fault of another thread shows. */
static void *until_poisoned(void *argument)
{
    struct worker *worker = argument;
    char text[INGOT_TEXT_SIZE];
    int i;

    pthread_barrier_wait(worker->start);
    fake_driver()->context_push(worker->contexts[0]);
    for (i = 0; i < ROUNDS; i++)
        if (launch_vadd(worker->module, NULL) == INGOT_POISONED)
            break;
    worker->failures += i == ROUNDS;
    for (i = 0; i < 100; i++) {
        worker->failures += launch_vadd(worker->module, NULL) != INGOT_POISONED;
        ingot_error_text(worker->module, text, sizeof text);
        worker->failures += !strstr(text, "(700)");
    }
    return NULL;
}

static void a_fault_is_seen_by_all_with_the_first_text(void **state)
{
    struct fake *fake = fake_fresh();
    void *context = fake_driver()->context_create(0);
    struct worker shared = {.contexts = &context};
    struct sample sample;

    (void)state;
    sample_make(&sample, "cubin90a ptx75");
    shared.module = open_sample(&sample, 0);
    fake->fail_function = "cuLaunchKernel";
    fake->fail_call = 500;
    fake->fail_result = 700;
    assert_int_equal(run_all(&shared, until_poisoned), 0);
    ingot_close(shared.module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concurrent_preloads_load_once),
        cmocka_unit_test(concurrent_failures_are_tried_once),
        cmocka_unit_test(threads_and_contexts_mix),
        cmocka_unit_test(modules_do_not_meet),
        cmocka_unit_test(a_fault_is_seen_by_all_with_the_first_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
