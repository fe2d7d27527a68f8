// The architectures of a build and of a schedule.

#ifndef TOOLS_LIBINGOT_TARGET_SET_H
#define TOOLS_LIBINGOT_TARGET_SET_H

#include "tools/libingot/compile.h"

// Return the architectures of a build; all of them where it names none.
target_set target_set_of_build(const struct compile_options *o);

// Find the architectures of a schedule; `a` is for work.  Returns false after an
// error.
bool target_set_find(struct arena *a, const struct sched_item *item,
                     struct diag_list *diags, target_set *out);

#endif
