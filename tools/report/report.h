// `ingot report`: one page that shows a kernel.  The files of this folder gather what
// the compiler knows of the variant that a launch takes, as JSON; report.html is the
// page that draws it.

#ifndef TOOLS_REPORT_REPORT_H
#define TOOLS_REPORT_REPORT_H

#include "tools/ingot/candidates.h"
#include "tools/ingot/toolchain.h"

// A text that places refer to by its number.
struct report_text {
    const char *name, *text;
    size_t size;
};

// What a page is about.
struct report {
    struct compilation *c; // lowered; its only variant is the one that is shown
    const struct problem *problem;
    const struct model_device *device;
    const struct candidates *rows;
    const struct candidate *taken; // of the rows, by a launch
    const struct toolchain *tools;
    const struct compile_options *options; // of the machine code
    const char *path;                      // of the file
    const char *const *words;              // of the command line
    size_t n_words;
    struct VEC(struct report_text) texts;
};

// Return the page's data; NULL after reporting.
json_t *report_json(struct report *r);

// Append the page that shows them.
void report_page(const json_t *data, struct buf *out);

// ---- Texts and values (texts.c) -------------------------------------------

// Return the number of a text and the line of a place, or null.
json_t *report_place(struct report *r, struct span span);
// The same for the name that machine code has of a file.
json_t *report_line(struct report *r, const char *file, uint32_t line);
// Return all texts that were named.
json_t *report_texts(const struct report *r);
// Return an expression as text.
json_t *report_expr(const struct ir_expr *x);
// Find the value of an expression of sizes alone; false if it is not one.
bool report_value(const struct report *r, const struct ir_expr *x,
                  int64_t *value);

// ---- The parts of the page ------------------------------------------------

// Return the loop nest that the schedule leaves.
json_t *report_nest(struct report *r);
// Return pictures of tiles: which thread writes which element.
json_t *report_pictures(struct report *r);
// Append pictures of the layouts of matrix instructions, and of swizzles.
void report_layouts(struct report *r, json_t *list);
// Set what the assembler makes of it: registers, spills, machine code, or notes why
// these are missing.  Returns false after reporting.
bool report_machine(struct report *r, json_t *root);
// Return what was measured at these sizes, in the order of the log.
json_t *report_tuning(struct report *r);
// Return the command line that profiles it; null if it launches no block.
json_t *report_profile(struct report *r);

// ---- Who writes what (holds.c) --------------------------------------------

// An element, counted from the array's first, and the thread of the block that
// writes it.
struct report_hold {
    int64_t element;
    uint32_t thread;
};

enum { REPORT_WAYS = 4 };

// What a block writes of an array.
struct report_held {
    const struct ir_buffer *buffer;
    struct VEC(struct report_hold) of; // in the order of the program
    const char *ways[REPORT_WAYS];     // "store", "tma_load" ...; NULL: no more
    bool is_part;                      // there is more
};
struct report_held_list VEC(struct report_held);

// Return what the first block of a launch writes of arrays in global and shared
// memory, as far as sizes and positions decide.
struct report_held_list report_holds(struct report *r,
                                     const struct ir_launch *launch);

// Append a picture: `cells` has `rows` times `columns` numbers, -1 for none; the
// members of `object` are kept.
void report_cells(json_t *object, const int32_t *cells, size_t rows,
                  size_t columns);

#endif
