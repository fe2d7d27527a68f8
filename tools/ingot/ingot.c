// The command: finds the subcommand and runs it.

#include "tools/ingot/cli.h"
#include "tools/ingot/streams.h"

#include <stdio.h>
#include <string.h>

// A row of commands.def.
struct command {
    const char *name, *help;
    int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
#define COMMAND(name, help) {#name, help, command_##name},
#include "tools/ingot/commands.def"
#undef COMMAND
};
enum { COMMANDS = sizeof commands / sizeof *commands };

// Print what the command can do.
static void print_help(FILE *out)
{
    fputs("usage: ingot COMMAND [OPTION...] FILE...\n\n"
          "Compiles GPU kernels into fatbins and C headers.\n\ncommands:\n",
          out);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-8s  %s\n", commands[i].name, commands[i].help);
    fputs("\n`ingot COMMAND --help` lists the options of a command.\n"
          "exit codes: 0 done, 1 the input is wrong, 2 the usage is wrong,\n"
          "3 a tool, a device or the file system failed\n",
          out);
}

// Report a command that does not exist.
static int unknown_command(const char *name)
{
    struct arena arena = {0};
    struct suggest s = {.wanted = name};
    for (int i = 0; i < COMMANDS; i++)
        suggest_offer(&s, commands[i].name);
    bool is_file = strstr(name, ".ing") != NULL;
    fprintf(stderr, "ingot: unknown command `%s`%s\n", name,
            is_file ? arena_printf(&arena, ": write `ingot build %s`", name)
                    : cli_hint(&arena, &s));
    arena_reset(&arena);
    return EXIT_USAGE;
}

// Run a subcommand, which messages call by its full name.
static int run_command(const struct command *c, int argc, char **argv)
{
    char name[32];
    snprintf(name, sizeof name, "ingot %s", c->name);
    argv[0] = name;
    return c->run(argc, argv);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "--help";
    streams_start();
    if (strcmp(name, "--version") == 0) {
        puts("ingot " INGOT_VERSION);
        return EXIT_DONE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_help(argc > 1 ? stdout : stderr);
        return argc > 1 ? EXIT_DONE : EXIT_USAGE;
    }
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return run_command(&commands[i], argc - 1, argv + 1);
    }
    return unknown_command(name);
}
