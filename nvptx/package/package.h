// From kernels and their images to what a program needs: the fatbin, the C
// header with the launch functions, and the manifest.
//
//   struct package package = {.name = "gemm", .kernels = ..., .images = ...};
//   struct package_files files;
//   if (package_make(arena, &package, diags, &files))
//       output_write(...);
//
// The same package gives the same bytes, always.

#ifndef NVPTX_PACKAGE_PACKAGE_H
#define NVPTX_PACKAGE_PACKAGE_H

#include "ir/base/buf.h"
#include "ir/base/diag.h"
#include "ir/ir.h"
#include "nvptx/package/fatbin.h"

#include <stdbool.h>

// A kernel of the file and what it was lowered to.
struct package_kernel {
    const struct ir_kernel *source;          // as written: parameters, `where`
    const struct ir_kernel *const *variants; // at level flat, in the order in
    size_t n_variants;                       // which launches try them
    uint64_t definition;                     // a hash of what it computes
};

// An image and what must be in it.
struct package_image {
    enum image_kind kind;
    uint32_t sm;
    char suffix;                // 'a', 'f' or 0
    const void *bytes;          // a cubin, or PTX text followed by a NUL
    size_t size;                // without the NUL
    struct usage_list usage;    // what ptxas said; may be empty
    const char *const *entries; // the launches that it must hold,
    size_t n_entries;           // or none for every launch of every variant
};

// What to package.
struct package {
    const char *name;   // names the files: NAME.fatbin, NAME.h, NAME.json
    const char *prefix; // in front of the names in C, or NULL
    const char *source; // the file that was compiled, as the user wrote it
    const struct package_kernel *kernels;
    size_t n_kernels;
    const struct package_image *images;
    size_t n_images;
    const char *ingot_version, *llvm_version, *ptxas_version; // NULL: unknown
    const char *fatbinary; // path of NVIDIA's tool, to have it pack; or NULL
    const char *triple;    // of an object file that holds the fatbin, or NULL
    int driver_floor;      // as the driver counts: it must do; 0: any may
    bool embed;            // the header holds the fatbin too
    bool declarations;     // the header only declares what a C file defines
};

// What comes of it; package_free releases it.
struct package_files {
    struct buf fatbin, header, manifest;
    struct buf source; // of the C file, if the header only declares
    struct buf object; // if there is a triple
    int oldest_driver; // 12000 for CUDA 12.0: older ones do not run it
    const char *needed_by;
};

// Make the files.
// Returns false after reporting an error.
bool package_make(struct arena *a, const struct package *package,
                  struct diag_list *diags, struct package_files *out);

// Release the files.
void package_free(struct package_files *files);

#endif
