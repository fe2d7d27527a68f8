// The attributes of launches: rows of ir/launch_attributes.def.

#ifndef IR_LAUNCH_ATTRIBUTE_H
#define IR_LAUNCH_ATTRIBUTE_H

#include "ir/base/diag.h"
#include "ir/ir.h"

// Return the name of an attribute, "programmatic".
const char *attribute_name(enum launch_attribute attribute);

// Return whether a set, as launches have it, holds an attribute.
bool attribute_in(uint32_t set, enum launch_attribute attribute);

// Add the attribute of a name to a set; reports E0217 where there is none.
bool attribute_add(struct diag_list *diags, struct span span, const char *name,
                   uint32_t *set);

#endif
