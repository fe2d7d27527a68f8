// Parts of a build run once each, and at most as many at a time as there are tokens.

#include "tools/libingot/jobs.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PARTS = 40 };

// What runs, counted.  With `wanted` a part waits until so many run.
struct count {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t runs[PARTS], running, most, wanted;
};

static void work(void *context, size_t i)
{
    struct count *c = context;
    pthread_mutex_lock(&c->mutex);
    c->runs[i]++;
    c->running++;
    c->most = c->running > c->most ? c->running : c->most;
    pthread_cond_broadcast(&c->changed);
    while (c->most < c->wanted)
        pthread_cond_wait(&c->changed, &c->mutex);
    c->running--;
    pthread_mutex_unlock(&c->mutex);
}

// Run all parts below a pipe with so many tokens; `wanted` of them must run at a time.
static struct count run(const struct jobs *j, size_t wanted)
{
    struct count c = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                      .changed = PTHREAD_COND_INITIALIZER,
                      .wanted = wanted};
    jobs_run(j, PARTS, work, &c);
    for (size_t i = 0; i < PARTS; i++)
        assert_int_equal(c.runs[i], 1);
    return c;
}

// Open a pipe with tokens, and write the flags that name it.
static void open_pipe(int ends[2], const char *tokens, char flags[64])
{
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], tokens, strlen(tokens)), strlen(tokens));
    snprintf(flags, 64, " -j3 --jobserver-auth=%d,%d", ends[0], ends[1]);
}

// Close the pipe, which must hold these tokens, in any order.
static void close_pipe(const int ends[2], const char *tokens)
{
    char left[16] = {0};
    assert_int_equal(fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(read(ends[0], left, sizeof left - 1), strlen(tokens));
    for (const char *at = tokens; *at; at++)
        assert_non_null(strchr(left, *at));
    close(ends[0]);
    close(ends[1]);
}

static void test_most(void **state)
{
    struct jobs j;
    (void)state;
    jobs_start(&j, NULL, 3);
    assert_int_equal(run(&j, 3).most, 3);
    jobs_end(&j);
    jobs_start(&j, "w --jobserver-auth=-2,-2 -j4", 1);
    assert_int_equal(run(&j, 1).most, 1);
    jobs_end(&j);
    assert_in_range(run(NULL, 0).most, 1, PARTS);
}

static void test_tokens(void **state)
{
    struct jobs j;
    char flags[64];
    int ends[2];
    (void)state;
    open_pipe(ends, "+-", flags);
    jobs_start(&j, flags, 0);
    assert_true(j.is_make);
    assert_int_equal(run(&j, 3).most, 3);
    jobs_end(&j);
    jobs_start(&j, flags, 2);
    assert_int_equal(run(&j, 2).most, 2);
    jobs_end(&j);
    close_pipe(ends, "+-");
}

// Without a token to be had, one part runs after another.
static void test_no_token(void **state)
{
    struct jobs j;
    char flags[64], token;
    int ends[2];
    (void)state;
    open_pipe(ends, "+", flags);
    assert_int_equal(read(ends[0], &token, 1), 1);
    jobs_start(&j, flags, 0);
    assert_int_equal(run(&j, 0).most, 1);
    jobs_end(&j);
    assert_int_equal(write(ends[1], &token, 1), 1);
    close_pipe(ends, "+");
}

// Two files that are not the ends of one pipe are no jobserver.
static void test_other_files(void **state)
{
    struct jobs j;
    char flags[64];
    int one[2], two[2];
    (void)state;
    open_pipe(one, "a", flags);
    open_pipe(two, "b", flags);
    snprintf(flags, sizeof flags, "--jobserver-fds=%d,%d", one[0], two[1]);
    jobs_start(&j, flags, 2);
    assert_false(j.is_make);
    assert_int_equal(run(&j, 2).most, 2);
    jobs_end(&j);
    close_pipe(one, "a");
    close_pipe(two, "b");
}

// The jobserver of newer makes and of ninja is a named pipe.
static void test_named_pipe(void **state)
{
    char folder[] = "/tmp/ingot-jobs-XXXXXX", path[64], flags[128], left[4];
    struct jobs j;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pipe", folder);
    snprintf(flags, sizeof flags, " -j3 --jobserver-auth=fifo:%s -l4", path);
    jobs_start(&j, flags, 1);
    assert_false(j.is_make);
    jobs_end(&j);
    assert_int_equal(mkfifo(path, 0600), 0);
    int end = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(write(end, "ab", 2), 2);
    jobs_start(&j, flags, 0);
    assert_true(j.is_make);
    assert_int_equal(run(&j, 3).most, 3);
    jobs_end(&j);
    assert_int_equal(read(end, left, sizeof left), 2);
    close(end);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_most),       cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_no_token),   cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_named_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
