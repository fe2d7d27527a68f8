// Interned strings, maps, text buffers, suggestions and places in a source.

#include "ir/base/buf.h"
#include "ir/base/map.h"
#include "ir/base/source.h"
#include "ir/base/str.h"
#include "ir/base/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// Equal text is one pointer, whatever it came from; prefixes differ.
static void interns(void **state)
{
    struct arena a = {0};
    struct str_table t = {.arena = &a};
    char text[16];
    (void)state;
    const char *abc = str_name(&t, "abc");
    assert_ptr_equal(abc, str_intern(&t, "abcdef", 3));
    assert_ptr_not_equal(abc, str_name(&t, "ab"));
    assert_ptr_not_equal(abc, str_name(&t, "abcd"));
    assert_string_equal(str_intern(&t, "x", 0), "");
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "name%d", i);
        const char *name = str_name(&t, text);
        assert_string_equal(name, text);
        assert_ptr_equal(name, str_name(&t, text));
    }
    assert_ptr_equal(abc, str_name(&t, "abc"));
    arena_reset(&a);
}

// The hash is FNV-1a, and goes on where it stopped.
static void hashes(void **state)
{
    (void)state;
    assert_true(hash_bytes(HASH_START, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(hash_bytes(HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(hash_bytes(hash_bytes(HASH_START, "ab", 2), "cd", 2) ==
                hash_bytes(HASH_START, "abcd", 4));
}

// A map finds what was set, replaces it, and knows what was not.
static void maps(void **state)
{
    enum { KEYS = 3000 };
    static int keys[KEYS], values[KEYS];
    struct arena a = {0};
    struct map m = {.arena = &a};
    (void)state;
    assert_null(map_get(&m, &keys[0]));
    assert_false(map_has(&m, &keys[0]));
    for (int i = 0; i < KEYS; i += 2)
        map_set(&m, &keys[i], &values[i]);
    map_set(&m, &keys[4], &values[5]);
    map_set(&m, &keys[6], NULL);
    assert_int_equal(m.n, KEYS / 2);
    assert_ptr_equal(map_get(&m, &keys[4]), &values[5]);
    assert_true(map_has(&m, &keys[6]));
    assert_null(map_get(&m, &keys[6]));
    for (int i = 8; i < KEYS; i++)
        assert_ptr_equal(map_get(&m, &keys[i]), i % 2 ? NULL : &values[i]);
    arena_reset(&a);
}

// Text is appended in every way, and always ends with a NUL byte.
static void appends(void **state)
{
    struct buf b = {0};
    (void)state;
    buf_printf(&b, "%s", "");
    buf_text(&b, "ab");
    buf_char(&b, 'c');
    buf_indent(&b, 2);
    buf_indent(&b, -1);
    buf_bytes(&b, "d\0e", 3);
    buf_bytes(&b, NULL, 0);
    buf_printf(&b, "%d%%", 42);
    assert_int_equal(b.n, 11);
    assert_memory_equal(b.data, "abc  d\0e42%", 12);
    for (int i = 0; i < 10000; i++)
        buf_printf(&b, "%s", "0123456789");
    assert_int_equal(b.n, 100011);
    assert_int_equal(b.data[b.n], '\0');
    buf_free(&b);
    assert_null(b.data);
    buf_text(&b, "again");
    assert_string_equal(b.data, "again");
    buf_free(&b);
}

// Return what is suggested for a name out of a list.
static const char *suggested(const char *wanted, const char *const *names)
{
    static char text[128];
    struct suggest s = {.wanted = wanted};
    while (*names)
        suggest_offer(&s, *names++);
    suggest_text(&s, text, sizeof text);
    assert_int_equal(suggest_any(&s), text[0] != '\0');
    return text;
}

// Near names are suggested, the nearest first, each once, three at most.
static void suggests(void **state)
{
    static const char *const names[] = {"split", "tile",  "fuse",
                                        "bind",  "split", NULL};
    static const char *const many[] = {"aaaa", "aaab", "aabb",
                                       "aaac", "aaad", NULL};
    (void)state;
    assert_string_equal(suggested("splti", names), "`split`");
    assert_string_equal(suggested("fuze", names), "`fuse`");
    assert_string_equal(suggested("reorder", names), "");
    assert_string_equal(suggested("x", names), "");
    assert_string_equal(suggested("", names), "");
    assert_string_equal(suggested("aaab", many), "`aaab`, `aaaa` or `aabb`");
    assert_string_equal(suggested("tiles", (const char *const[]){"tile", NULL}),
                        "`tile`");
    assert_string_equal(
        suggested("ab", (const char *const[]){"ba", "abc", NULL}),
        "`ba` or `abc`");
}

// Names too long to compare, and too little room, do no harm.
static void suggests_within_limits(void **state)
{
    char longest[200], small[4];
    struct suggest s = {.wanted = longest};
    (void)state;
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    suggest_offer(&s, longest);
    assert_false(suggest_any(&s));
    s = (struct suggest){.wanted = "name"};
    suggest_offer(&s, "names");
    suggest_offer(&s, "nam");
    suggest_text(&s, small, sizeof small);
    assert_int_equal(strlen(small), 3);
}

// Lines are found at their ends, without them, and behind the last one.
static void finds_lines(void **state)
{
    struct source s = {"f", "ab\r\n\ncd", 7};
    (void)state;
    struct source_line line = source_line(&s, 1);
    assert_int_equal(line.number, 1);
    assert_int_equal(line.column, 2);
    assert_int_equal(line.n, 2);
    line = source_line(&s, 4);
    assert_int_equal(line.number, 2);
    assert_int_equal(line.n, 0);
    line = source_line(&s, 6);
    assert_int_equal(line.number, 3);
    assert_int_equal(line.column, 2);
    assert_memory_equal(line.text, "cd", line.n);
    line = source_line(&s, 1000);
    assert_int_equal(line.number, 3);
    assert_int_equal(line.column, 3);
    s = (struct source){"f", "", 0};
    line = source_line(&s, 0);
    assert_int_equal(line.number, 1);
    assert_int_equal(line.n, 0);
}

// A joined span covers both; no place and other files do not count.
static void joins_spans(void **state)
{
    struct source s = {"f", "", 0}, other = {"g", "", 0};
    struct span a = {&s, 5, 7}, b = {&s, 1, 6}, none = {0};
    (void)state;
    struct span both = span_join(a, b);
    assert_int_equal(both.from, 1);
    assert_int_equal(both.to, 7);
    assert_int_equal(span_join(a, none).from, 5);
    assert_int_equal(span_join(none, b).from, 1);
    assert_null(span_join(none, none).source);
    assert_int_equal(span_join(a, (struct span){&other, 0, 9}).to, 7);
}

// Characters have the length that UTF-8 gives them, or none.
static void measures_characters(void **state)
{
    static const struct {
        const char *text;
        size_t left, length;
    } rows[] = {{"a", 1, 1},
                {"\0", 1, 1},
                {"\xc3\xa9", 2, 2},
                {"\xe2\x82\xac", 3, 3},
                {"\xf0\x9f\x98\x80", 4, 4},
                {"\xf4\x8f\xbf\xbf", 4, 4},
                {"\xc3", 1, 0},
                {"\xc3(", 2, 0},
                {"\x80", 1, 0},
                {"\xc0\x80", 2, 0},
                {"\xe0\x9f\xbf", 3, 0},
                {"\xf0\x8f\xbf\xbf", 4, 0},
                {"\xed\xa0\x80", 3, 0},
                {"\xf4\x90\x80\x80", 4, 0},
                {"\xff", 1, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(source_character(rows[i].text, rows[i].left),
                         rows[i].length);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interns),
        cmocka_unit_test(hashes),
        cmocka_unit_test(maps),
        cmocka_unit_test(appends),
        cmocka_unit_test(suggests),
        cmocka_unit_test(suggests_within_limits),
        cmocka_unit_test(finds_lines),
        cmocka_unit_test(joins_spans),
        cmocka_unit_test(measures_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
