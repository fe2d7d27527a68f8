// Kernels written as text inside tests.

#include "kernel_text.h"

#include "ir/check.h"
#include "ir/text.h"
#include "ir/walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct ir_kernel *kernel_text_unchecked(struct arena *a, const char *text)
{
    struct source *source = arena_new(a, struct source);
    struct str_table names = {.arena = a};
    struct diag_list diags = {.arena = a};
    *source = (struct source){"test.ing", text, strlen(text)};
    struct ir_kernel *k = ir_parse_kernel(a, &names, source, &diags);
    if (!k || diags.errors) {
        struct buf out = {0};
        diag_render(&diags, (struct diag_style){false}, &out);
        print_error("%s", out.data);
        buf_free(&out);
        fail();
    }
    return k;
}

struct ir_kernel *kernel_text(struct arena *a, const char *text)
{
    struct ir_kernel *k = kernel_text_unchecked(a, text);
    const char *faults = ir_check(a, k);
    if (faults) {
        print_error("%s", faults);
        fail();
    }
    return k;
}

const char *kernel_printed(struct arena *a, const struct ir_kernel *k)
{
    struct buf out = {0};
    ir_print_kernel(&out, k);
    const char *text = arena_copy(a, out.data, out.n);
    buf_free(&out);
    return text;
}

struct ir_stmt *kernel_stmt(struct ir_kernel *k, enum ir_stmt_kind kind)
{
    ir_foreach_stmt(s, &k->body)
        if (s->kind == kind)
            return s;
    fail();
    return NULL;
}

void kernel_run(const struct ir_kernel *k, const struct eval_argument *args)
{
    struct arena a = {0};
    struct eval_result r = ir_eval(&a, k, args, 0);
    if (r.status != EVAL_DONE) {
        print_error("%s\n", r.text);
        fail();
    }
    arena_reset(&a);
}

void kernel_stops(const struct ir_kernel *k, const struct eval_argument *args,
                  enum eval_status status, const char *words)
{
    struct arena a = {0};
    struct eval_result r = ir_eval(&a, k, args, 100000);
    assert_int_equal(r.status, status);
    if (!strstr(r.text, words)) {
        print_error("`%s` is not in: %s\n", words, r.text);
        fail();
    }
    arena_reset(&a);
}
