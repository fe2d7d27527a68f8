// Random index arithmetic keeps its value: kernels made of random sums,
// quotients, remainders, comparisons and branches over loop variables and
// sizes are evaluated before the pipeline and after each of its passes.

#include "ir/copy.h"
#include "ir/eval.h"
#include "ir/text.h"
#include "passes/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { KERNELS = 1500 / TEST_SHARE, ELEMENTS_MOST = 12 * 12 * 8 };

static const enum pass_name pipeline[] = {
#define STEP(name, ...) PASS_##name,
#include "passes/passes.def"
#undef STEP
};

enum { N_STEPS = sizeof pipeline / sizeof *pipeline };

// A kernel being written.
struct writer {
    struct buf text;
    uint64_t random; // state of the generator
};

// Return the next random number below n.
static unsigned below(struct writer *w, unsigned n)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (unsigned)((w->random >> 11) % n);
}

// Append one of n texts.
static void pick(struct writer *w, unsigned n, const char *const *texts)
{
    buf_text(&w->text, texts[below(w, n)]);
}

static void write_condition(struct writer *w, int depth);

// Append a divisor that is not 0.
static void write_divisor(struct writer *w)
{
    static const char *const names[] = {"n", "m", "8"};
    static const char *const numbers[] = {"2", "3", "4", "8", "12", "16"};
    if (below(w, 4) == 0)
        pick(w, 3, names);
    else
        pick(w, 6, numbers);
}

// Append a random index expression.
static void write_index(struct writer *w, int depth)
{
    static const char *const leaves[] = {"i", "j", "k", "n", "m",
                                         "1", "3", "4", "8", "i"};
    static const char *const sums[] = {" + ", " - ", " + "};
    static const char *const factors[] = {"2", "3", "4", "8", "n", "m", "k"};
    static const char *const quotients[] = {" / ", " % "};
    static const char *const extremes[] = {"min(", "max("};
    unsigned kind = depth ? below(w, 10) : 0;
    if (kind == 0) {
        pick(w, 10, leaves);
        return;
    }
    if (kind == 1) {
        pick(w, 2, extremes);
        write_index(w, depth - 1);
        buf_text(&w->text, ", ");
        write_index(w, depth - 1);
        buf_text(&w->text, ")");
        return;
    }
    buf_text(&w->text, "(");
    if (kind == 2) {
        write_condition(w, depth - 1);
        buf_text(&w->text, " ? ");
        write_index(w, depth - 1);
        buf_text(&w->text, " : ");
        write_index(w, depth - 1);
    } else if (kind < 6) {
        write_index(w, depth - 1);
        pick(w, 3, sums);
        write_index(w, depth - 1);
    } else if (kind < 8) {
        write_index(w, depth - 1);
        buf_text(&w->text, " * ");
        pick(w, 7, factors);
    } else {
        write_index(w, depth - 1);
        pick(w, 2, quotients);
        write_divisor(w);
    }
    buf_text(&w->text, ")");
}

// Append a random condition.
static void write_condition(struct writer *w, int depth)
{
    static const char *const comparisons[] = {" < ",  " <= ", " > ",
                                              " >= ", " == ", " != "};
    static const char *const joins[] = {" && ", " || "};
    buf_text(&w->text, "(");
    if (depth > 1 && below(w, 3) == 0) {
        write_condition(w, depth - 1);
        pick(w, 2, joins);
        write_condition(w, depth - 1);
    } else {
        write_index(w, depth - 1 > 0 ? depth - 1 : 0);
        pick(w, 6, comparisons);
        write_index(w, depth - 1 > 0 ? depth - 1 : 0);
    }
    buf_text(&w->text, ")");
}

// Append a random assignment to the element of the loops around.
static void write_store(struct writer *w)
{
    buf_text(&w->text, "B[i, j, k] = i64(");
    write_index(w, 4);
    buf_text(&w->text, ")\n");
}

// Write a kernel.  `limits` are the conditions on its sizes.
static void write_kernel(struct writer *w, const char *limits)
{
    w->text.n = 0;
    buf_printf(&w->text, "kernel r(n: int, m: int) -> B: i64[n, m, 8]%s {\n",
               limits);
    buf_text(&w->text, "for i in 0..n @block.x { for j in 0..m {\n"
                       "for k in 0..8 @thread.x {\n");
    if (below(w, 2)) {
        buf_text(&w->text, "let i2 = ");
        write_index(w, 2);
        buf_text(&w->text, "\nif i2 < ");
        write_index(w, 1);
        buf_text(&w->text, " { B[i, j, k] = i64(i2) }\n");
    }
    buf_text(&w->text, "if ");
    write_condition(w, 3);
    buf_text(&w->text, " {\n");
    write_store(w);
    buf_text(&w->text, "} else {\n");
    write_store(w);
    buf_text(&w->text, "}\n} } } }\n");
}

// The values that a kernel computes.
struct values {
    int64_t at[ELEMENTS_MOST];
};

// Evaluate a kernel.
static void run(struct arena *a, const struct ir_kernel *k, int64_t n,
                int64_t m, struct values *out, const char *text,
                const char *after)
{
    memset(out, 0, sizeof *out);
    struct eval_argument args[] = {
        {.scalar.i = n},
        {.scalar.i = m},
        {.data = out->at, .size = (size_t)(n * m * 8) * sizeof *out->at}};
    struct eval_result r = ir_eval(a, k, args, 0);
    if (r.status != EVAL_DONE)
        fail_msg("after %s: %s\n%s", after, r.text, text);
}

// Run the pipeline on a kernel and compare after each pass.
static void test_text(const struct buf *text, int64_t n, int64_t m)
{
    struct arena arena = {0}, scratch = {0};
    struct str_table names = {.arena = &arena};
    struct diag_list diags = {.arena = &arena};
    struct source source = {"random", text->data, text->n};
    struct ir_kernel *k = ir_parse_kernel(&arena, &names, &source, &diags);
    struct values expected, got;
    if (!k)
        fail_msg("does not parse:\n%s", text->data);
    struct pass p = {.kernel = k,
                     .arena = &arena,
                     .scratch = &scratch,
                     .names = &names,
                     .diags = &diags};
    struct pass_options options = {.checked = true};
    run(&arena, k, n, m, &expected, text->data, "parsing");
    for (int i = 0; i < N_STEPS; i++) {
        const char *pass = pass_text(pipeline[i]);
        if (!passes_run_one(&p, pipeline[i], &options))
            fail_msg("%s failed on\n%s", pass, text->data);
        run(&arena, k, n, m, &got, text->data, pass);
        if (memcmp(&expected, &got, sizeof got) != 0)
            fail_msg("n = %lld, m = %lld: differs after %s:\n%s", (long long)n,
                     (long long)m, pass, text->data);
    }
    arena_reset(&scratch);
    arena_reset(&arena);
}

static void random_arithmetic_keeps_its_value(void **state)
{
    static const struct {
        const char *limits;
        int64_t n, m;
    } cases[] = {
        {"", 5, 7},
        {" where n % 4 == 0, m >= 3", 8, 3},
        {" where n <= m, m % 3 == 0", 4, 9},
        {" where n == 12, m <= 1000000", 12, 2},
    };
    struct writer w = {.random = 88172645463325252u};
    (void)state;
    for (int i = 0; i < KERNELS; i++) {
        write_kernel(&w, cases[i % 4].limits);
        test_text(&w.text, cases[i % 4].n, cases[i % 4].m);
    }
    buf_free(&w.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_arithmetic_keeps_its_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
