// A package in memory, opened by the runtime, which reads the tables that the
// generated header would hold.

#ifndef TOOLS_INGOT_LOADED_H
#define TOOLS_INGOT_LOADED_H

#include "nvptx/package/plan.h"
#include "runtime/ingot.h"

// The open package.
struct loaded {
    struct plan plan;
    struct package_files files;
    struct ingot_artifact artifact;
    struct ingot_module *module;
    struct ingot_load load; // which image was chosen
};

// Make the package, open it and load it into the current context; `driver`
// is the path of libcuda or NULL.
// Returns false after reporting; loaded_close releases it in any case.
bool loaded_open(struct arena *a, const struct package *package,
                 const char *driver, struct diag_list *diags,
                 struct loaded *out);
void loaded_close(struct loaded *l);

// Return the row of a launch in the artefact's table of entries.
uint32_t loaded_entry(const struct loaded *l, const struct ir_launch *launch);

#endif
