// The part of `ingot inspect` that shows code: PTX, machine code, its loops.

#ifndef TOOLS_INGOT_INSPECT_CODE_H
#define TOOLS_INGOT_INSPECT_CODE_H

#include "nvptx/package/fatbin.h"
#include "tools/ingot/cli.h"
#include "tools/ingot/sass.h"
#include "tools/ingot/toolchain.h"

#include <jansson.h>

// What the options say; give `code_argp` as a child parser whose input is this
// struct.
struct code_options {
    const char *ptx_of; // the value of --ptx; NULL: none was given
    bool ptx, sass, lines, loop, banks;
};
extern const struct argp code_argp;

// Code to show, and what it takes.
struct code_subject {
    const struct code_options *options;
    struct compilation *c; // owns memory and diagnostics
    const struct toolchain *tools;
    const struct fatbin *fatbin;
};

// Return whether any code is asked for.
bool inspect_code_is_wanted(const struct code_options *o);

// Return whether lines of the source are shown.
bool inspect_code_has_lines(const struct code_options *o);

// Read the machine code of a cubin, with its places if it was made with
// lines; `s->options` and `s->fatbin` do not count.  Returns false after reporting.
bool inspect_code_read(const struct code_subject *s,
                       const struct fatbin_image *image,
                       struct sass_kernels *out);

// Append what is asked for of each image.  Returns false after reporting.
bool inspect_code(const struct code_subject *s, struct buf *out);

// Add main loops and scores of banks to what --json prints.
// Returns false after reporting.
bool inspect_code_json(const struct code_subject *s, json_t *root);

#endif
