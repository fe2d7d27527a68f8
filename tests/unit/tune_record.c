// Records of tuning: each prints as a line that reads back, and what is no record
// is refused.

#include "tools/libingot/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const lines[] = {
    "mm M=512 N=512 on \"NVIDIA H200\" sm_90a rule gemm_few 13 columns=256 : "
    "state=measured us=9.21 ratio=0.875 spread=0.4 turns=40 "
    "date=2026-01-31T12:00:00Z kernel=1f00 text=7a31 version=0.1.0\n",
    "mm on \"GPU\" sm_90 schedule 1 : state=refused kernel=1 text=2 "
    "version=0.1.0 why=\"E0626: cannot vectorize `i`\"\n",
    "mm n=-4 on \"GPU\" sm_90 build 2 : state=measured us=1 ratio=1 spread=0 "
    "turns=6 kernel=1 text=0\n",
};

static void prints_what_it_reads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct arena arena = {0};
        struct str_table names = {.arena = &arena};
        struct record r;
        struct buf out = {0};
        const char *at = lines[i];
        assert_true(record_read(&arena, &names, &at, &r));
        assert_int_equal(*at, '\n');
        record_print(&r, &out);
        assert_string_equal(out.data, lines[i]);
        buf_free(&out);
        arena_reset(&arena);
    }
}

static const char *const bad[] = {
    "mm M=512",
    "mm M=x on \"GPU\" sm_90 build 1 : state=refused",
    "mm on GPU",
    "mm on \"GPU sm_90 build 1 : state=refused",
    "mm on \"GPU\" sm_90 rule 3 : state=refused",
    "mm on \"GPU\" sm_90 schedule 0 : state=refused",
    "mm on \"GPU\" sm_90 schedule 1 state=refused",
    "mm on \"GPU\" sm_90 schedule 1 : us=3",
    "mm on \"GPU\" sm_90 schedule 1 : state",
    "mm on \"GPU\" sm_90 schedule 1 : state=",
};

static void refuses_what_is_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena arena = {0};
        struct str_table names = {.arena = &arena};
        struct record r;
        const char *at = bad[i];
        assert_false(record_read(&arena, &names, &at, &r));
        assert_true(at > bad[i] && at <= bad[i] + strlen(bad[i]));
        arena_reset(&arena);
    }
}

// Return the record of a line.
static struct record record_of(struct arena *a, struct str_table *names,
                               const char *line)
{
    struct record r;
    assert_true(record_read(a, names, &line, &r));
    return r;
}

static void tells_problems_apart(void **state)
{
    struct arena a = {0};
    struct str_table names = {.arena = &a};
    (void)state;
    struct record one = record_of(
        &a, &names, "k n=1 m=2 on \"A\" sm_90 build 1 : state=refused");
    struct record same = record_of(
        &a, &names, "k m=2 n=1 on \"A\" sm_90 schedule 3 t=1 : state=wrong");
    struct record size = record_of(
        &a, &names, "k m=2 n=2 on \"A\" sm_90 build 1 : state=refused");
    struct record device = record_of(
        &a, &names, "k n=1 m=2 on \"B\" sm_90 build 1 : state=refused");
    assert_true(record_is_same_problem(&one, &same, true));
    assert_false(record_is_same_problem(&one, &size, true));
    assert_false(record_is_same_problem(&one, &device, true));
    assert_true(record_is_same_problem(&one, &device, false));
    arena_reset(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_what_it_reads),
        cmocka_unit_test(refuses_what_is_none),
        cmocka_unit_test(tells_problems_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
