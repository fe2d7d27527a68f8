// What a kernel does with the elements that it reads: which of its inputs are
// positions, and what they are compared with.

#ifndef TOOLS_INGOT_DATA_H
#define TOOLS_INGOT_DATA_H

#include "ir/ir.h"

// A value that elements are compared with, of their type: an expression over
// the parameters.
struct data_rare {
    struct ir_expr *value;
    bool is_equal; // whether they are equal; else less or more
};

// What is known of an array parameter.
struct data_rule {
    const struct ir_buffer *indexed; // by its elements as they are; or NULL
    struct VEC(struct ir_expr *) extents; // of that, and of other such arrays
    bool is_compared;                     // somewhere: they may be anything
    struct VEC(struct data_rare) rare;
};

// Return a rule for each parameter of a kernel.
struct data_rule *data_rules(struct arena *a, const struct ir_kernel *kernel);

#endif
