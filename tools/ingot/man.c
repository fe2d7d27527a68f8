// Manual pages of the commands, in the macros of man(7).

#include "tools/ingot/options.h"

#include <ctype.h>
#include <string.h>

// Append a text that means itself.
static void literal(struct buf *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        buf_text(out, "\\&");
    for (; *text; text++) {
        if (*text == '\\')
            buf_text(out, "\\e");
        else if (*text == '-')
            buf_text(out, "\\-");
        else
            buf_char(out, *text);
    }
}

// Append an item of a list: what it is in bold, and what it means.
static void item(struct buf *out, const char *name, const char *text)
{
    buf_text(out, ".TP\n\\fB");
    literal(out, name);
    buf_text(out, "\\fR\n");
    literal(out, text);
    buf_char(out, '\n');
}

// Append an option.
static void add_option(void *out, const struct argp_option *o)
{
    struct arena a = {0};
    item(out, option_text(&a, o), o->doc ? o->doc : "");
    arena_reset(&a);
}

// Append the head of a page: its name, what it is for, how it is called.
static void head(struct buf *out, const char *page, const char *brief,
                 const char *call, const char *arguments)
{
    buf_text(out, ".TH \"");
    for (const char *at = page; *at; at++)
        buf_char(out, (char)toupper((unsigned char)*at));
    buf_text(out,
             "\" 1 \"\" \"ingot " INGOT_VERSION "\" \"Ingot\"\n.SH NAME\n");
    literal(out, page);
    buf_text(out, " \\- ");
    literal(out, brief);
    buf_text(out, "\n.SH SYNOPSIS\n.B ");
    literal(out, call);
    buf_text(out, "\n[\\fIOPTION\\fR...] ");
    literal(out, arguments);
    buf_text(out, "\n.SH DESCRIPTION\n");
}

// Append what all pages end with.
static void tail(struct buf *out, const char *also)
{
    buf_text(out, ".SH EXIT STATUS\n");
    item(out, "0", "done");
    item(out, "1",
         "the input is wrong, or a result differs from its definition");
    item(out, "2", "the command line is wrong");
    item(out, "3", "a tool, a device or the file system failed");
    buf_printf(out, ".SH SEE ALSO\n%s\n", also);
}

// Append the page of one command.
static void command_page(const struct command_row *c, struct buf *out)
{
    struct arena a = {0};
    head(out, arena_printf(&a, "ingot-%s", c->name), c->help,
         arena_printf(&a, "ingot %s", c->name), c->argp->args_doc);
    literal(out, c->argp->doc);
    buf_text(out, "\n.SH OPTIONS\n");
    options_each(c->argp, add_option, out);
    item(out, "--help", "print the options");
    tail(out, "\\fBingot\\fR(1)");
    arena_reset(&a);
}

// Append the page of all commands.
static void main_page(struct buf *out)
{
    const char *also = "";
    struct arena a = {0};
    head(out, "ingot", "compile GPU kernels into fatbins and C headers",
         "ingot COMMAND", "FILE...");
    buf_text(out, "What the words of the language, of schedules and of options "
                  "mean is printed by\n.BR \"ingot doc\" .\n.SH COMMANDS\n");
    for (const struct command_row *c = command_rows; c->name; c++) {
        item(out, c->name, c->help);
        also = arena_printf(&a, "%s%s\\fBingot\\-%s\\fR(1)", also,
                            *also ? ",\n" : "", c->name);
    }
    buf_text(out, ".SH OPTIONS\n");
    item(out, "--help", "list the commands");
    item(out, "--version", "print the version");
    buf_text(out, ".SH ENVIRONMENT\n");
    item(out, "INGOT_CUDA, CUDA_HOME",
         "folders in which the CUDA tools are looked for, in this order");
    item(out, "MAKEFLAGS",
         "names the jobserver of make, which ingot build asks");
    tail(out, also);
    arena_reset(&a);
}

bool man_page(const char *command, struct buf *out)
{
    if (!command || strcmp(command, "ingot") == 0) {
        main_page(out);
        return true;
    }
    for (const struct command_row *c = command_rows; c->name; c++) {
        if (strcmp(c->name, command) == 0) {
            command_page(c, out);
            return true;
        }
    }
    return false;
}
