// Blocks of a library's defs and rules, which are parsed when somebody asks for them: a kernel
// needs few of them.

#ifndef FRONTEND_UNREAD_H
#define FRONTEND_UNREAD_H

#include "ir/schedule.h"
#include "ir/text/parse.h"

// Parse a block and keep what it says in the item.
typedef bool unread_parse(struct parser *p, struct sched_item *item);

// Return what parses the block that is the next token, when it is asked for.  The arena,
// the names and the diagnostics of the parser are used then.
struct sched_unread *unread_new(struct parser *p, struct sched_item *item,
                                unread_parse *parse);

#endif
