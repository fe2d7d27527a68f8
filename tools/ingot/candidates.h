// The candidates of a kernel at some sizes, with what is predicted of each.

#ifndef TOOLS_INGOT_CANDIDATES_H
#define TOOLS_INGOT_CANDIDATES_H

#include "passes/model/model.h"
#include "tools/ingot/json.h"
#include "tools/ingot/problem.h"
#include "tools/libingot/compile.h"

// A variant.
struct candidate {
    const struct variant *variant;
    struct ir_expr *refusal; // what of its guard does not hold, or NULL
    bool is_taken;           // a launch takes it
    bool is_timed;           // `time` is known
    struct model_time time;
};
struct candidates VEC(struct candidate);

// Return the variants of the problem's kernel that a launch could take: those in
// question by their times, which are predicted of their code, if that is made, then those that are refused, in their order.
struct candidates candidates_make(struct compilation *c,
                                  const struct problem *p,
                                  const struct model_device *device);

// Append the rows as a table.
void candidates_print(struct arena *a, const struct problem *p,
                      const struct model_device *device,
                      const struct candidates *rows, struct buf *out);

// Return the rows as JSON.
json_t *candidates_json(struct arena *a, const struct problem *p,
                        const struct model_device *device,
                        const struct candidates *rows);

#endif
