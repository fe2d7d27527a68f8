// The commands and their options as tables: what the reference, the manual pages and the
// completion of shells are made of.

#ifndef TOOLS_INGOT_OPTIONS_H
#define TOOLS_INGOT_OPTIONS_H

#include "ir/base/arena.h"
#include "ir/base/buf.h"

#include <argp.h>
#include <stdbool.h>

// A row of commands.def.
struct command_row {
    const char *name, *help;
    const struct argp *argp;
};

// All commands; a row without a name ends them.
extern const struct command_row command_rows[];

// Call see(context, option) for each option of a parser and of its children.
void options_each(const struct argp *argp,
                  void (*see)(void *, const struct argp_option *),
                  void *context);

// Return whether an option has a letter, which is its key then.
bool option_has_letter(const struct argp_option *o);

// Return how an option is written: "-o, --output=DIR".
const char *option_text(struct arena *a, const struct argp_option *o);

// Append the manual page of a command, in the macros of man(7), or that of all for NULL.
// Returns false if there is no such command.
bool man_page(const char *command, struct buf *out);

// Append what lets a shell complete the command line: bash, zsh or fish.
// Returns false if it is another one.
bool completion(const char *shell, struct buf *out);

#endif
