// The schedule language: text to the tree of ir/schedule.h.

#ifndef FRONTEND_SCHEDULE_H
#define FRONTEND_SCHEDULE_H

#include "ir/schedule.h"
#include "ir/text/parse.h"

// If a `schedule`, a `rule` or a `def` comes next, parse it and add it to `out`,
// unless it has errors, which are reported.  Returns whether one came next.
bool schedule_parse_item(struct parser *p, struct sched_program *out);

// Parse an expression of a schedule; NULL after an error was reported.
struct sched_expr *schedule_parse_expr(struct parser *p);

// Make an expression that began at token number `first` and ends here.
struct sched_expr *schedule_expr_new(struct parser *p, size_t first,
                                     enum sched_expr_kind kind);

// Read a name with its place; `what` says what for.  False after an error.
bool schedule_parse_name(struct parser *p, const char *what,
                         struct sched_name *out);

// Parse statements up to a `}`, or the word `end` unless that is NULL.  What has
// errors, which are reported, is left out.
void schedule_parse_stmts(struct parser *p, const char *end,
                          struct sched_block *out);

// Parse `{ statements }`.  False after an error of the braces.
bool schedule_parse_body(struct parser *p, struct sched_block *out);

#endif
