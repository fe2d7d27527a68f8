// The library of defs: blocks that are parsed when they are asked for say what they say in
// files that are parsed as a whole, and all of them parse.

#include "support/subject.h"
#include "tools/libingot/library.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

// The library, parsed in one way.
struct parsed {
    struct arena arena;
    struct str_table names;
    struct diag_list diags;
    struct program program;
    int errors; // of the headers
};

// Parse all files, `later` with their blocks put off.
static void parse(struct parsed *p, bool later)
{
    *p = (struct parsed){0};
    p->names.arena = p->diags.arena = &p->arena;
    for (const struct library_file *f = library_files; f->name; f++) {
        struct source *s = arena_new(&p->arena, struct source);
        *s = (struct source){f->name, f->text, f->size};
        if (later)
            frontend_parse_library(&p->arena, &p->names, s, &p->diags,
                                   &p->program);
        else
            frontend_parse(&p->arena, &p->names, s, true, &p->diags,
                           &p->program);
    }
    p->errors = p->diags.errors;
}

// Fail unless two blocks have the same statements at the same places.
static void same_block(const struct sched_block *x, const struct sched_block *y)
{
    assert_int_equal(x->n, y->n);
    for (size_t i = 0; i < x->n; i++) {
        assert_int_equal(x->at[i]->kind, y->at[i]->kind);
        assert_int_equal(x->at[i]->span.from, y->at[i]->span.from);
        assert_int_equal(x->at[i]->span.to, y->at[i]->span.to);
        same_block(&x->at[i]->body, &y->at[i]->body);
    }
}

// Fail unless items are the same; those of `later` have no block before it is read.
static void same_items(const struct sched_items *whole,
                       const struct sched_items *later)
{
    assert_int_equal(whole->n, later->n);
    assert_true(whole->n > 0);
    for (size_t i = 0; i < whole->n; i++) {
        const struct sched_item *x = whole->at[i], *y = later->at[i];
        assert_string_equal(x->name.text, y->name.text);
        assert_int_equal(x->params.n, y->params.n);
        assert_int_equal(y->body.n + y->cases.n, 0);
        sched_read(y);
        sched_read(y);
        same_block(&x->body, &y->body);
        assert_int_equal(x->cases.n, y->cases.n);
        for (size_t k = 0; k < x->cases.n; k++)
            same_block(&x->cases.at[k]->body, &y->cases.at[k]->body);
    }
}

static void blocks_that_are_put_off_are_the_same(void **state)
{
    struct parsed whole, later;
    (void)state;
    parse(&whole, false);
    parse(&later, true);
    assert_int_equal(whole.errors + later.errors, 0);
    same_items(&whole.program.schedules.defs, &later.program.schedules.defs);
    same_items(&whole.program.schedules.rules, &later.program.schedules.rules);
    assert_int_equal(later.diags.errors, 0);
    arena_reset(&whole.arena);
    arena_reset(&later.arena);
}

// Parse the headers of a library of one file; returns whether they have no errors.
static bool parse_headers(struct parsed *p, const struct source *source)
{
    *p = (struct parsed){0};
    p->names.arena = p->diags.arena = &p->arena;
    return frontend_parse_library(&p->arena, &p->names, source, &p->diags,
                                  &p->program);
}

static void faults_are_found_where_they_are_read(void **state)
{
    static const char text[] = "def f(x) { // { in a comment\n"
                               "    refuse(\"a } in a text\")\n"
                               "    return x +\n"
                               "}\n"
                               "def g(x) { return x }\n"
                               "rule r(x) { }\n";
    const struct source source = {"text", text, sizeof text - 1};
    struct parsed p;
    (void)state;
    assert_true(parse_headers(&p, &source));
    assert_int_equal(p.program.schedules.defs.n, 2);
    sched_read(p.program.schedules.defs.at[1]);
    assert_int_equal(p.diags.errors, 0);
    sched_read(p.program.schedules.defs.at[0]);
    assert_int_equal(p.diags.errors, 1);
    sched_read(p.program.schedules.rules.at[0]);
    assert_int_equal(p.diags.errors, 2);
    arena_reset(&p.arena);
}

static void a_block_without_an_end_is_an_error(void **state)
{
    static const char text[] = "def f(x) { return x\n";
    const struct source source = {"text", text, sizeof text - 1};
    struct parsed p;
    (void)state;
    assert_false(parse_headers(&p, &source));
    assert_int_equal(p.diags.all.at[0].code, D_unclosed);
    arena_reset(&p.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_that_are_put_off_are_the_same),
        cmocka_unit_test(faults_are_found_where_they_are_read),
        cmocka_unit_test(a_block_without_an_end_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
