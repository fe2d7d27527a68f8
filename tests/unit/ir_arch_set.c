// Sets of architectures: what each way of writing holds, and what is in what.

#include "ir/arch_set.h"
#include "nvptx/nvptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

// Return the names of all architectures that a set holds, after a space each.
static const char *members(struct arena *a, const char *set)
{
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n);
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        if (nvptx_target_in(&all[i], set))
            text = arena_printf(a, "%s %s", text, all[i].name + 3);
    return text;
}

static void holds_what_a_name_says(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"90", " 90 90a"},
        {"90a", " 90a"},
        {"100", " 100 100a 100f"},
        {"100a", " 100a"},
        {"100f", " 100a 100f 103a 103f"},
        {"103f", " 103a 103f"},
        {"110f", " 110a 110f"},
        {"120f", " 120a 120f 121a 121f"},
        {"120+", " 120 120a 120f 121 121a 121f"},
        {"121a+", ""},
        {"90a 100f 110f 120f",
         " 90a 100a 100f 103a 103f 110a 110f 120a 120f 121a 121f"},
        {"sm_80 sm_86", " 80 86"},
        {"sm_121+ 75", " 75 121 121a 121f"},
        {"122+", ""},
        {"76+ 75", " 75 80 86 87 89 90 90a 100 100a 100f 103 103a 103f 110 "
                   "110a 110f 120 120a 120f 121 121a 121f"},
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(members(&a, cases[i][0]), cases[i][1]);
    arena_reset(&a);
}

static void holds_numbers_that_no_table_has(void **state)
{
    (void)state;
    assert_true(arch_set_has("80+", 130, 0));
    assert_true(arch_set_has("80+", 130, 'a'));
    assert_true(arch_set_has("100f", 109, 'f'));
    assert_false(arch_set_has("100f", 109, 0));
    assert_false(arch_set_has("100f", 99, 'f'));
    assert_false(arch_set_has("103f", 100, 'f'));
    assert_false(arch_set_has("90", 900, 0));
    assert_true(arch_set_has("9999", 9999, 0));
}

static void holds_nothing_where_it_cannot_be_read(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "",       " ",   "+",    "a",    "sm_",        "sm_+",
        "sm 90x", "90b", "90A",  "90++", "90a+",       "90af",
        "-90",    "90,", "sm90", "0x5a", "compute_90", "99999999999999999999",
        "90.0"};
    struct arena a = {0};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_string_equal(members(&a, odd[i]), "");
    assert_string_equal(members(&a, "90b  89 x 75"), " 75 89");
    arena_reset(&a);
}

static void lies_in_another_one(void **state)
{
    (void)state;
    static const char *const in[][2] = {
        {"90a", "90+"},        {"90a", "90"},        {"90a", "90a"},
        {"90", "90"},          {"90+", "80+"},       {"100a", "100f"},
        {"103f", "100f"},      {"103a", "90a 100f"}, {"90a 120+", "90+"},
        {"100f 120f", "100+"}, {"", "90a"}};
    static const char *const out[][2] = {
        {"80+", "90+"},   {"90", "90a"},    {"90+", "90"},      {"90+", "90a"},
        {"100f", "100a"}, {"100f", "100"},  {"100f", "103f"},   {"100", "100f"},
        {"90a", "100f"},  {"110f", "100f"}, {"90a 80+", "90+"}, {"90a", ""}};
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        assert_true(arch_set_within(in[i][0], in[i][1]));
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        assert_false(arch_set_within(out[i][0], out[i][1]));
}

// What lies in another set has all its members there.
static void agrees_with_the_members(void **state)
{
    (void)state;
    static const char *const sets[] = {"75+", "80+",  "90+",  "90",   "90a",
                                       "100", "100a", "100f", "103f", "120f"};
    enum { N = sizeof sets / sizeof *sets };
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n);
    for (size_t i = 0; i < N * N * n; i++) {
        const char *x = sets[i / N % N], *y = sets[i % N];
        const struct nvptx_target *t = &all[i / (N * N)];
        if (arch_set_within(x, y) && nvptx_target_in(t, x))
            assert_true(nvptx_target_in(t, y));
    }
}

static void is_written_for_people(void **state)
{
    (void)state;
    struct arena a = {0};
    assert_string_equal(arch_set_names(&a, "80+"), "sm_80+");
    assert_string_equal(arch_set_names(&a, "90a sm_100f"), "sm_90a, sm_100f");
    assert_string_equal(arch_set_words(&a, "80+"), "sm_80 or a newer one");
    assert_string_equal(arch_set_words(&a, "90a 100f"), "sm_90a or sm_100f");
    assert_string_equal(arch_set_words(&a, "?"), "");
    arena_reset(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_what_a_name_says),
        cmocka_unit_test(holds_numbers_that_no_table_has),
        cmocka_unit_test(holds_nothing_where_it_cannot_be_read),
        cmocka_unit_test(lies_in_another_one),
        cmocka_unit_test(agrees_with_the_members),
        cmocka_unit_test(is_written_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
