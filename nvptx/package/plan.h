// What the header and the manifest both say: the launches of a package in one
// table, and the images as they lie in the fatbin.

#ifndef NVPTX_PACKAGE_PLAN_H
#define NVPTX_PACKAGE_PLAN_H

#include "nvptx/package/package.h"

// Arrays of the workspace start at multiples of this, as those of the driver.
enum { WORKSPACE_ALIGN = 256 };

// A tensor map, as a parameter, and how its array is aligned.
enum { MAP_BYTES = 128, MAP_ALIGN = 64, MAPPED_ALIGN = 16 };

// One launch: an entry of the artefact's table, in the order of the variants.
struct plan_entry {
    const struct ir_launch *launch;
    uint32_t parameters_at; // its first row in the table of parameter sizes
    uint32_t n_parameters;
    uint32_t parameter_bytes; // of all, as the driver lays them out, if it
                              // puts the first at a multiple of MAP_ALIGN
    bool has_maps;            // the last parameters are tensor maps
    uint32_t threads;         // of a block
    int64_t shared;           // most static shared bytes of any image
    int64_t dynamic;          // dynamic shared bytes
    bool is_optional;         // some image lacks it
};

// One variant of a kernel.
struct plan_variant {
    const struct ir_kernel *kernel;
    struct VEC(const struct ir_buffer *) workspace; // its global arrays
    uint32_t entries_at;                            // its launches are
    uint32_t n_entries;                             // entries_at ...
};

// One kernel.
struct plan_kernel {
    const struct ir_kernel *source;
    const char *name;         // of its launch function
    const char *workspace;    // of the function that says how large that is
    const char *bytes;        // of the one that says how large arrays are
    const char *const *names; // of its parameters in C
    const uint32_t *aligns;   // of its array parameters: most of any variant
    bool needs_workspace;     // some variant does
    uint32_t n_variants;
    struct plan_variant *variants;
};

// Which drivers the package needs, by the CUDA releases that they are for.
struct driver_need {
    int oldest; // the first that runs it on every GPU that such drivers know
    int beyond; // that, if something else than GPUs needs it; 0: they do
    const char *why; // what needs it
};

// The whole.
struct plan {
    const struct package *package;
    const char *prefix; // of all names in C, or ""
    const char *name;   // of the package, as an identifier, with the prefix
    struct VEC(struct plan_entry) entries;
    struct VEC(uint16_t) parameter_sizes;
    struct plan_kernel *kernels; // package->n_kernels of them
    struct fatbin_image *images; // package->n_images of them
    struct usage_list *usage;    // of each image
    uint64_t fatbin_size, fatbin_hash;
    struct driver_need need; // once the fatbin is made
};

// Lay out a package, whose fatbin is to be made of `images`.
void plan_make(struct arena *a, const struct package *package,
               struct plan *out);

// Return whether an image must hold a launch.
bool plan_needs(const struct package_image *image, const char *entry);

// Report what of the plan cannot be a name in C.
// Returns false after reporting an error.
bool plan_check_names(struct arena *a, const struct plan *plan,
                      struct diag_list *diags);

#endif
