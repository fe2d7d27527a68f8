// Diagnostics about tools that were run.

#ifndef NVPTX_TOOL_H
#define NVPTX_TOOL_H

#include "ir/base/diag.h"
#include "nvptx/process.h"

// Report why a tool failed, with its command and what it wrote; `what` names
// it, such as "ptxas for sm_90".
void tool_report(struct arena *a, const struct process *p, const char *what,
                 struct diag_list *diags);

// Add the command and the messages of a tool to the newest diagnostic.
void tool_note(struct arena *a, const struct process *p,
               struct diag_list *diags);

#endif
