// No access that the executor finds faulty is called proved: in every file of
// tests/simt/faults each line that is marked with an access outside of its array,
// or with a race, has a claim of that kind which is open.  Of tests/check/faulty one
// of the lines that are marked has.

#include "tests/unit/support/plants.h"
#include "tests/unit/support/specimen.h"

#include "passes/proof/proof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FILES_LEAST = 40, PLANTED_LEAST = 90 };

// A fault, as files name it, and the claim that it refutes.
static const struct fault {
    const char *name;
    enum proof_claim claim;
} faults[] = {
    {"out-of-bounds", CLAIM_bounds},    {"race-block", CLAIM_block_race},
    {"race-grid", CLAIM_grid_race},     {"async-early", CLAIM_block_race},
    {"async-source", CLAIM_block_race},
};

// What was compared.
struct counts {
    unsigned faulty, proved;
};

// Return whether an item is of a line, an array and a claim.
static bool is_of(const struct proof_item *item, unsigned line,
                  const char *array, size_t length, enum proof_claim claim)
{
    return item->claim == claim && item->span.source &&
           source_line(item->span.source, item->span.from).number == line &&
           strlen(item->buffer->name) == length &&
           memcmp(item->buffer->name, array, length) == 0;
}

// Return whether a claim about an array in a line is proved for all accesses of
// a variant; *n counts the claims.
static bool is_proved(const struct proof *p, unsigned line, const char *array,
                      size_t length, enum proof_claim claim, unsigned *n)
{
    bool all = true;
    for (size_t i = 0; p && i < p->items.n; i++) {
        if (!is_of(&p->items.at[i], line, array, length, claim))
            continue;
        ++*n;
        all &= p->items.at[i].verdict == PROOF_PROVED;
    }
    return all;
}

// Check what a line is marked with.  Returns the number of wrong proofs.
static unsigned check_line(const struct compilation *c, const char *name,
                           unsigned number, const char *line,
                           struct counts *counts)
{
    const char *mark = strstr(line, "//! ");
    unsigned wrong = 0;
    for (size_t i = 0; mark && i < sizeof faults / sizeof *faults; i++) {
        size_t skip = strlen(faults[i].name);
        const char *array = mark + 4 + skip + 1;
        if (strncmp(mark + 4, faults[i].name, skip) != 0)
            continue;
        for (size_t v = 0; v < c->variants.n; v++) {
            unsigned n = 0;
            bool all = is_proved(c->variants.at[v].proof, number, array,
                                 strcspn(array, "["), faults[i].claim, &n);
            counts->faulty += n > 0;
            if (n && all) {
                print_error("%s:%u: a fault is called proved\n", name, number);
                wrong++;
            }
        }
    }
    return wrong;
}

// Check a file.  Returns the number of wrong proofs.
static unsigned check_text(const char *name, const struct buf *text,
                           struct counts *counts)
{
    struct compile_options options = {.has_proofs = true};
    struct compilation c;
    unsigned wrong = 0, number = 1;
    compile_start(&c);
    assert_true(compile_add(&c, name, text->data, text->n));
    assert_true(compile_lower(&c, &options));
    for (const char *line = text->data; *line; number++) {
        size_t length = strcspn(line, "\n");
        wrong += check_line(&c, name, number,
                            arena_copy(&c.arena, line, length), counts);
        line += length + (line[length] != 0);
    }
    for (size_t v = 0; v < c.variants.n; v++) {
        const struct proof *p = c.variants.at[v].proof;
        for (size_t i = 0; p && i < p->items.n; i++)
            counts->proved += p->items.at[i].verdict == PROOF_PROVED;
    }
    compile_end(&c);
    return wrong;
}

// Check a file of a folder.  Returns the number of wrong proofs.
static unsigned check_file(const char *folder, const char *name, bool is_twin)
{
    struct counts counts = {0, 0};
    struct buf text = {0};
    char path[4096];
    (void)is_twin;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_true(specimen_read(path, &text));
    unsigned wrong = check_text(name, &text, &counts);
    buf_free(&text);
    return wrong;
}

// Return whether a text's first line, "// class: NAME NAME | ...", names a fault.
static bool is_of_class(const char *text, const char *fault)
{
    const char *end = strchr(text, '|'), *at = strstr(text, fault);
    size_t length = strlen(fault);
    return end && at && at < end && at[-1] == ' ' && at[length] == ' ';
}

// Return whether a line of a text is marked.
static bool is_marked(const char *text, unsigned number)
{
    for (; number > 1; number--)
        text += strcspn(text, "\n") + 1;
    const char *mark = strstr(text, "//!");
    return mark && mark < text + strcspn(text, "\n");
}

// Return whether a claim is open in a marked line of a text; true where none is
// made in any.
static bool is_open_there(const struct compilation *c, const char *text,
                          enum proof_claim claim)
{
    bool is_claimed = false;
    for (size_t v = 0; v < c->variants.n; v++) {
        const struct proof *p = c->variants.at[v].proof;
        for (size_t i = 0; p && i < p->items.n; i++) {
            const struct proof_item *item = &p->items.at[i];
            if (item->claim != claim || !item->span.source ||
                !is_marked(
                    text,
                    source_line(item->span.source, item->span.from).number))
                continue;
            if (item->verdict == PROOF_OPEN)
                return true;
            is_claimed = true;
        }
    }
    return !is_claimed;
}

// Check a file whose faults are named by class.  Returns the number of wrong
// proofs.
static unsigned check_planted(const char *folder, const char *name,
                              bool is_twin)
{
    struct compile_options options = {.has_proofs = true};
    struct compilation c;
    struct buf text = {0};
    char path[4096];
    unsigned wrong = 0;
    (void)is_twin;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_true(specimen_read(path, &text));
    compile_start(&c);
    assert_true(compile_add(&c, name, text.data, text.n));
    assert_true(compile_lower(&c, &options));
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (!is_of_class(text.data, faults[i].name) ||
            is_open_there(&c, text.data, faults[i].claim))
            continue;
        print_error("%s: %s is called proved\n", name, faults[i].name);
        wrong++;
    }
    compile_end(&c);
    buf_free(&text);
    return wrong;
}

static void calls_no_class_proved(void **state)
{
    (void)state;
    plants_check("tests/check/faulty", ".ing", PLANTED_LEAST, check_planted,
                 false);
}

static void calls_no_fault_proved(void **state)
{
    (void)state;
    plants_check("tests/simt/faults", ".ing", FILES_LEAST, check_file, false);
}

// The same kernels have many claims, and most of those that are no fault are
// proved: the test above compares something.
static void claims_something_of_faults(void **state)
{
    static const char *const names[] = {"race-tree", "oob-tail",
                                        "race-grid-stencil", "race-transpose"};
    struct counts counts = {0, 0};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct buf text = {0};
        char path[4096];
        snprintf(path, sizeof path, "%s/tests/simt/faults/%s.ing",
                 getenv("SOURCE_DIR"), names[i]);
        assert_true(specimen_read(path, &text));
        assert_int_equal(check_text(names[i], &text, &counts), 0);
        buf_free(&text);
    }
    assert_true(counts.faulty >= sizeof names / sizeof *names);
    assert_true(counts.proved >= 2 * counts.faulty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_no_fault_proved),
        cmocka_unit_test(calls_no_class_proved),
        cmocka_unit_test(claims_something_of_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
