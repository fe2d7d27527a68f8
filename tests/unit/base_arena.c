// The arena: zeroed, aligned memory that lives until the reset; vectors on it.

#include "ir/base/arena.h"
#include "ir/base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// Memory is zeroed and aligned, whatever the size, also beyond a chunk.
static void gives_zeroed_aligned_memory(void **state)
{
    static const size_t sizes[] = {0, 1, 15, 16, 17, 4096, 16384, 3000000, 1};
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *p = arena_alloc(&a, sizes[i]);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(p[k], 0);
        memset(p, 0xff, sizes[i]);
    }
    arena_reset(&a);
}

// Pieces do not overlap, and stay where they are while the arena grows.
static void keeps_pieces_apart(void **state)
{
    enum { PIECES = 2000 };
    struct arena a = {0};
    int *p[PIECES];
    (void)state;
    for (int i = 0; i < PIECES; i++) {
        p[i] = arena_array(&a, int, i % 61 + 1);
        for (int k = 0; k <= i % 61; k++)
            p[i][k] = i;
    }
    for (int i = 0; i < PIECES; i++) {
        for (int k = 0; k <= i % 61; k++)
            assert_int_equal(p[i][k], i);
    }
    arena_reset(&a);
}

// A copy has its NUL byte and may hold others; an empty one may come from NULL.
static void copies_bytes(void **state)
{
    struct arena a = {0};
    (void)state;
    const char *copy = arena_copy(&a, "a\0b", 3);
    assert_memory_equal(copy, "a\0b", 4);
    assert_string_equal(arena_copy(&a, NULL, 0), "");
    assert_string_equal(arena_printf(&a, "%s=%d", "x", 42), "x=42");
    assert_int_equal(strlen(arena_printf(&a, "%10000d", 1)), 10000);
    arena_reset(&a);
}

// After a reset the arena is empty and can be used again.
static void resets(void **state)
{
    struct arena a = {0};
    (void)state;
    arena_reset(&a);
    arena_alloc(&a, 100);
    assert_true(a.bytes >= 100);
    arena_reset(&a);
    assert_int_equal(a.bytes, 0);
    assert_null(a.chunks);
    assert_string_equal(arena_copy(&a, "again", 5), "again");
    arena_reset(&a);
}

// A vector keeps its elements while it grows.
static void grows_vectors(void **state)
{
    struct arena a = {0};
    struct VEC(int) v = {0};
    (void)state;
    for (int i = 0; i < 1000; i++)
        vec_push(&a, &v, i);
    assert_int_equal(v.n, 1000);
    assert_true(v.cap >= v.n);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v.at[i], i);
    arena_reset(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_zeroed_aligned_memory),
        cmocka_unit_test(keeps_pieces_apart),
        cmocka_unit_test(copies_bytes),
        cmocka_unit_test(resets),
        cmocka_unit_test(grows_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
