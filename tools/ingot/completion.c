// Completion of the command line for shells: commands, their options, and the names of
// architectures behind --arch and --ptx.

#include "tools/ingot/options.h"

#include "nvptx/nvptx.h"

#include <string.h>

// Append a text that stands between single quotes: `quote` for a quote in it, and a `\`
// before each character of `special`.
static void between_quotes(struct buf *out, const char *text, const char *quote,
                           const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            buf_text(out, quote);
        else
            buf_printf(out, strchr(special, *text) ? "\\%c" : "%c", *text);
    }
}

// Append the names of the architectures.
static void architectures(struct buf *out)
{
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s ", all[i].name);
    buf_text(out, "all none");
}

// What can stand behind an option.
enum values { WORD, ARCHITECTURE, FOLDER, FILE_NAME };

// Return what can stand behind an option that takes something.
static enum values values_of(const struct argp_option *o)
{
    const char *name = o->name ? o->name : "";
    if (strcmp(name, "arch") == 0 || strcmp(name, "ptx") == 0)
        return ARCHITECTURE;
    return strcmp(o->arg, "DIR") == 0    ? FOLDER
           : strcmp(o->arg, "FILE") == 0 ? FILE_NAME
                                         : WORD;
}

// ---- bash -------------------------------------------------------------------

// Append an option as words of a list.
static void bash_option(void *out, const struct argp_option *o)
{
    if (o->name)
        buf_printf(out, " --%s", o->name);
    if (option_has_letter(o))
        buf_printf(out, " -%c", o->key);
}

// Append the completions for bash.
static void bash(struct buf *out)
{
    buf_text(out, "_ingot()\n{\n"
                  "    local word=${COMP_WORDS[COMP_CWORD]} options=\n"
                  "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                  "    local commands='--help --version");
    for (const struct command_row *c = command_rows; c->name; c++)
        buf_printf(out, " %s", c->name);
    buf_text(out, "'\n    case ${COMP_WORDS[1]} in\n");
    for (const struct command_row *c = command_rows; c->name; c++) {
        buf_printf(out, "    %s) options='--help", c->name);
        options_each(c->argp, bash_option, out);
        buf_text(out, "' ;;\n");
    }
    buf_text(out, "    esac\n"
                  "    case $COMP_CWORD:$before:$word in\n"
                  "    1:*) options=$commands ;;\n"
                  "    *:--arch:* | *:--ptx:*) options='");
    architectures(out);
    buf_text(out, "' ;;\n"
                  "    *:*:-*) ;;\n"
                  "    *) mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                  "        return ;;\n"
                  "    esac\n"
                  "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- "
                  "\"$word\")\n"
                  "}\n"
                  "complete -o filenames -F _ingot ingot\n");
}

// ---- zsh --------------------------------------------------------------------

// Append one form of an option for _arguments.
static void zsh_form(struct buf *out, const char *form,
                     const struct argp_option *o)
{
    static const char *const actions[] = {"", NULL, "_files -/", "_files"};
    buf_printf(out, " \\\n        '*%s[", form);
    between_quotes(out, o->doc ? o->doc : "", "'\\''", "[]\\");
    buf_char(out, ']');
    if (o->arg) {
        enum values values = values_of(o);
        buf_char(out, ':');
        between_quotes(out, o->arg, "'\\''", ":\\");
        buf_text(out, values == ARCHITECTURE ? ":(" : ":");
        if (values == ARCHITECTURE)
            architectures(out);
        buf_text(out, values == ARCHITECTURE ? ")" : actions[values]);
    }
    buf_char(out, '\'');
}

// Append an option in each of its forms.
static void zsh_option(void *out, const struct argp_option *o)
{
    struct arena a = {0};
    if (o->name)
        zsh_form(out, arena_printf(&a, "--%s%s", o->name, o->arg ? "=" : ""),
                 o);
    if (option_has_letter(o))
        zsh_form(out, arena_printf(&a, "-%c%s", o->key, o->arg ? "+" : ""), o);
    arena_reset(&a);
}

// Append those for zsh.
static void zsh(struct buf *out)
{
    buf_text(out, "#compdef ingot\n_ingot() {\n    local -a commands\n"
                  "    commands=(\n");
    for (const struct command_row *c = command_rows; c->name; c++) {
        buf_printf(out, "        '%s:", c->name);
        between_quotes(out, c->help, "'\\''", "");
        buf_text(out, "'\n");
    }
    buf_text(out, "    )\n    if (( CURRENT == 2 )); then\n"
                  "        _describe command commands\n        return\n    fi\n"
                  "    shift words\n    (( CURRENT-- ))\n"
                  "    case $words[1] in\n");
    for (const struct command_row *c = command_rows; c->name; c++) {
        buf_printf(out, "    %s) _arguments -s '--help[print the options]'",
                   c->name);
        options_each(c->argp, zsh_option, out);
        buf_text(out, " \\\n        '*:file:_files' ;;\n");
    }
    buf_text(out, "    esac\n}\n_ingot \"$@\"\n");
}

// ---- fish -------------------------------------------------------------------

// What fish_option is told.
struct fish {
    const char *command;
    struct buf *out;
};

// Append an option of a command.
static void fish_option(void *context, const struct argp_option *o)
{
    const struct fish *f = context;
    buf_printf(f->out, "complete -c ingot -n '__fish_seen_subcommand_from %s'",
               f->command);
    if (o->name)
        buf_printf(f->out, " -l %s", o->name);
    if (option_has_letter(o))
        buf_printf(f->out, " -s %c", o->key);
    if (o->arg) {
        enum values values = values_of(o);
        buf_text(f->out, values < FOLDER ? " -x" : " -r");
        if (values == ARCHITECTURE) {
            buf_text(f->out, " -a '");
            architectures(f->out);
            buf_char(f->out, '\'');
        }
    }
    buf_text(f->out, " -d '");
    between_quotes(f->out, o->doc ? o->doc : "", "\\'", "\\");
    buf_text(f->out, "'\n");
}

// Append those for fish.
static void fish(struct buf *out)
{
    for (const struct command_row *c = command_rows; c->name; c++) {
        buf_printf(out,
                   "complete -c ingot -f -n __fish_use_subcommand -a %s -d '",
                   c->name);
        between_quotes(out, c->help, "\\'", "\\");
        buf_text(out, "'\n");
        options_each(c->argp, fish_option, &(struct fish){c->name, out});
    }
}

static const struct {
    const char *name;
    void (*script)(struct buf *out);
} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

bool completion(const char *shell, struct buf *out)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].script(out);
            return true;
        }
    }
    return false;
}
