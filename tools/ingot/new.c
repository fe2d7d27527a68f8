// ingot new NAME: a project to begin with, a folder of that name.
//
// Its files are those of tools/new, in which the name of the kernel stands for
// the one that is asked for.

#include "tools/ingot/cli.h"

#include "ir/text/lex.h"
#include "nvptx/package/c_names.h"
#include "nvptx/package/output.h"
#include "tools/libingot/library.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char placeholder[] = "my_kernel";

// Return why a kernel and its functions in C cannot be called so, or NULL.
static const char *fault_of(const char *name)
{
    bool is_word = isalpha((unsigned char)*name) || *name == '_';
    for (const char *c = name; *c; c++)
        is_word = is_word && (isalnum((unsigned char)*c) || *c == '_');
    if (!is_word)
        return "a name has letters, digits and `_`, and begins with no digit";
    if (lex_is_reserved(name))
        return "it is a word of the language";
    return strcmp(name, "main") == 0 ? "the program has that function"
                                     : c_name_taken(name);
}

// Return a text with another name in the place of the placeholder.
static const char *renamed(struct arena *a, const char *text, const char *name)
{
    struct buf out = {0};
    for (const char *at; (at = strstr(text, placeholder)) != NULL;
         text = at + sizeof placeholder - 1)
        buf_printf(&out, "%.*s%s", (int)(at - text), text, name);
    buf_text(&out, text);
    const char *result = arena_printf(a, "%s", out.data);
    buf_free(&out);
    return result;
}

// Write the folder, and say what is in it.  Returns the exit code.
static int write_project(struct arena *a, const char *name)
{
    struct diag_list diags = {.arena = a};
    struct VEC(struct output) files = {0};
    for (const struct library_file *f = new_files; f->name; f++) {
        const char *base = strchr(f->name, '/') + 1;
        const char *text = renamed(a, f->text, name);
        const char *path =
            arena_printf(a, "%s/%s", name, renamed(a, base, name));
        struct output file = {path, text, strlen(text)};
        vec_push(a, &files, file);
    }
    if (output_write(a, name, files.at, files.n, &diags)) {
        for (size_t i = 0; i < files.n; i++)
            printf("%s\n", files.at[i].path);
        printf("\n`cd %s`, and go on as its README.md says\n", name);
    }
    return cli_report(&diags);
}

// Make a project of that name.  Returns the exit code.
static int make(const char *name)
{
    struct arena arena = {0};
    struct stat info;
    const char *fault = fault_of(name);
    int code = EXIT_USAGE;
    if (fault)
        fprintf(stderr, "ingot new: no kernel can be called `%s`: %s\n", name,
                fault);
    else if (lstat(name, &info) == 0)
        fprintf(stderr,
                "ingot new: `%s` is there already; choose another name, or "
                "remove it\n",
                name);
    else
        code = write_project(&arena, name);
    arena_reset(&arena);
    return code;
}

// Take the name.
static error_t take(int key, char *arg, struct argp_state *state)
{
    const char **name = state->input;
    if (key == ARGP_KEY_ARG && !*name) {
        *name = arg;
        return 0;
    }
    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "name the kernel, such as `ingot new blur`");
    return ARGP_ERR_UNKNOWN;
}

const struct argp new_argp = {
    0,
    take,
    "NAME",
    "Make a folder NAME with a project: a kernel NAME to change, a program in "
    "C that calls it, how CMake builds both, and a README.md with what to do "
    "next.",
    0,
    0,
    0};

int command_new(int argc, char **argv)
{
    const char *name = NULL;
    cli_parse(&new_argp, argc, argv, &name);
    return make(name);
}
