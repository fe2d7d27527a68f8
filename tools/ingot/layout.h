// The usual layout of kernels and schedules.

#ifndef TOOLS_INGOT_LAYOUT_H
#define TOOLS_INGOT_LAYOUT_H

#include "ir/base/buf.h"
#include "ir/base/diag.h"
#include "ir/base/str.h"

// How laying out ended.
enum layout_result {
    LAYOUT_DONE,
    LAYOUT_BAD_TEXT, // reported: the source does not split into tokens
    LAYOUT_FAULT,    // the result would not split into the same tokens
};

// Append a source in the usual layout: four spaces for each open bracket and
// for a statement that goes on, one space around operators and behind commas,
// at most one empty line.  Line breaks and comments stay, and so do columns of
// `=` and of comments behind statements that lines one below the other share.
enum layout_result layout_source(struct arena *a, struct str_table *names,
                                 const struct source *source,
                                 struct diag_list *diags, struct buf *out);

#endif
