// Whether the results of a definition depend on uninitialised elements.

#ifndef TOOLS_INGOT_UNWRITTEN_H
#define TOOLS_INGOT_UNWRITTEN_H

#include "tools/ingot/definition.h"

// Return the read of an element that nobody had written of which results of
// the definition have come, or NULL.  `want` are its results in a run that
// `watch` watched, whose reads it found.
const struct eval_unwritten *
unwritten_find(const struct definition_request *request,
               const struct problem *p, const struct eval_argument *want,
               const struct eval_watch *watch);

#endif
