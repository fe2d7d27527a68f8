// What ptxas says of kernels, in our terms.

#ifndef NVPTX_PTXAS_REMARKS_H
#define NVPTX_PTXAS_REMARKS_H

#include "nvptx/ptxas.h"

// Read the remarks of a job from what ptxas wrote, and report them at what
// made the kernels.  Returns how many of them are errors.
int ptxas_read_remarks(struct arena *a, const char *text, struct ptxas_job *job,
                       struct diag_list *diags);

#endif
