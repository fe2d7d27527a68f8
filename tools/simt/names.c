// The tables of policies, faults, points and events as text.

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

static const struct {
    const char *name, *one;
    bool writes;
} points[] = {
#define POINT(name, spelling, one, writes) {spelling, one, writes},
#include "tools/simt/points.def"
#undef POINT
};

static const struct {
    const char *name, *text;
} events[] = {
#define EVENT(name, spelling, text) {spelling, text},
#include "tools/simt/events.def"
#undef EVENT
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

const char *simt_event_name(enum simt_event_kind kind)
{
    return events[kind].name;
}

const char *simt_event_text(enum simt_event_kind kind)
{
    return events[kind].text;
}

const char *simt_missing_name(enum simt_missing m)
{
    static const char *const names[] = {
        NULL,
#define MISSING(name, is_wide, releases, acquires, text) #name,
#include "tools/simt/missing.def"
#undef MISSING
    };
    return names[m];
}

const char *simt_missing_text(enum simt_missing m)
{
    static const char *const texts[] = {
        NULL,
#define MISSING(name, is_wide, releases, acquires, text) text,
#include "tools/simt/missing.def"
#undef MISSING
    };
    return texts[m];
}

enum simt_severity simt_fault_severity(enum simt_fault f)
{
    return faults[f].severity;
}

const char *simt_point_name(enum simt_point_kind kind)
{
    return points[kind].name;
}

const char *simt_point_one(enum simt_point_kind kind)
{
    return points[kind].one;
}

bool simt_point_writes(enum simt_point_kind kind)
{
    return points[kind].writes;
}
