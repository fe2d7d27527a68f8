// Mutants as files.

#include "tests/unit/support/mutant_file.h"

#include "ir/text.h"

#include <stdio.h>

bool mutant_write(const char *folder, const char *name, const struct tried *of,
                  const struct ir_kernel *mutant)
{
    struct arena a = {0};
    struct buf text = {0};
    const struct ir_kernel *source = of->variant->source;
    const struct ir_kernel *definition =
        source->definition ? source->definition : source;
    struct ir_kernel shown = *mutant;
    shown.name = "mutant";
    shown.params.at = definition->params.at;
    shown.terms.defines = definition->name;
    buf_printf(&text, "// target: %s\n\n", of->specimen->options.target->name);
    ir_print_kernel(&text, definition);
    buf_text(&text, "\n");
    ir_print_kernel(&text, &shown);
    FILE *f = fopen(arena_printf(&a, "%s/%s.ing", folder, name), "w");
    bool ok = f && fwrite(text.data, 1, text.n, f) == text.n;
    ok = f && !fclose(f) && ok;
    buf_free(&text);
    arena_reset(&a);
    return ok;
}
