// Fuzzes the parser: any bytes are a file of kernels and schedules.
//
// It must neither crash nor report success beside errors, and what it parses
// must survive printing: parse(print(k)) == k, printed once more as the same
// text.

#include "frontend/frontend.h"
#include "ir/equal.h"
#include "ir/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What one input needs.
struct run {
    struct arena arena;
    struct str_table names;
    struct diag_list diags;
};

// End the process: a property does not hold.
static void fail(const char *what, const char *detail)
{
    fprintf(stderr, "fuzz_parse: %s: %s\n", what, detail);
    abort();
}

// Return the diagnostics as text, in the arena.
static const char *rendered(struct run *r)
{
    struct buf b = {0};
    diag_render(&r->diags, (struct diag_style){.colour = true}, &b);
    const char *text = arena_copy(&r->arena, b.data, b.n);
    buf_free(&b);
    return text;
}

// Return the text of a kernel as a source, in the arena.
static struct source *printed(struct run *r, const struct ir_kernel *k)
{
    struct buf b = {0};
    struct source *s = arena_new(&r->arena, struct source);
    ir_print_kernel(&b, k);
    *s = (struct source){"printed", arena_copy(&r->arena, b.data, b.n), b.n};
    buf_free(&b);
    return s;
}

// Check that a kernel is the same after printing and parsing.
static void check_kernel(struct run *r, const struct ir_kernel *k)
{
    const char *difference = "";
    struct source *first = printed(r, k);
    struct ir_kernel *again =
        ir_parse_kernel(&r->arena, &r->names, first, &r->diags);
    if (!again)
        fail("the printed kernel does not parse", rendered(r));
    if (!ir_kernel_equal(&r->arena, k, again, &difference))
        fail("parse(print(k)) differs", difference);
    if (strcmp(first->text, printed(r, again)->text) != 0)
        fail("it prints differently", printed(r, again)->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run r = {0};
    r.names.arena = r.diags.arena = &r.arena;
    struct source source = {"input", arena_copy(&r.arena, data, size), size};
    struct program program = {0};
    bool ok =
        frontend_parse(&r.arena, &r.names, &source, false, &r.diags, &program);
    if (ok != !r.diags.errors)
        fail("the result contradicts the diagnostics", rendered(&r));
    for (size_t i = 0; ok && i < program.kernels.n; i++)
        check_kernel(&r, program.kernels.at[i]);
    rendered(&r);
    arena_reset(&r.arena);
    return 0;
}
