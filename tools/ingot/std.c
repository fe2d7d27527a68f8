// ingot std [NAME]: the library of defs.
//
//   ingot std          what every schedule can call
//   ingot std fetch    the source of a def, with what it says about itself

#include "tools/ingot/cli.h"

#include "tools/ingot/defs.h"

#include <stdio.h>
#include <string.h>

// Print the def of that name, or offer all names to the search for it.
static bool print_def(const struct library_file *f, struct suggest *s,
                      struct arena *a)
{
    struct def def;
    for (const char *at = f->text; def_next(a, at, &def); at = def.behind) {
        suggest_offer(s, def.name);
        if (strcmp(def.name, s->wanted) != 0)
            continue;
        printf("%.*s", (int)(def.behind - def.head), def.head);
        return true;
    }
    return false;
}

// Print the defs of a file: names and parameters.
static void list_defs(const struct library_file *f, struct arena *a)
{
    struct def def;
    printf("%s\n", f->name);
    for (const char *at = f->text; def_next(a, at, &def); at = def.behind)
        printf("    %s\n", def.form);
}

// Print what was asked for.  Returns the exit code.
static int show(const char *name)
{
    struct arena arena = {0};
    struct suggest near = {.wanted = name ? name : ""};
    bool found = !name;
    for (const struct library_file *f = library_files; f->name; f++) {
        if (!name)
            list_defs(f, &arena);
        else
            found = found || print_def(f, &near, &arena);
    }
    if (!found)
        fprintf(stderr, "ingot std: there is no def `%s`%s\n", name,
                cli_hint(&arena, &near));
    else
        puts(name ? "\n// `ingot doc NAME` says what the names in it mean"
                  : "\n`ingot doc NAME` says what a def does, and what "
                    "primitives and types do");
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

const struct argp std_argp = {
    0,
    take,
    "[NAME]",
    "List the defs that every schedule can call, or print one of them.",
    0,
    0,
    0};

int command_std(int argc, char **argv)
{
    const char *name = NULL;
    cli_parse(&std_argp, argc, argv, &name);
    return show(name);
}
