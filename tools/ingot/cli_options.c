// Options that a command does not have, said better than by getopt: with the
// nearest names, and with the second dash where one is missing.

#include "tools/ingot/cli.h"

#include "ir/base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What every command has besides its table.
static const struct argp_option built_in[] = {
    {"help", '?', 0, 0, 0, 0}, {"usage", 0, 0, 0, 0, 0}, {0}};

// A look for an option in the tables of a command.
struct look {
    const char *name;                // of a long option; NULL: by `key`
    size_t n;                        // letters of the name
    int key;                         // of a short one
    const struct argp_option *found; // the first one whose name begins so
    struct suggest near;
};

// Look in one table.
static void look_in(struct look *l, const struct argp_option *all)
{
    for (const struct argp_option *o = all; o && (o->name || o->key || o->doc);
         o++) {
        bool is_it = l->name ? o->name && strncmp(o->name, l->name, l->n) == 0
                             : o->key == l->key;
        if (is_it && !l->found)
            l->found = o;
        if (o->name)
            suggest_offer(&l->near, o->name);
    }
}

// Look in the tables of a command and of its parts.
static void look_through(struct look *l, const struct argp *argp)
{
    look_in(l, argp->options);
    for (const struct argp_child *c = argp->children; c && c->argp; c++)
        look_through(l, c->argp);
}

// Return the option of that name, or of that letter if `name` is NULL.
static struct look find(const struct argp *argp, const char *name, size_t n,
                        int key)
{
    struct look l = {.name = name, .n = n, .key = key};
    l.near.wanted = name ? name : "";
    look_in(&l, built_in);
    look_through(&l, argp);
    return l;
}

// Report an option that there is not, and end the process.
_Noreturn static void refuse(const char *command, const char *arg,
                             const char *instead)
{
    fprintf(stderr,
            "%s: there is no option `%s`%s\n`%s --help` lists the options\n",
            command, arg, instead, command);
    exit(EXIT_USAGE);
}

// Check `--name` or `--name=value`.  Returns whether the value is the next one.
static bool check_long(const struct argp *argp, const char *command,
                       const char *arg)
{
    struct arena arena = {0};
    size_t n = strcspn(arg + 2, "=");
    const char *name = arena_printf(&arena, "%.*s", (int)n, arg + 2);
    struct look l = find(argp, name, n, 0);
    if (!l.found)
        refuse(command, arena_printf(&arena, "--%s", name),
               cli_hint(&arena, &l.near));
    bool is_next =
        l.found->arg && !arg[2 + n] && !(l.found->flags & OPTION_ARG_OPTIONAL);
    arena_reset(&arena);
    return is_next;
}

// Check `-x`.  Returns whether the value is the next one.
static bool check_short(const struct argp *argp, const char *command,
                        const char *arg)
{
    struct look by_key = find(argp, NULL, 0, arg[1]);
    size_t n = strcspn(arg + 1, "=");
    struct arena arena = {0};
    struct look by_name = find(argp, arg + 1, n, 0);
    bool is_long = by_name.found && strlen(by_name.found->name) == n;
    if (!by_key.found && n > 1 && is_long)
        refuse(command, arg,
               arena_printf(&arena, "; write two dashes: `-%s`", arg));
    return by_key.found && by_key.found->arg && !arg[2];
}

void cli_check_options(const struct argp *argp, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        bool has_value = false;
        if (strncmp(argv[i], "--", 2) == 0)
            has_value = check_long(argp, argv[0], argv[i]);
        else if (argv[i][0] == '-' && argv[i][1])
            has_value = check_short(argp, argv[0], argv[i]);
        i += has_value;
    }
}
