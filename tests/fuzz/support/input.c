// The properties that several targets check.

#include "input.h"

#include "ir/equal.h"
#include "ir/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void input_open(struct input *in, const uint8_t *data, size_t size)
{
    *in = (struct input){0};
    in->names.arena = in->diags.arena = &in->arena;
    in->source =
        (struct source){"input", arena_copy(&in->arena, data, size), size};
}

void input_close(struct input *in)
{
    arena_reset(&in->arena);
}

void input_fail(const char *what, const char *detail)
{
    fprintf(stderr, "%s: %s\n", what, detail);
    abort();
}

// Return the diagnostics as text, in the arena.
static const char *rendered(struct arena *a, const struct diag_list *diags)
{
    struct buf b = {0};
    diag_render(diags, (struct diag_style){.colour = true}, &b);
    const char *text = arena_copy(a, b.data, b.n);
    buf_free(&b);
    return text;
}

void input_check_diags(struct arena *a, const struct diag_list *diags,
                       bool is_good)
{
    const char *text = rendered(a, diags);
    if (is_good != !diags->errors)
        input_fail("the result contradicts the diagnostics", text);
    for (size_t i = 0; i < diags->all.n; i++)
        if (diags->all.at[i].code == D_pass_fault)
            input_fail("a fault of the compiler", text);
}

// Return the text of a kernel as a source, in the arena.
static struct source *printed(struct arena *a, const struct ir_kernel *k)
{
    struct buf b = {0};
    struct source *s = arena_new(a, struct source);
    ir_print_kernel(&b, k);
    *s = (struct source){"printed", arena_copy(a, b.data, b.n), b.n};
    buf_free(&b);
    return s;
}

void input_check_text(struct input *in, const struct ir_kernel *k)
{
    const char *difference = "";
    struct source *first = printed(&in->arena, k);
    struct ir_kernel *again =
        ir_parse_kernel(&in->arena, &in->names, first, &in->diags);
    if (!again)
        input_fail("the printed kernel does not parse",
                   rendered(&in->arena, &in->diags));
    if (!ir_kernel_equal(&in->arena, k, again, &difference))
        input_fail("parse(print(k)) differs", difference);
    const char *second = printed(&in->arena, again)->text;
    if (strcmp(first->text, second) != 0)
        input_fail("it prints differently", second);
}
