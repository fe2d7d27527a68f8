// The command line by which Nsight Compute profiles a kernel that `ingot run` runs.

#ifndef TOOLS_INGOT_NCU_H
#define TOOLS_INGOT_NCU_H

#include "tools/ingot/dispatch.h"

// Count the launches of a call that have the symbol of one of another call.
size_t ncu_count(const struct dispatch *d, const struct dispatch *named);

// Append what stands in front of the words behind `ingot`, when `skip` launches with
// the same symbols come before; `name` is of the profile.
void ncu_append(struct buf *out, const struct dispatch *d, size_t skip,
                const char *name);

// Append a word as a shell takes it, with a space in front.
void ncu_append_word(struct buf *out, const char *word);

#endif
