/* cmocka.h: as much of cmocka as the runtime's tests use, for systems that have
 * none: the first assertion that fails ends the program. */

#ifndef CROSS_CMOCKA_H
#define CROSS_CMOCKA_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define cmocka_unit_test(f)                                                    \
    {                                                                          \
#f, f                                                                  \
    }
#define cmocka_run_group_tests(tests, setup, teardown)                         \
    cross_run(tests, sizeof(tests) / sizeof *(tests))
#define print_message(...) ((void)printf(__VA_ARGS__))
#define print_error(...)   ((void)fprintf(stderr, __VA_ARGS__))

#define assert_true(a)     cross_assert((a) ? 1 : 0, #a, __FILE__, __LINE__)
#define assert_false(a)    assert_true(!(a))
#define assert_non_null(a) assert_true((a) != NULL)
#define assert_null(a)     assert_true((a) == NULL)
#define assert_int_equal(a, b)                                                 \
    cross_assert_equal((uint64_t)(a), (uint64_t)(b), #a, __FILE__, __LINE__)
#define assert_int_not_equal(a, b)    assert_true((a) != (b))
#define assert_ptr_equal(a, b)        assert_true((a) == (b))
#define assert_string_equal(a, b)     assert_true(!strcmp(a, b))
#define assert_string_not_equal(a, b) assert_true(strcmp(a, b))

/* Ends the program unless `is_right`. */
static inline void cross_assert(int is_right, const char *what,
                                const char *file, int line)
{
    if (is_right)
        return;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    exit(1);
}

/* Ends the program unless `a`, which is the value of `what`, is `b`. */
static inline void cross_assert_equal(uint64_t a, uint64_t b, const char *what,
                                      const char *file, int line)
{
    if (a == b)
        return;
    fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", file, line, what,
            (long long)a, (long long)b);
    exit(1);
}

/* Runs all; returns 0, an exit status. */
static inline int cross_run(const struct CMUnitTest *tests, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        void *state = NULL;

        tests[i].run(&state);
        printf("ok %s\n", tests[i].name);
        fflush(stdout);
    }
    return 0;
}

#endif
