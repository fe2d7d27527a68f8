// Packages made for tests: kernels as text, PTX that fits them, and cubins
// where ptxas is at hand.

#ifndef TESTS_UNIT_SUPPORT_PACKAGE_FIXTURE_H
#define TESTS_UNIT_SUPPORT_PACKAGE_FIXTURE_H

#include "ir/base/diag.h"
#include "nvptx/package/package.h"
#include "nvptx/ptxas.h"

// Kernels for tests, at level flat.
extern const char fixture_vadd[];    // one launch, one variant, no workspace
extern const char fixture_softmax[]; // two launches and a workspace
extern const char fixture_mapped[];  // maps of a parameter and the workspace
extern const char fixture_guarded[]; // `where`, strides, a scalar, alignment
extern const char fixture_guarded_i32[]; // its variant for small sizes

// What a test works with.
struct fixture {
    struct arena arena;
    struct str_table names;
    struct diag_list diags;
    struct VEC(const char *) scripts; // files to remove
};

// Make a fresh one.
void fixture_start(struct fixture *f);

// Release everything.
void fixture_end(struct fixture *f);

// Parse a kernel; the test fails if it does not parse.
const struct ir_kernel *fixture_kernel(struct fixture *f, const char *text);

// Return the path of a CUDA tool, or NULL if this machine has none.
const char *fixture_tool(struct fixture *f, const char *name);

// Append PTX with an empty entry for each launch of the variants.
void fixture_ptx(const struct package *package, const char *target,
                 unsigned version, struct buf *out);

// Return a package of these kernels, without images; variants and sources are
// the same.
struct package fixture_package(struct fixture *f, const char *name,
                               const char *const *texts, size_t n);

// Give a package an image of each target, "sm_80" a cubin and "compute_75"
// PTX.  Returns false if there is no ptxas for a cubin.
bool fixture_images(struct fixture *f, struct package *package,
                    const char *const *targets, size_t n);

// Write a script for the shell into a new file of a folder for temporary files.
// Returns its path, which fixture_end removes.
const char *fixture_script(struct fixture *f, const char *text);

// Start a fixture for the true ptxas.  Skips the test where there is none.
struct ptxas fixture_start_ptxas(struct fixture *f);

// Return a script that pretends to be ptxas.
struct ptxas fixture_fake_ptxas(struct fixture *f, const char *script);

// Return a job of PTX, which is copied, for an architecture.
struct ptxas_job fixture_job(struct fixture *f, const char *target,
                             const struct buf *ptx, const char *const *entries,
                             size_t n);

// Return the text of the newest diagnostic, or "" if there is none.
const char *fixture_message(const struct fixture *f);

#endif
