// The part of `ingot inspect` that says what accesses to memory cost.

#include "tools/ingot/inspect_accesses.h"

#include "tools/ingot/accesses.h"
#include "tools/ingot/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_ACCESSES = 4352, KEY_SIZE };

static const struct argp_option options[] = {
    {"accesses", KEY_ACCESSES, 0, 0,
     "print the bank conflicts and the sectors of every access", 0},
    {"size", KEY_SIZE, "NAME=N,...", 0, "sizes that are known", 0},
    {0}};

// Add `name=number,...`.
static void add_sizes(struct access_options *o, const char *text,
                      struct argp_state *state)
{
    for (const char *at = text; *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        char *name = arena_copy(&o->arena, at, n);
        char *equals = strchr(name, '='), *end = name;
        long long value = equals ? strtoll(equals + 1, &end, 10) : -1;
        if (value < 0 || equals == name || !equals[1] || *end)
            argp_error(state, "expected NAME=N, not `%s`", name);
        *equals = 0;
        vec_push(&o->arena, &o->sizes, (struct access_size){name, value});
        at += n;
    }
}

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct access_options *o = state->input;
    switch (key) {
    case KEY_ACCESSES: o->is_wanted = true; return 0;
    case KEY_SIZE: add_sizes(o, arg, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp access_argp = {options, take, 0, 0, 0, 0, 0};

// Return the value of a parameter, or -1.
static int64_t size_of(const struct access_options *o,
                       const struct ir_param *param)
{
    for (size_t i = 0; param->var && i < o->sizes.n; i++) {
        if (strcmp(o->sizes.at[i].name, param->var->name) == 0)
            return o->sizes.at[i].value;
    }
    return -1;
}

// Return whether a kernel has a size of that name.
static bool has_size(const struct ir_kernel *kernel, const char *name)
{
    for (size_t i = 0; i < kernel->params.n; i++) {
        const struct ir_var *var = kernel->params.at[i].var;
        if (var && type_is_index(var->type) && strcmp(var->name, name) == 0)
            return true;
    }
    return false;
}

// Return a size that no kernel of a program has, or NULL.
static const char *unknown_size(const struct access_options *o,
                                const struct program *program)
{
    for (size_t i = 0; i < o->sizes.n; i++) {
        bool found = false;
        for (size_t k = 0; k < program->kernels.n; k++)
            found |= has_size(program->kernels.at[k], o->sizes.at[i].name);
        if (!found)
            return o->sizes.at[i].name;
    }
    return NULL;
}

bool inspect_accesses_fit(const struct access_options *o,
                          const struct compilation *c)
{
    const char *unknown = unknown_size(o, &c->program);
    if (!o->is_wanted)
        return true;
    if (c->variants.n == 0)
        fprintf(stderr, "ingot inspect: --accesses needs a kernel file\n");
    else if (unknown)
        fprintf(stderr, "ingot inspect: no kernel has a size `%s`\n", unknown);
    return c->variants.n && !unknown;
}

// Return the values of a kernel's parameters.
static const int64_t *sizes_of(const struct access_options *o, struct arena *a,
                               const struct ir_kernel *kernel)
{
    int64_t *sizes = arena_array(a, int64_t, kernel->params.n);
    for (size_t i = 0; i < kernel->params.n; i++)
        sizes[i] = size_of(o, &kernel->params.at[i]);
    return sizes;
}

json_t *inspect_accesses_json(const struct access_options *o,
                              struct compilation *c)
{
    json_t *all = json_array();
    for (size_t i = 0; i < c->variants.n; i++) {
        const struct ir_kernel *kernel = c->variants.at[i].kernel;
        json_t *rows =
            accesses_json(&c->arena, kernel, sizes_of(o, &c->arena, kernel));
        json_array_extend(all, rows);
        json_decref(rows);
    }
    return all;
}

bool inspect_accesses(const struct access_options *o, struct compilation *c,
                      bool is_json)
{
    struct buf out = {0};
    if (is_json)
        return json_print(
            json_pack("{s:o}", "accesses", inspect_accesses_json(o, c)));
    for (size_t i = 0; i < c->variants.n; i++) {
        const struct ir_kernel *kernel = c->variants.at[i].kernel;
        accesses_print(&c->arena, kernel, sizes_of(o, &c->arena, kernel), &out);
    }
    bool ok = cli_print(&out);
    buf_free(&out);
    return ok;
}
