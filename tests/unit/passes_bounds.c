// The pass `bounds`: which accesses are outside of their array whenever their
// loops run at all, for every kind of loop, condition and size.

#include "passes/pass.h"
#include "support/kernel_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

// A loop around an access to X, and the iterations that it is outside in.
struct sample {
    const char *size;    // of X
    const char *body;    // of a kernel with the sizes n and m
    const char *example; // what is said of the first; NULL if all are inside
};

static const struct sample samples[] = {
    {"4", "for i in 0..min(n, 8) { Y[i] = X[i] }", NULL},
    {"4", "for i in 0..min(n, 4) { Y[i] = X[i] }", NULL},
    {"4", "for i in 0..max(n, 8) { Y[0] = X[i] }",
     "for example, with i = 4 the index is 4 and the extent 4"},
    {"8", "for i in 0..8 step 4 { Y[0] = X[i + 3] }", NULL},
    {"7", "for i in 0..8 step 4 { Y[0] = X[i + 3] }",
     "for example, with i = 4 the index is 7 and the extent 7"},
    {"8", "for i in 1..9 step 3 { Y[0] = X[i] }", NULL},
    {"4", "for i in 0..4 { if i != 0 { Y[0] = X[i - 1] } }", NULL},
    {"4", "for i in 0..4 { if !(i == 0) { Y[0] = X[i - 1] } }", NULL},
    {"4", "for i in 0..4 { if i == 0 { Y[0] = X[i - 1] } }",
     "for example, with i = 0 the index is -1 and the extent 4"},
    {"4", "for i in 0..4 { if i <= 2 { Y[0] = X[i + 1] } }", NULL},
    {"4", "for i in 0..4 { if i >= 2 { Y[0] = X[i + 1] } }",
     "for example, with i = 3 the index is 4 and the extent 4"},
    {"4", "for i in 0..8 { if i < 4 { Y[0] = X[i] } else { Y[0] = X[i - 4] } }",
     NULL},
    {"4", "for i in 0..8 { if i < 4 || i > 6 { Y[0] = X[i % 5] } }", NULL},
    {"2", "for i in 0..8 { if i < 4 && i > 1 { Y[0] = X[i] } }",
     "for example, with i = 2 the index is 2 and the extent 2"},
    {"4", "for i in 0..8 { let j = i / 2\n if true { Y[0] = X[j] } }", NULL},
    {"3", "for i in 0..8 { let j = ceildiv(i, 2)\n Y[0] = X[j] }",
     "for example, with i = 5 the index is 3 and the extent 3"},
    {"n * m", "for i in 0..n * m { Y[0] = X[i] }", NULL},
    {"n * m", "for i in 0..n { for j in 0..m { Y[0] = X[i * m + j] } }", NULL},
    {"n + m", "for i in 0..n { for j in 0..m { Y[0] = X[i + j] } }", NULL},
    {"n + 1", "for i in 0..n { Y[0] = X[i + 2] }",
     "for example, with n = 1, i = 0 the index is 2 and the extent 2"},
    {"n", "for i in 0..n { Y[0] = X[i / m] }", NULL},
    {"n", "for i in 0..n { Y[0] = X[int(X[i])] }", NULL},
};

// Return what the pass says of a sample, in the arena; NULL for nothing.
static const char *judge(struct arena *a, const struct sample *sample)
{
    struct arena scratch = {0};
    struct str_table names = {.arena = a};
    struct diag_list diags = {.arena = a};
    struct pass p = {
        .arena = a, .scratch = &scratch, .names = &names, .diags = &diags};
    const struct pass_options options = {.checked = true};
    const char *text = "";
    p.kernel = kernel_text(
        a, arena_printf(a,
                        "kernel k(n: int, m: int, X: f32[%s]) -> Y: f32[8] "
                        "{\n%s\n}\n",
                        sample->size, sample->body));
    bool good = passes_run_one(&p, PASS_bounds, &options);
    assert_int_equal(good, diags.errors == 0);
    if (diags.errors) {
        const struct diag *d = &diags.all.at[0];
        assert_int_equal(d->code, D_range);
        text = d->notes.at[1].text;
    }
    arena_reset(&scratch);
    return good ? NULL : text;
}

static void accesses_are_judged(void **state)
{
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const char *said = judge(&a, &samples[i]), *wanted = samples[i].example;
        if (!said != !wanted || (said && strcmp(said, wanted) != 0))
            fail_msg("X: f32[%s], %s\n%s", samples[i].size, samples[i].body,
                     said ? said : "is accepted");
    }
    arena_reset(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_are_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
