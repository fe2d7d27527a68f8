// What a fatbin holds: for `ingot inspect`.

#ifndef NVPTX_PACKAGE_INSPECT_H
#define NVPTX_PACKAGE_INSPECT_H

#include "ir/base/diag.h"
#include "nvptx/package/fatbin.h"

#include <stdbool.h>

// A file that was read.
struct inspect_file {
    const char *name; // for messages
    const void *bytes;
    size_t size;
};

// A fatbin and the kernels of each of its images.
struct inspection {
    struct fatbin fatbin;
    uint64_t hash;            // of the whole fatbin
    struct usage_list *usage; // of each image; what is not known is -1
};

// Read a fatbin and, unless it is NULL, the manifest beside it.
// Returns false after reporting an error.
bool inspect_read(struct arena *a, const struct inspect_file *fatbin,
                  const struct inspect_file *manifest, struct diag_list *diags,
                  struct inspection *out);

#endif
