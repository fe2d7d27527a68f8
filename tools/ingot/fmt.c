// ingot fmt FILE...: kernels and schedules in the usual layout.
//
//   ingot fmt f.ing            print it
//   ingot fmt -i f.ing         rewrite the file if that changes it
//   ingot fmt --check f.ing    exit 1 if that would change it

#include "tools/ingot/cli.h"

#include "nvptx/package/output.h"
#include "tools/ingot/layout.h"

#include <stdio.h>
#include <string.h>

// What to do.
struct fmt {
    struct arena arena;
    struct VEC(const char *) files; // in the order of the command line
    bool in_place, is_check;
};

static const struct argp_option options[] = {
    {"in-place", 'i', 0, 0, "rewrite files that are laid out otherwise", 0},
    {"check", 'c', 0, 0, "name such files, and exit with 1", 0},
    {0}};

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct fmt *f = state->input;
    switch (key) {
    case 'i': f->in_place = true; return 0;
    case 'c': f->is_check = true; return 0;
    case ARGP_KEY_ARG:
        if (strcmp(arg, "-") == 0 && f->in_place)
            argp_error(state, "-i cannot rewrite the standard input");
        vec_push(&f->arena, &f->files, arg);
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a file"); return 0;
    case ARGP_KEY_END:
        if (f->in_place && f->is_check)
            argp_error(state, "-i and --check exclude each other");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

// Show or write the new text of a file.
// Returns the exit code that this calls for.
static int deliver(const struct fmt *f, const struct source *old,
                   const struct buf *text, struct diag_list *diags)
{
    struct output file = {old->name, text->data, text->n};
    bool is_same = old->size == text->n &&
                   (!text->n || memcmp(old->text, text->data, text->n) == 0);
    if (f->is_check) {
        if (!is_same)
            printf("%s\n", old->name);
        return is_same ? EXIT_DONE : EXIT_INPUT;
    }
    if (f->in_place)
        return is_same || output_write(diags->arena, NULL, &file, 1, diags)
                   ? EXIT_DONE
                   : EXIT_TOOL;
    return cli_print(text) ? EXIT_DONE : EXIT_TOOL;
}

// Lay out a source and deliver the result.
// Returns the exit code that this calls for, but for what is in `diags`.
static int lay_out(const struct fmt *f, const struct source *source,
                   struct diag_list *diags)
{
    struct str_table names = {.arena = diags->arena};
    struct buf out = {0};
    int code = EXIT_INPUT;
    switch (layout_source(diags->arena, &names, source, diags, &out)) {
    case LAYOUT_DONE: code = deliver(f, source, &out, diags); break;
    case LAYOUT_BAD_TEXT: break;
    case LAYOUT_FAULT:
        fprintf(stderr,
                "ingot fmt: internal error: the layout of %s would change "
                "what it says; nothing was written\n",
                source->name);
        code = EXIT_TOOL;
    }
    buf_free(&out);
    return code;
}

// Read one file and lay it out.
static int run(const struct fmt *f, const char *path)
{
    struct arena arena = {0};
    struct diag_list diags = {.arena = &arena};
    struct buf text = {0};
    struct source source = {.name = path};
    int code = EXIT_DONE;
    if (cli_read(path, &text, &diags)) {
        source.text = text.n ? text.data : "";
        source.size = text.n;
        code = lay_out(f, &source, &diags);
    }
    int reported = cli_report(&diags);
    buf_free(&text);
    arena_reset(&arena);
    return reported > code ? reported : code;
}

const struct argp fmt_argp = {
    options,
    take,
    "FILE...",
    "Lay out kernels and schedules: indentation, spaces, empty lines.  "
    "Comments and line breaks stay.",
    0,
    0,
    0};

int command_fmt(int argc, char **argv)
{
    struct fmt f = {0};
    int code = EXIT_DONE;
    cli_parse(&fmt_argp, argc, argv, &f);
    for (size_t i = 0; i < f.files.n; i++) {
        int one = run(&f, f.files.at[i]);
        code = one > code ? one : code;
    }
    arena_reset(&f.arena);
    return code;
}
