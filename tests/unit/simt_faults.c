// Planted faults: every file of tests/simt/faults is found to have just the
// faults that it says, where it says, whatever the order of the threads; its
// repaired twin has none.  tests/simt/README.md tells how the files are
// written.

#include "tests/unit/support/plants.h"
#include "tests/unit/support/specimen.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FILES_LEAST = 40, STEPS_MOST = 1 << 22 };

// What a file says of one line.
struct mark {
    unsigned line;
    bool is_required; // else it may be found or not
    bool is_other;    // the line has only a part in what others say
    const char *text; // "race-block part[64] 0:64 with 0:0"
};

// A file.
struct plant {
    struct arena arena;
    const char *name, *text;
    struct VEC(struct mark) marks;
};

// ---- Reading --------------------------------------------------------------

// Return a part of a line without spaces around it.
static const char *trimmed(struct arena *a, const char *from, const char *to)
{
    while (from < to && isspace((unsigned char)*from))
        from++;
    while (from < to && isspace((unsigned char)to[-1]))
        to--;
    return arena_copy(a, from, (size_t)(to - from));
}

// Read the mark of a line, if it has one.
static void read_mark(struct plant *p, unsigned number, const char *line)
{
    const char *at = strstr(line, "//! "), *perhaps = strstr(line, "//? ");
    struct mark m = {.line = number, .is_required = at};
    at = at ? at : perhaps;
    if (!at)
        return;
    const char *end = strstr(at, "// fixed:");
    m.text = trimmed(&p->arena, at + 4, end ? end : at + strlen(at));
    m.is_other = strcmp(m.text, "other") == 0;
    vec_push(&p->arena, &p->marks, m);
}

// Take a file apart: its marks, and the text of its repaired twin.
static void read_lines(struct plant *p, struct buf *repaired)
{
    unsigned number = 1;
    for (const char *line = p->text; *line; number++) {
        size_t length = strcspn(line, "\n");
        const char *copy = arena_copy(&p->arena, line, length);
        read_mark(p, number, copy);
        buf_printf(repaired, "%s\n", plant_repaired(copy, "// fixed:"));
        line += length + (line[length] != 0);
    }
}

// ---- Findings as text -----------------------------------------------------

// Append "2" or "2,1": coordinates but for the zeros at their end.
static void print_place(struct buf *out, uint64_t x, uint64_t y, uint64_t z)
{
    buf_printf(out, "%llu", (unsigned long long)x);
    if (y || z)
        buf_printf(out, ",%llu", (unsigned long long)y);
    if (z)
        buf_printf(out, ",%llu", (unsigned long long)z);
}

// Append "0:64", block and thread.
static void print_thread(struct buf *out, const struct simt_thread *t)
{
    print_place(out, t->block[0], t->block[1], t->block[2]);
    buf_char(out, ':');
    print_place(out, t->thread[0], t->thread[1], t->thread[2]);
}

// Append "part[64]".
static void print_element(struct buf *out, const struct simt_finding *f)
{
    buf_printf(out, " %s[", f->array);
    for (uint32_t i = 0; i < f->rank; i++)
        buf_printf(out, "%s%lld", i ? ", " : "", (long long)f->indices[i]);
    if (!f->rank)
        buf_printf(out, "%lld", (long long)f->element);
    buf_char(out, ']');
}

// Return a finding as the marks have it.
static const char *finding_text(struct arena *a, const struct simt_finding *f)
{
    struct buf out = {0};
    buf_text(&out, simt_fault_name(f->fault));
    if (f->array)
        print_element(&out, f);
    if (f->fault != SIMT_FAULT_unwritten) {
        buf_char(&out, ' ');
        print_thread(&out, &f->thread);
    }
    if (f->has_other) {
        buf_text(&out, " with ");
        print_thread(&out, &f->other_thread);
    }
    if (f->missing)
        buf_printf(&out, " missing %s", simt_missing_name(f->missing));
    const char *text = arena_copy(a, out.data, out.n);
    buf_free(&out);
    return text;
}

// Return the length of "race-block part" in such a text: what is the same
// under every policy.
static size_t kind_length(const char *text)
{
    size_t word = strcspn(text, " "), array = strcspn(text, "[");
    return array < strlen(text) ? array : word;
}

// ---- Comparing ------------------------------------------------------------

// Return whether a line is one that the file marks.
static bool is_marked(const struct plant *p, unsigned line)
{
    for (size_t i = 0; i < p->marks.n; i++)
        if (p->marks.at[i].line == line)
            return true;
    return line == 0;
}

// Return whether a finding is what a mark says.  In the first policy every
// word counts, in others threads come in another order.
static bool is_said(const struct plant *p, const struct mark *m,
                    const struct simt_finding *f, const char *text,
                    enum simt_policy policy)
{
    size_t n = kind_length(text);
    bool is_same_kind =
        kind_length(m->text) == n && strncmp(m->text, text, n) == 0;
    if (m->is_other || !is_same_kind)
        return false;
    if (!m->is_required || policy != SIMT_forward)
        return is_marked(p, f->place.line) &&
               (!f->has_other || is_marked(p, f->other.line));
    return strcmp(m->text, text) == 0 &&
           (f->place.line == m->line || !f->place.line) &&
           (!f->has_other || is_marked(p, f->other.line));
}

// Return whether a mark says what is found.
static bool is_expected(const struct plant *p, const struct simt_finding *f,
                        const char *text, enum simt_policy policy)
{
    for (size_t i = 0; i < p->marks.n; i++)
        if (is_said(p, &p->marks.at[i], f, text, policy))
            return true;
    return false;
}

// Return whether something found is what a mark says.
static bool is_found(struct plant *p, const struct mark *m,
                     const struct simt_result *r, enum simt_policy policy)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct simt_finding *f = &r->findings[i];
        if (is_said(p, m, f, finding_text(&p->arena, f), policy))
            return true;
    }
    return false;
}

// Print what is wrong with a plant.
static unsigned wrong(const struct plant *p, enum simt_policy policy,
                      const char *what, unsigned line, const char *text)
{
    print_error("%s:%u: %s: %s: %s\n", p->name, line, simt_policy_name(policy),
                what, text);
    return 1;
}

// Compare what was found with what should be; returns what differs.
static unsigned compare(struct plant *p, const struct simt_result *r,
                        enum simt_policy policy)
{
    unsigned failures = 0;
    for (size_t i = 0; i < p->marks.n; i++) {
        const struct mark *m = &p->marks.at[i];
        if (m->is_required && !m->is_other && !is_found(p, m, r, policy))
            failures += wrong(p, policy, "not found", m->line, m->text);
    }
    for (size_t i = 0; i < r->n; i++) {
        const struct simt_finding *f = &r->findings[i];
        const char *text = finding_text(&p->arena, f);
        if (simt_fault_severity(f->fault) == SIMT_ERROR &&
            !is_expected(p, f, text, policy))
            failures += wrong(p, policy, "found", f->place.line, text);
    }
    return failures;
}

// ---- Running --------------------------------------------------------------

// Run the one kernel of a file.  Returns false after a complaint.
static bool run_once(struct plant *p, struct specimen *s,
                     struct simt_code *code, const struct simt_run *run,
                     struct simt_result *result)
{
    const char *sizes = specimen_header(&p->arena, p->text, "// sizes:", 0);
    struct eval_argument *arguments =
        specimen_arguments(&p->arena, s->c.variants.at[0].kernel,
                           sizes ? sizes : "", specimen_counting);
    return (arguments && simt_run(code, arguments, run, result, &s->c.diags)) ||
           !wrong(p, run->policy, "cannot run", 0, "");
}

// Run it with atomics in each order that a run shows, as long as nothing is
// found; returns what differs from the marks.
static unsigned run_orders(struct plant *p, struct specimen *s,
                           struct simt_code *code, struct simt_run run)
{
    static struct simt_result result;
    if (!run_once(p, s, code, &run, &result))
        return 1;
    size_t n = result.choices;
    unsigned failures = p->marks.n ? 0 : compare(p, &result, run.policy);
    while (run.choice++ < n && (!p->marks.n || !result.n)) {
        if (!run_once(p, s, code, &run, &result))
            return failures + 1;
        failures += p->marks.n ? 0 : compare(p, &result, run.policy);
    }
    return failures + (p->marks.n ? compare(p, &result, run.policy) : 0);
}

// Run the one kernel of a file under each policy; returns what differs from
// the marks.
static unsigned run_policies(struct plant *p, struct specimen *s,
                             struct simt_code *code)
{
    static struct simt_result result;
    const char *resident =
        specimen_header(&p->arena, p->text, "// resident: ", 0);
    bool has_orders = specimen_header(&p->arena, p->text, "// orders:", 0);
    unsigned failures = 0;
    for (int i = 0; i < SIMT_POLICIES; i++) {
        struct simt_run run = {.policy = (enum simt_policy)i,
                               .seed = 1,
                               .resident =
                                   resident ? (uint32_t)atoi(resident) : 1,
                               .most_steps = STEPS_MOST};
        if (has_orders)
            return run_orders(p, s, code, run);
        if (!run_once(p, s, code, &run, &result))
            return failures + 1;
        failures += compare(p, &result, run.policy);
    }
    return failures;
}

// Compile a file and run it.
static unsigned run_text(struct plant *p, const char *text, size_t size)
{
    struct specimen s;
    struct simt_code *code = NULL;
    unsigned failures = 1;
    bool is_open = specimen_open(&s, p->name, text, size);
    const char *target = specimen_header(&p->arena, p->text, "// target: ", 0);
    if (target)
        s.options.target = nvptx_target_find(target, &s.c.diags);
    if (is_open && s.c.variants.n)
        code = simt_compile(&s.c.arena, s.c.variants.at[0].kernel, &s.options,
                            &s.c.diags);
    if (code)
        failures = run_policies(p, &s, code);
    else
        specimen_complain(&s.c.diags);
    simt_free(code);
    specimen_close(&s);
    return failures;
}

// Check a file, or its twin.  Returns what is wrong.
static unsigned check_file(const char *folder, const char *name, bool is_twin)
{
    struct plant p = {.name = name};
    struct buf text = {0}, twin = {0};
    const char *path = arena_printf(&p.arena, "%s/%s", folder, name);
    assert_true(specimen_read(path, &text));
    p.text = text.data;
    read_lines(&p, &twin);
    unsigned failures = !p.marks.n || strcmp(p.text, twin.data) == 0;
    if (failures)
        print_error("%s: no mark, or no repair\n", name);
    if (is_twin)
        p.marks.n = 0;
    failures += is_twin ? run_text(&p, twin.data, twin.n)
                        : run_text(&p, text.data, text.n);
    buf_free(&text);
    buf_free(&twin);
    arena_reset(&p.arena);
    return failures;
}

static void finds_each_fault_and_nothing_else(void **state)
{
    (void)state;
    plants_check("tests/simt/faults", ".ing", FILES_LEAST, check_file, false);
}

static void finds_nothing_in_repaired_kernels(void **state)
{
    (void)state;
    plants_check("tests/simt/faults", ".ing", FILES_LEAST, check_file, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_each_fault_and_nothing_else),
        cmocka_unit_test(finds_nothing_in_repaired_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
