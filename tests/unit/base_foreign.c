// The table of foreign words: what it answers for is nothing that the language
// has, no text is in it twice, and each row says something.

#include "ir/base/foreign.h"
#include "ir/ir.h"
#include "ir/text/lex.h"
#include "ir/type.h"
#include "passes/schedule/prim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    enum foreign_kind kind;
    const char *text, *help;
} rows[] = {
#define FOREIGN(kind, text, help) {FOREIGN_##kind, text, help},
#include "ir/base/foreign.def"
#undef FOREIGN
};
enum { ROWS = sizeof rows / sizeof *rows };

// Return whether a word is a function, a type, a primitive, or reserved.
static bool is_ours(const char *word)
{
    for (int i = 0; i < OP_COUNT; i++) {
        const struct ir_op_info *op = ir_op_info((enum ir_op)i);
        if (op->form == FORM_CALL && strcmp(op->spelling, word) == 0)
            return true;
    }
    for (int i = 0; i < TYPE_COUNT; i++)
        if (strcmp(type_name(type_scalar((enum type_kind)i)), word) == 0)
            return true;
    for (int i = 0; i < PRIM_COUNT; i++)
        if (strcmp(sched_prim_info((enum sched_prim)i)->name, word) == 0)
            return true;
    return lex_is_reserved(word);
}

static void words_are_foreign(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].kind == FOREIGN_TOKEN)
            continue;
        if (is_ours(rows[i].text))
            fail_msg("`%s` is ours", rows[i].text);
    }
}

static void each_row_is_found(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        assert_true(strlen(rows[i].help) > 10);
        assert_string_equal(foreign_help(rows[i].kind, rows[i].text),
                            rows[i].help);
        for (int k = 0; k < i; k++)
            if (rows[k].kind == rows[i].kind &&
                strcmp(rows[k].text, rows[i].text) == 0)
                fail_msg("`%s` is there twice", rows[i].text);
    }
}

static void others_are_not(void **state)
{
    (void)state;
    assert_null(foreign_help(FOREIGN_WORD, "threads"));
    assert_null(foreign_help(FOREIGN_WORD, ";"));
    assert_null(foreign_help(FOREIGN_INFIX, "not"));
    assert_null(foreign_help(FOREIGN_TOKEN, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_foreign),
        cmocka_unit_test(each_row_is_found),
        cmocka_unit_test(others_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
