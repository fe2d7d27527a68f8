// The attributes of launches.

#include "ir/launch_attribute.h"

#include <string.h>

static const char *const names[] = {
#define LAUNCH_ATTRIBUTE(name, meaning) #name,
#include "ir/launch_attributes.def"
#undef LAUNCH_ATTRIBUTE
};

const char *attribute_name(enum launch_attribute attribute)
{
    return names[attribute];
}

bool attribute_in(uint32_t set, enum launch_attribute attribute)
{
    return set >> attribute & 1;
}

bool attribute_add(struct diag_list *diags, struct span span, const char *name,
                   uint32_t *set)
{
    for (int i = 0; i < ATTRIBUTE_COUNT; i++) {
        if (strcmp(names[i], name) == 0) {
            *set |= 1u << i;
            return true;
        }
    }
    diag_error(diags, span, D_unknown_attribute, name);
    for (int i = 0; i < ATTRIBUTE_COUNT; i++)
        diag_help(diags, "`%s` is one", names[i]);
    return false;
}
