// ingot std [NAME]: the library of defs.
//
//   ingot std          what every schedule can call
//   ingot std fetch    the source of a def, with what it says about itself

#include "tools/ingot/cli.h"

#include "tools/libingot/library.h"

#include <stdio.h>
#include <string.h>

// Return where the line that begins at `at` ends: behind its newline.
static const char *line_end(const char *at)
{
    at += strcspn(at, "\n");
    return at + (*at == '\n');
}

// Return the first def at or behind a place, or NULL; `head` becomes the
// beginning of the comment above it.
static const char *next_def(const char *at, const char **head)
{
    for (*head = at; *at; at = line_end(at)) {
        if (strncmp(at, "def ", 4) == 0)
            return at;
        if (strncmp(at, "//", 2) != 0)
            *head = line_end(at);
    }
    return NULL;
}

// Return whether a def has that name.
static bool is_called(const char *def, const char *name)
{
    size_t n = strcspn(def + 4, "(");
    return strlen(name) == n && strncmp(def + 4, name, n) == 0;
}

// Print the def of that name, or offer all names to the search for it.
static bool print_def(const struct library_file *f, struct suggest *s,
                      struct arena *a)
{
    const char *head, *def = next_def(f->text, &head);
    for (; def; def = next_def(line_end(def), &head)) {
        const char *end = strstr(def, "\n}");
        suggest_offer(s, arena_copy(a, def + 4, strcspn(def + 4, "(")));
        if (!end || !is_called(def, s->wanted))
            continue;
        printf("%.*s", (int)(end + 3 - head), head);
        return true;
    }
    return false;
}

// Print the defs of a file: parameters, and the first line of the comment.
static void list_defs(const struct library_file *f)
{
    const char *head, *def = next_def(f->text, &head);
    printf("%s\n", f->name);
    for (; def; def = next_def(line_end(def), &head))
        printf("    %.*s\n", (int)(strcspn(def, "{") - 5), def + 4);
}

// Print what was asked for.  Returns the exit code.
static int show(const char *name)
{
    struct arena arena = {0};
    struct suggest near = {.wanted = name ? name : ""};
    bool found = !name;
    for (const struct library_file *f = library_files; f->name; f++) {
        if (!name)
            list_defs(f);
        else
            found = found || print_def(f, &near, &arena);
    }
    if (!found)
        fprintf(stderr, "ingot std: there is no def `%s`%s\n", name,
                cli_hint(&arena, &near));
    arena_reset(&arena);
    return found ? EXIT_DONE : EXIT_USAGE;
}

// Take the name.
static error_t take(int key, char *arg, struct argp_state *state)
{
    const char **name = state->input;
    if (key != ARGP_KEY_ARG || *name)
        return ARGP_ERR_UNKNOWN;
    *name = arg;
    return 0;
}

int command_std(int argc, char **argv)
{
    static const struct argp argp = {
        0,
        take,
        "[NAME]",
        "List the defs that every schedule can call, or print one of them.",
        0,
        0,
        0};
    const char *name = NULL;
    cli_parse(&argp, argc, argv, &name);
    return show(name);
}
