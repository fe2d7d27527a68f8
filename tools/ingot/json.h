// What the subcommands print with --json.

#ifndef TOOLS_INGOT_JSON_H
#define TOOLS_INGOT_JSON_H

#include "ir/base/diag.h"

#include <jansson.h>

// Return text as JSON, null for NULL; bytes that are not UTF-8 become `?`.
json_t *json_text(const char *text);

// Return diagnostics as a list of objects.
json_t *json_diagnostics(const struct diag_list *diags);

// Set the members that say where something is; none if it is nowhere.
void json_set_place(json_t *object, struct span span);

// Set a member of an object to a number that is null unless it is finite.
void json_set_real(json_t *object, const char *key, double value);

// Print a value to the standard output, and release it.
// Returns false after saying why it failed.
bool json_print(json_t *value);

#endif
