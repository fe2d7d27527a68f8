// The schedule language: text to the tree of ir/schedule.h.

#ifndef FRONTEND_SCHEDULE_H
#define FRONTEND_SCHEDULE_H

#include "ir/schedule.h"
#include "ir/text/parse.h"

// If a `schedule` or a `def` comes next, parse it and add it to `out`, unless
// it has errors, which are reported.  Returns whether one came next.
bool schedule_parse_item(struct parser *p, struct sched_program *out);

// Parse an expression of a schedule; NULL after an error was reported.
struct sched_expr *schedule_parse_expr(struct parser *p);

// Make an expression that began at token number `first` and ends here.
struct sched_expr *schedule_expr_new(struct parser *p, size_t first,
                                     enum sched_expr_kind kind);

#endif
