// Tests of nvptx/parts.c: which kernels are emitted together, and how their
// PTX becomes one module.

#include "nvptx/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

// Check what two texts become.
static void joins(const char *first, const char *second, const char *wanted)
{
    struct buf texts[2] = {{0}, {0}}, out = {0};
    buf_text(&texts[0], first);
    buf_text(&texts[1], second);
    parts_join(texts, 2, &out);
    assert_string_equal(out.data, wanted);
    buf_free(&texts[0]);
    buf_free(&texts[1]);
    buf_free(&out);
}

#define HEAD(version) ".version " version "\n.target sm_90a\n.address_size 64\n"

static void joins_entries_under_the_newest_version(void **state)
{
    (void)state;
    joins("\n" HEAD("7.8") ".visible .entry f()\n{\n\tret;\n}\n",
          "\n" HEAD("8.0") ".visible .entry g()\n{\n\tret;\n}\n",
          "\n" HEAD("8.0") ".visible .entry f()\n{\n\tret;\n}\n"
                           ".visible .entry g()\n{\n\tret;\n}\n");
}

static void
declares_dynamic_memory_once_with_the_largest_alignment(void **state)
{
    (void)state;
    static const char small[] = ".extern .shared .align 128 .b8 s[];\n";
    static const char large[] = ".extern .shared .align 1024 .b8 s[];\n";
    struct buf one = {0}, other = {0}, wanted = {0};
    buf_printf(&one, "\n%s%s.visible .entry f()\n{\n}\n", HEAD("8.0"), small);
    buf_printf(&other, "\n%s%s.visible .entry g()\n{\n}\n", HEAD("8.0"), large);
    buf_printf(&wanted,
               "\n%s%s.visible .entry f()\n{\n}\n.visible .entry g()\n{\n}\n",
               HEAD("8.0"), large);
    joins(one.data, other.data, wanted.data);
    buf_free(&one);
    buf_free(&other);
    buf_free(&wanted);
}

static void defines_library_functions_once(void **state)
{
    (void)state;
    static const char library[] =
        ".func  (.param .b64 r[2]) pow\n(\n\t.param .b64 x\n)\n;\n"
        ".global .align 4 .b8 table[2] = {1, 2};\n";
    static const char body[] = ".func  (.param .b64 r[2]) pow(\n\t.param x\n)\n"
                               "{\n\tret;\n}\n";
    struct buf one = {0}, other = {0}, wanted = {0};
    buf_printf(&one, "\n%s%s.visible .entry f()\n{\n}\n%s", HEAD("8.0"),
               library, body);
    buf_printf(&other, "\n%s%s.visible .entry g()\n{\n}\n%s", HEAD("8.0"),
               library, body);
    buf_printf(&wanted, "%s.visible .entry g()\n{\n}\n", one.data);
    joins(one.data, other.data, wanted.data);
    buf_free(&one);
    buf_free(&other);
    buf_free(&wanted);
}

// Return a kernel of that many statements.
static struct ir_kernel *kernel_of(struct arena *a, size_t n)
{
    struct ir_stmt *barrier = arena_new(a, struct ir_stmt);
    struct ir_kernel *k = arena_new(a, struct ir_kernel);
    barrier->kind = STMT_barrier;
    for (size_t i = 0; i < n; i++)
        vec_push(a, &k->body, barrier);
    return k;
}

static void long_kernels_are_parts_of_their_own(void **state)
{
    (void)state;
    struct arena a = {0};
    const struct ir_kernel *kernels[] = {kernel_of(&a, 1000), kernel_of(&a, 10),
                                         kernel_of(&a, 20),
                                         kernel_of(&a, 1000)};
    struct nvptx_options o = {.form = NVPTX_PTX};
    struct parts parts = parts_of(&a, kernels, 3, &o);
    assert_int_equal(parts.n, 2);
    assert_int_equal(parts.at[0].n, 1);
    assert_ptr_equal(parts.at[1].kernels, kernels + 1);
    assert_int_equal(parts.at[1].n, 2);
    assert_int_equal(parts_of(&a, kernels, 4, &o).n, 2);
    assert_int_equal(parts_of(&a, kernels, 0, &o).n, 1);
    o.line_info = true;
    assert_int_equal(parts_of(&a, kernels, 4, &o).n, 1);
    arena_reset(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_entries_under_the_newest_version),
        cmocka_unit_test(
            declares_dynamic_memory_once_with_the_largest_alignment),
        cmocka_unit_test(defines_library_functions_once),
        cmocka_unit_test(long_kernels_are_parts_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
