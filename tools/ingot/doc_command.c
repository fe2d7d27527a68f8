// Sections of the reference on the command: architectures, subcommands,
// options, diagnostics.

#include "tools/ingot/doc.h"

#include "tools/ingot/cli.h"
#include "tools/ingot/options.h"

#include <stdio.h>
#include <string.h>

// Return which rows of features.def an architecture has.
static const char *features_of(struct doc *d, const struct nvptx_target *t)
{
    const char *text = "";
#define NEEDED(name, set, ptx, diagnostic)                                     \
    if (nvptx_target_in(t, set))                                               \
        text = arena_printf(d->arena, "%s%s%s", text, *text ? ", " : "; ",     \
                            #name);
#define PREFERRED(name, set, ptx) NEEDED(name, set, ptx, 0)
#include "nvptx/features.def"
#undef NEEDED
#undef PREFERRED
    return text;
}

void doc_add_architectures(struct doc *d)
{
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n);
    for (size_t i = 0; i < n; i++) {
        const struct nvptx_target *t = &all[i];
        doc_add(d, t->name, t->name,
                arena_printf(d->arena,
                             "%s; PTX %u.%u; a block has at most "
                             "%u KiB of shared memory%s",
                             t->kind == 'a' ? "for this GPU only"
                             : t->kind == 'f'
                                 ? "for this GPU and later ones of "
                                   "its family"
                                 : "for newer GPUs of the "
                                   "same major version, too",
                             t->ptx / 10, t->ptx % 10, t->most_shared / 1024,
                             features_of(d, t)));
    }
}

// Append an option as a line of a list.
static void list_option(void *out, const struct argp_option *o)
{
    struct arena a = {0};
    buf_printf(out, "- `%s`: %s\n", option_text(&a, o), o->doc);
    arena_reset(&a);
}

// Append the options of a command.
static bool more_of_command(const struct doc_entry *e, struct buf *out)
{
    const struct command_row *c = e->of;
    options_each(c->argp, list_option, out);
    return true;
}

void doc_add_commands(struct doc *d)
{
    for (const struct command_row *c = command_rows; c->name; c++) {
        struct doc_entry *e =
            doc_add(d, c->name,
                    arena_printf(d->arena, "ingot %s [OPTION...] %s", c->name,
                                 c->argp->args_doc),
                    c->argp->doc);
        e->of = c;
        e->more = c->argp->options ? more_of_command : NULL;
    }
}

// An option that is looked for.
struct search {
    const struct argp_option *wanted;
    bool is_found;
};

// Note whether this is the option that is looked for.
static void compare_option(void *context, const struct argp_option *o)
{
    struct search *s = context;
    s->is_found |= o == s->wanted;
}

// Return the commands that take an option.
static const char *takers(struct doc *d, const struct argp_option *o)
{
    const char *text = "";
    for (const struct command_row *c = command_rows; c->name; c++) {
        struct search s = {.wanted = o};
        options_each(c->argp, compare_option, &s);
        if (s.is_found)
            text = arena_printf(d->arena, "%s%s`%s`", text, *text ? ", " : "",
                                c->name);
    }
    return text;
}

// Add an option, unless another command has added it.
static void add_option(void *doc, const struct argp_option *o)
{
    struct doc *d = doc;
    for (size_t i = 0; i < d->entries.n; i++)
        if (d->entries.at[i].of == o)
            return;
    char *letter = arena_printf(d->arena, "%c", o->key);
    struct doc_entry *e =
        doc_add(d, o->name ? o->name : letter, option_text(d->arena, o),
                arena_printf(d->arena, "%s (%s)", o->doc, takers(d, o)));
    e->of = o;
    e->also = o->name && option_has_letter(o) ? letter : NULL;
}

void doc_add_options(struct doc *d)
{
    for (const struct command_row *c = command_rows; c->name; c++)
        options_each(c->argp, add_option, d);
}

// Return the first sentence of an explanation.
static const char *first_sentence(struct arena *a, const char *text)
{
    size_t n = 0;
    while (text[n] && strncmp(text + n, "\n  ", 3) != 0 &&
           !((text[n] == '.' || text[n] == ':') &&
             (!text[n + 1] || strchr(" \n", text[n + 1]))))
        n++;
    char *sentence = arena_copy(a, text, n);
    for (char *at = sentence; *at; at++)
        if (*at == '\n')
            *at = ' ';
    return sentence;
}

// Append the whole explanation.
static bool more_of_diagnostic(const struct doc_entry *e, struct buf *out)
{
    enum diag_code code;
    if (diag_find(e->name, &code))
        buf_printf(out, "%s\n", diag_explanation(code));
    return true;
}

void doc_add_diagnostics(struct doc *d)
{
    for (int i = 0; i < D_COUNT; i++) {
        enum diag_code code = (enum diag_code)i;
        const char *text = diag_code_text(code);
        doc_add(d, text, text,
                arena_printf(d->arena, "%s.",
                             first_sentence(d->arena, diag_explanation(code))))
            ->more = more_of_diagnostic;
    }
}
