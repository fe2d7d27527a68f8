// Walks through the options of the commands.

#include "tools/ingot/options.h"

#include "tools/ingot/cli.h"

const struct command_row command_rows[] = {
#define COMMAND(name, help) {#name, help, &name##_argp},
#include "tools/ingot/commands.def"
#undef COMMAND
    {0}};

void options_each(const struct argp *argp,
                  void (*see)(void *, const struct argp_option *),
                  void *context)
{
    for (const struct argp_option *o = argp->options;
         o && (o->name || o->key || o->doc); o++)
        see(context, o);
    for (const struct argp_child *c = argp->children; c && c->argp; c++)
        options_each(c->argp, see, context);
}

bool option_has_letter(const struct argp_option *o)
{
    return o->key > ' ' && o->key < 127;
}

const char *option_text(struct arena *a, const struct argp_option *o)
{
    bool is_short = option_has_letter(o);
    const char *letter = is_short ? arena_printf(a, "-%c", o->key) : "";
    const char *both = o->name ? arena_printf(a, "%s%s--%s", letter,
                                              is_short ? ", " : "", o->name)
                               : letter;
    if (!o->arg)
        return both;
    return arena_printf(a, o->name ? "%s=%s" : "%s %s", both, o->arg);
}
