// Takes the options that say what callers get.

#include "tools/ingot/package_options.h"

#include "nvptx/package/object.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    KEY_EMBED = 6144,
    KEY_PREFIX,
    KEY_TRIPLE,
    KEY_DECLARATIONS,
    KEY_BINDINGS,
    KEY_DRIVER_FLOOR,
};

static const struct argp_option options[] = {
    {"triple", KEY_TRIPLE, "TRIPLE", 0,
     "the host of --emit object, such as aarch64-linux-gnu; this machine, "
     "unless given",
     0},
    {"declarations", KEY_DECLARATIONS, 0, 0,
     "let the header only declare the launch functions, and write a C file "
     "that defines them",
     0},
    {"embed", KEY_EMBED, 0, 0, "put the fatbin into the header too", 0},
    {"prefix", KEY_PREFIX, "TEXT", 0,
     "put this in front of all names in C, so that one program can have kernels "
     "of one name; an @ in it stands for the name of the file",
     0},
    {"bindings", KEY_BINDINGS, "LANGUAGES", 0,
     "write callers in other languages, too: c++, python, rust, go, separated by "
     "commas; all but c++ link the C file of --declarations, which they imply",
     0},
    {"driver-floor", KEY_DRIVER_FLOOR, "VERSION", 0,
     "refuse to build what drivers for this CUDA release, such as 12.2, do not "
     "run on the GPUs that they know",
     0},
    {0}};

// Return the value of --prefix; ends the process if no name begins so.
static const char *take_prefix(const char *text, struct argp_state *state)
{
    const char *p = text;
    while (isalnum((unsigned char)*p) || *p == '_' || *p == '@')
        p++;
    if (*p || !*text || isdigit((unsigned char)*text) || *text == '_')
        argp_error(state,
                   "--prefix begins a name in C: letters, digits, _ and @, not "
                   "`%s`",
                   text);
    return text;
}

// Take the languages of --bindings; ends the process if there is no such one.
static void take_bindings(struct package_options *o, const char *list,
                          struct argp_state *state)
{
    for (size_t n = 0; *list; list += n + (list[n] == ',')) {
        int language = 0;
        n = strcspn(list, ",");
        while (language < BINDING_COUNT &&
               (strlen(binding_info((enum binding)language)->spelling) != n ||
                strncmp(binding_info((enum binding)language)->spelling, list,
                        n) != 0))
            language++;
        if (language == BINDING_COUNT)
            argp_error(state,
                       "--bindings takes c++, python, rust or go, not `%.*s`",
                       (int)n, list);
        o->bindings[language] = true;
        o->declarations |= binding_info((enum binding)language)->links;
    }
}

// Return the value of --driver-floor; ends the process if it is no release.
static int take_release(const char *text, struct argp_state *state)
{
    int major = 0, minor = 0, end = 0;
    if (sscanf(text, "%2d%n.%1d%n", &major, &end, &minor, &end) < 1 ||
        text[end] || major < 1 || minor < 0)
        argp_error(
            state,
            "--driver-floor takes a CUDA release, such as 12.2, not `%s`",
            text);
    return major * 1000 + minor * 10;
}

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct package_options *o = state->input;
    switch (key) {
    case KEY_EMBED: o->embed = true; return 0;
    case KEY_PREFIX: o->prefix = take_prefix(arg, state); return 0;
    case KEY_TRIPLE: o->triple = arg; return 0;
    case KEY_DECLARATIONS: o->declarations = true; return 0;
    case KEY_BINDINGS: take_bindings(o, arg, state); return 0;
    case KEY_DRIVER_FLOOR: o->driver_floor = take_release(arg, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp package_options_argp = {options, take, 0, 0, 0, 0, 0};

void package_options_check(struct package_options *o, bool is_object,
                           bool has_none, struct argp_state *state)
{
    if (o->declarations && has_none)
        argp_error(state, "--declarations and --bindings go with the header; "
                          "--emit writes none");
    if (o->driver_floor && has_none)
        argp_error(state, "--driver-floor is for a fatbin; --emit writes none");
    if (o->triple && !is_object)
        argp_error(state, "--triple is for --emit object");
    if (o->embed && is_object)
        argp_error(state, "--embed and --emit object exclude each other");
    if (is_object && !o->triple)
        o->triple = object_host(&o->arena);
    const char *why = o->triple ? object_refusal(&o->arena, o->triple) : NULL;
    if (why)
        argp_error(state, "--triple: %s", why);
}
