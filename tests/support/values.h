// Random numbers, names, spaces and axes for calls.

#ifndef TESTS_SUPPORT_VALUES_H
#define TESTS_SUPPORT_VALUES_H

#include "tests/support/calls.h"

// Return the next argument of a call whose arguments so far are drawn.
int64_t value_number(const struct caller *by, const struct sched_call *c);
bool value_is_any(const struct caller *by, const struct sched_call *c);
const char *value_key(const struct caller *by, const struct sched_call *c);
enum space value_space(const struct caller *by, const struct sched_call *c);
// Return an axis to bind a loop to.
enum axis value_axis(const struct caller *by);

#endif
