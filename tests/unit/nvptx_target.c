// Tests of nvptx/target.c and sm.def.

#include "tests/unit/support/nvptx_fixture.h"

#include <llvm/Config/llvm-config.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void finds_by_name(void **state)
{
    (void)state;
    struct fixture f;
    fixture_start(&f);
    const struct nvptx_target *sm = nvptx_target_find("sm_90a", &f.diags);
    assert_string_equal(sm->name, "sm_90a");
    assert_int_equal(sm->number, 90);
    assert_int_equal(sm->kind, 'a');
    assert_int_equal(sm->most_shared, 227 * 1024);
    assert_int_equal(f.diags.errors, 0);
    fixture_end(&f);
}

static void suggests_what_was_meant(void **state)
{
    (void)state;
    struct fixture f;
    fixture_start(&f);
    assert_null(nvptx_target_find("sm90", &f.diags));
    assert_int_equal(f.diags.all.at[0].code, D_unknown_architecture);
    assert_non_null(strstr(f.diags.all.at[0].notes.at[0].text, "`sm_90`"));
    assert_null(nvptx_target_find("volta", &f.diags));
    assert_non_null(strstr(f.diags.all.at[1].notes.at[0].text,
                           "the architectures: sm_75, "));
    fixture_end(&f);
}

// The table's PTX version is what LLVM writes for the target: the lowest.
static void writes_the_lowest_version(void **state)
{
    (void)state;
    struct emission t;
    size_t n;
    emission_start(&t);
    const struct nvptx_target *all = nvptx_targets(&n);
    for (size_t i = 0; i < n; i++) {
        if (all[i].llvm > LLVM_VERSION_MAJOR)
            continue;
        emission_target(&t, all[i].name);
        const char *ptx = emission_text(&t, fixture_vadd);
        const char *head =
            arena_printf(&t.base.arena, ".version %u.%u\n.target %s\n",
                         all[i].ptx / 10, all[i].ptx % 10, all[i].name);
        assert_non_null(strstr(ptx, head));
        emission_assemble(&t, ptx);
    }
    emission_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_by_name),
        cmocka_unit_test(suggests_what_was_meant),
        cmocka_unit_test(writes_the_lowest_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
