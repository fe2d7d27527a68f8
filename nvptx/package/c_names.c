// Names in generated C.

#include "nvptx/package/c_names.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

enum why {
    WHY_KEYWORD,
    WHY_MACRO,
    WHY_TYPE,
    WHY_LOCAL,
    WHY_LIBRARY,
    WHY_DRIVER
};

static const char *const reasons[] = {
    [WHY_KEYWORD] = "a keyword of C or C++",
    [WHY_MACRO] = "a macro of usual headers",
    [WHY_TYPE] = "a type of usual headers",
    [WHY_LOCAL] = "a name inside launch functions",
    [WHY_LIBRARY] = "a function of the C library",
    [WHY_DRIVER] = "a name of CUDA's driver",
};

// A row of c_names.def; a name is a pattern, too.
struct row {
    enum why why;
    const char *pattern;
};

static const struct row rows[] = {
#define C_NAME(why, name)      {WHY_##why, #name},
#define C_FAMILY(why, pattern) {WHY_##why, pattern},
#include "nvptx/package/c_names.def"
#undef C_FAMILY
#undef C_NAME
};

const char *c_name_taken(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fnmatch(rows[i].pattern, name, 0) == 0)
            return reasons[rows[i].why];
    if (strncmp(name, "ingot_", 6) == 0 || strncmp(name, "INGOT_", 6) == 0)
        return "a name of the runtime";
    if (name[0] == '_')
        return "reserved by C";
    return NULL;
}

const char *c_identifier(struct arena *a, const char *text)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    bool is_fine = *text && strchr(first, *text);
    char *name = arena_printf(a, "%s%s", is_fine ? "" : "k_", text);
    for (char *p = name; *p; p++)
        if (!strchr(first, *p) && !strchr("0123456789", *p))
            *p = '_';
    return name;
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Return the name of a parameter in the file.
static const char *parameter_name(const struct ir_param *p)
{
    return p->var ? p->var->name : p->buffer->name;
}

// Return whether a name is among `n` names, or in the file of a parameter.
static bool is_used(const struct ir_kernel *kernel, const char **names,
                    size_t n, const char *name)
{
    for (size_t i = 0; i < kernel->params.n; i++)
        if (strcmp(i < n ? names[i] : parameter_name(&kernel->params.at[i]),
                   name) == 0)
            return true;
    return false;
}

// Return a name like one that is not free, without the underscore in front.
static const char *other_name(struct arena *a, const char *name)
{
    const char *longer = arena_printf(a, "%s_", name[0] == '_' ? "p" : name);
    return c_name_taken(longer) ? arena_printf(a, "p_%s", name) : longer;
}

// Return whether a name is that of a function of the kernel, with the prefix
// or without, so that a prefix changes no names of parameters.
static bool is_function(const struct ir_kernel *kernel, const char *prefix,
                        const char *name)
{
    size_t n = strlen(prefix), length = strlen(kernel->name);
    if (strncmp(name, prefix, n) == 0 &&
        strncmp(name + n, kernel->name, length) == 0)
        name += n;
    return strncmp(name, kernel->name, length) == 0 &&
           (!name[length] || strcmp(name + length, "_workspace") == 0 ||
            strcmp(name + length, "_bytes") == 0);
}

const char **c_parameter_names(struct arena *a, const struct ir_kernel *kernel,
                               const char *prefix)
{
    const char **names = arena_array(a, const char *, kernel->params.n);
    for (size_t i = 0; i < kernel->params.n; i++) {
        const char *name = parameter_name(&kernel->params.at[i]);
        bool is_free =
            !c_name_taken(name) && !is_function(kernel, prefix, name);
        while (!is_free) {
            name = other_name(a, name);
            is_free = !c_name_taken(name) &&
                      !is_function(kernel, prefix, name) &&
                      !is_used(kernel, names, i, name);
        }
        names[i] = name;
    }
    return names;
}

void c_string(struct buf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c < ' ' || c > '~' || c == '?')
            buf_printf(out, "\\%03o", c);
        else
            buf_char(out, (char)c);
    }
}
