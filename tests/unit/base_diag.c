// Diagnostics: the table, the list with its limit, and how they are printed.

#include "ir/base/diag.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// A list of diagnostics about one text.
struct fixture {
    struct arena arena;
    struct diag_list diags;
    struct source source;
    struct buf out; // what was printed
};

static int start(void **state)
{
    static struct fixture f;
    f = (struct fixture){.source = {"k.ing", "", 0}};
    f.diags.arena = &f.arena;
    *state = &f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;
    arena_reset(&f->arena);
    buf_free(&f->out);
    return 0;
}

// Set the text and return the span of its bytes from..to.
static struct span about(struct fixture *f, const char *text, uint32_t from,
                         uint32_t to)
{
    f->source.text = text;
    f->source.size = strlen(text);
    return (struct span){&f->source, from, to};
}

// Check what is printed, without colours.
static void prints(struct fixture *f, const char *expected)
{
    buf_free(&f->out);
    diag_render(&f->diags, (struct diag_style){false}, &f->out);
    assert_string_equal(f->out.data, expected);
}

// Every row has a code of its own, in order, and texts in house style.
static void has_rows_in_style(void **state)
{
    (void)state;
    for (int i = 0; i < D_COUNT; i++) {
        enum diag_code found;
        const char *code = diag_code_text((enum diag_code)i);
        const char *more = diag_explanation((enum diag_code)i);
        assert_int_equal(strlen(code), 5);
        assert_true(i == 0 ||
                    strcmp(diag_code_text((enum diag_code)(i - 1)), code) < 0);
        assert_true(diag_find(code, &found) && (int)found == i);
        assert_true(strlen(more) > 20);
        for (const char *line = more; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            assert_true(strcspn(line, "\n") <= 80);
        }
    }
}

static void finds_codes(void **state)
{
    enum diag_code found;
    (void)state;
    assert_true(diag_find("e0301", &found));
    assert_int_equal(found, D_unknown_name);
    assert_false(diag_find("E9999", &found));
    assert_false(diag_find("", &found));
}

static void prints_all_parts(void **state)
{
    struct fixture *f = *state;
    struct span span = about(f, "let x = 1\nC[i] = y + x\n", 17, 18);
    diag_error(&f->diags, span, D_unknown_name, "y");
    diag_label(&f->diags, "not in %s", "`f`");
    diag_note(&f->diags, (struct span){&f->source, 4, 5}, "there is\nalso");
    diag_help(&f->diags, "did you mean `%s`?", "x");
    assert_int_equal(f->diags.errors, 1);
    prints(f, "error[E0301]: unknown name `y`\n"
              "  --> k.ing:2:8\n"
              "      |\n"
              "    2 | C[i] = y + x\n"
              "      |        ^ not in `f`\n"
              "note: there is\n"
              "      also\n"
              "  --> k.ing:1:5\n"
              "      |\n"
              "    1 | let x = 1\n"
              "      |     ^\n"
              "help: did you mean `x`?\n");
}

// Below the rest, a line for each step, with its place if that is known.
static void prints_traces(void **state)
{
    struct fixture *f = *state;
    struct span span = about(f, "let x = 1\nC[i] = y + x\n", 17, 18);
    diag_error(&f->diags, (struct span){0}, D_unknown_name, "y");
    diag_help(&f->diags, "try");
    diag_trace(&f->diags, "with n=%d", 4);
    diag_step(&f->diags, span, "thread 1", "reads `y`");
    diag_step(&f->diags, (struct span){0}, "thread 2", "ends");
    prints(f, "error[E0301]: unknown name `y`\n"
              "help: try\n"
              "trace: with n=4\n"
              "      k.ing:2:8: thread 1 reads `y`\n"
              "      thread 2 ends\n");
}

static void prints_without_place(void **state)
{
    struct fixture *f = *state;
    diag_warning(&f->diags, (struct span){0}, D_cannot_read, "a", "no");
    assert_int_equal(f->diags.errors, 0);
    prints(f, "warning[E0101]: cannot read `a`: no\n");
}

// Tabs are one blank, characters beyond ASCII one column, others a `?`.
static void underlines_columns(void **state)
{
    struct fixture *f = *state;
    struct span span = about(f, "\t\xc3\xa9 = \xe2\x82\xac\x01\xff + y", 6, 11);
    diag_error(&f->diags, span, D_bad_character);
    prints(f, "error[E0104]: this character means nothing here\n"
              "  --> k.ing:1:7\n"
              "      |\n"
              "    1 |  \xc3\xa9 = \xe2\x82\xac?? + y\n"
              "      |      ^^^\n");
}

// A span of several lines is underlined to the end of its first.
static void underlines_first_line(void **state)
{
    struct fixture *f = *state;
    struct span span = about(f, "f(a,\n  b)\n", 1, 9);
    diag_error(&f->diags, span, D_bad_character);
    prints(f, "error[E0104]: this character means nothing here\n"
              "  --> k.ing:1:2\n"
              "      |\n"
              "    1 | f(a,\n"
              "      |  ^^^\n");
}

// The end of a file and the end of a line have a column of their own.
static void underlines_ends(void **state)
{
    struct fixture *f = *state;
    diag_error(&f->diags, about(f, "ab\n", 2, 3), D_bad_character);
    diag_error(&f->diags, (struct span){&f->source, 3, 3}, D_bad_character);
    prints(f, "error[E0104]: this character means nothing here\n"
              "  --> k.ing:1:3\n"
              "      |\n"
              "    1 | ab\n"
              "      |   ^\n"
              "error[E0104]: this character means nothing here\n"
              "  --> k.ing:2:1\n");
}

// Lines that no terminal shows are left out.
static void leaves_long_lines_out(void **state)
{
    static char text[400];
    struct fixture *f = *state;
    memset(text, 'x', sizeof text - 1);
    diag_error(&f->diags, about(f, text, 300, 301), D_bad_character);
    prints(f, "error[E0104]: this character means nothing here\n"
              "  --> k.ing:1:301\n");
}

// With colours every escape is closed, and without them nothing else differs.
static void paints(void **state)
{
    struct fixture *f = *state;
    struct buf plain = {0};
    int open = 0;
    diag_error(&f->diags, about(f, "x", 0, 1), D_unknown_name, "x");
    diag_label(&f->diags, "here");
    diag_help(&f->diags, "help");
    diag_render(&f->diags, (struct diag_style){true}, &f->out);
    for (const char *p = f->out.data; *p; p++) {
        if (*p != '\033') {
            buf_char(&plain, *p);
            continue;
        }
        open = strncmp(p, "\033[0m", 4) != 0;
        p = strchr(p, 'm');
    }
    assert_int_equal(open, 0);
    assert_non_null(strstr(f->out.data, "\033[1;31merror\033[0m[E0301]"));
    prints(f, plain.data);
    buf_free(&plain);
}

// Twenty are kept; the others are counted, and their notes go nowhere.
static void keeps_twenty(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < DIAG_MOST + 5; i++) {
        diag_error(&f->diags, (struct span){0}, D_unknown_name, "x");
        diag_label(&f->diags, "label %d", i);
        diag_note(&f->diags, (struct span){0}, "note %d", i);
        diag_help(&f->diags, "help %d", i);
    }
    assert_int_equal(f->diags.errors, DIAG_MOST + 5);
    assert_int_equal(f->diags.all.n, DIAG_MOST);
    assert_int_equal(f->diags.all.at[DIAG_MOST - 1].notes.n, 2);
    diag_render(&f->diags, (struct diag_style){false}, &f->out);
    assert_non_null(strstr(f->out.data, "help: help 19\nand 5 more\n"));
    assert_null(strstr(f->out.data, "help 20"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_rows_in_style),
        cmocka_unit_test(finds_codes),
        cmocka_unit_test_setup_teardown(prints_all_parts, start, end),
        cmocka_unit_test_setup_teardown(prints_traces, start, end),
        cmocka_unit_test_setup_teardown(prints_without_place, start, end),
        cmocka_unit_test_setup_teardown(underlines_columns, start, end),
        cmocka_unit_test_setup_teardown(underlines_first_line, start, end),
        cmocka_unit_test_setup_teardown(underlines_ends, start, end),
        cmocka_unit_test_setup_teardown(leaves_long_lines_out, start, end),
        cmocka_unit_test_setup_teardown(paints, start, end),
        cmocka_unit_test_setup_teardown(keeps_twenty, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
