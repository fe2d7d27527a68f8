// Kernels to PTX: everything that knows LLVM.
//
//   const struct nvptx_target *sm = nvptx_target_find("sm_90", diags);
//   struct nvptx_options o = {.target = sm, .form = NVPTX_PTX,
//                             .opt_level = 2};
//   nvptx_emit_isolated(arena, kernels, n, &o, &ptx, diags);
//
// Every call has an LLVM context of its own and keeps nothing: calls from
// several threads are independent, once `nvptx_start` has returned.

#ifndef NVPTX_NVPTX_H
#define NVPTX_NVPTX_H

#include "ir/base/buf.h"
#include "ir/base/diag.h"
#include "ir/base/phases.h"
#include "ir/ir.h"

// An architecture: a row of sm.def.
struct nvptx_target {
    const char *name;     // "sm_90a"
    unsigned number;      // 90
    char kind;            // 0, 'a' or 'f'
    unsigned ptx;         // lowest PTX version, times ten
    unsigned most_shared; // bytes of shared memory a block can have
    unsigned llvm;        // first version that knows it
};

// Return whether the LLVM that this was built with makes code for an
// architecture.
bool nvptx_target_is_known(const struct nvptx_target *target);

// Return the architecture of that name, or NULL after reporting an error
// with suggestions.
const struct nvptx_target *nvptx_target_find(const char *name,
                                             struct diag_list *diags);

// The same, for a name that stands in the source.
const struct nvptx_target *nvptx_target_find_at(const char *name,
                                                struct span span,
                                                struct diag_list *diags);

// Return whether a set, as ir/arch_set.h reads it, holds an architecture.
bool nvptx_target_in(const struct nvptx_target *target, const char *set);

// Return the lowest architecture from `from` on that has all that a kernel's own
// statements use; NULL where only code for one architecture, with a suffix, has.
const struct nvptx_target *nvptx_target_least(struct ir_kernel *kernel,
                                              const struct nvptx_target *from);

// Return the architectures in the order of sm.def, and how many there are.
const struct nvptx_target *nvptx_targets(size_t *n);

// What to write.
enum nvptx_form {
    NVPTX_LLVM,      // LLVM IR as emitted
    NVPTX_OPTIMISED, // LLVM IR after optimisation: what becomes PTX
    NVPTX_PTX,
};

// Return the path by which lines name a source: from the working folder, as an
// absolute one would make the code depend on where it was built.
const char *nvptx_line_path(struct arena *a, const char *path);

// What stands in the place of the first folders of a path, in lines.
struct nvptx_path_map {
    const char *from, *to;
};

// Return the path of a source as lines name it: by the last map whose `from` it begins
// with, as it is given or from the root; by none, as nvptx_line_path does.
const char *nvptx_mapped_path(struct arena *a,
                              const struct nvptx_path_map *maps, size_t n,
                              const char *path);

// How to emit.
struct nvptx_options {
    const struct nvptx_target *target;
    enum nvptx_form form;
    bool line_info; // `.loc` lines: profilers and nvdisasm show the source
    const struct nvptx_path_map *path_maps; // of the sources there
    size_t n_path_maps;
    bool fast_math;      // approximations in every kernel
    bool no_extra_loads; // only threads that need a value load it: for tools
                         // that look for races
    unsigned opt_level;  // 0 none, 1 fast, 2 the default, 3 everything LLVM has
    const void *libdevice; // the bitcode of libdevice, or NULL
    size_t libdevice_size; // bytes
    struct phases *times;  // of the steps, or NULL
};

// Make LLVM ready.  Every emission does so itself; a program with threads
// calls it before it starts them.
void nvptx_start(void);

// Append one module that holds an entry for each `launch` of `n` kernels at
// level flat.  An entry takes all parameters of its kernel in the order of
// the file (`int` as 64 bits, bool as 8, arrays as pointers), then a pointer
// for each array of the workspace.
// Returns false, and appends nothing, after reporting errors.  A fault inside
// LLVM may end the process.
bool nvptx_emit(struct arena *a, const struct ir_kernel *const *kernels,
                size_t n, const struct nvptx_options *options, struct buf *out,
                struct diag_list *diags);

// Warn of what a target does otherwise than directives say, once for each:
// copies by cp.async that it makes by loads and stores.
void nvptx_warn_lacks(const struct ir_kernel *const *kernels, size_t n,
                      const struct nvptx_target *target,
                      struct diag_list *diags);

// The same as nvptx_emit in a child process, so that a fault inside LLVM, or
// LLVM running for minutes, is reported as an error.
bool nvptx_emit_isolated(struct arena *a,
                         const struct ir_kernel *const *kernels, size_t n,
                         const struct nvptx_options *options, struct buf *out,
                         struct diag_list *diags);

#endif
