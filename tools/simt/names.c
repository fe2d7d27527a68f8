// The tables of policies and faults as text.

#include "tools/simt/simt.h"

#include <string.h>

static const char *const policies[] = {
#define POLICY(name, spelling, arrival, meaning) spelling,
#include "tools/simt/policies.def"
#undef POLICY
};

static const struct {
    const char *name;
    enum simt_severity severity;
    const char *text;
} faults[] = {
#define FAULT(name, spelling, severity, text) {spelling, SIMT_##severity, text},
#include "tools/simt/faults.def"
#undef FAULT
};

const char *simt_policy_name(enum simt_policy p)
{
    return policies[p];
}

bool simt_policy_find(const char *name, enum simt_policy *out)
{
    for (int i = 0; i < SIMT_POLICIES; i++) {
        if (strcmp(policies[i], name) != 0)
            continue;
        *out = (enum simt_policy)i;
        return true;
    }
    return false;
}

const char *simt_fault_name(enum simt_fault f)
{
    return faults[f].name;
}

const char *simt_fault_text(enum simt_fault f)
{
    return faults[f].text;
}

enum simt_severity simt_fault_severity(enum simt_fault f)
{
    return faults[f].severity;
}
