// Diagnostics in the Static Analysis Results Interchange Format 2.1.0, which code
// hosts and editors read.

#ifndef TOOLS_INGOT_SARIF_H
#define TOOLS_INGOT_SARIF_H

#include "ir/base/diag.h"

#include <jansson.h>

// Append a result for each diagnostic to a list.
void sarif_add(json_t *results, const struct diag_list *diags);

// Write a log with these results to a file.  Returns false after reporting.
bool sarif_write(json_t *results, const char *path, struct diag_list *diags);

#endif
