// The compiler as a library: text in, artefacts and diagnostics out.  Nothing
// here prints, exits or reads the environment.
//
//   struct compilation c;
//   compile_start(&c);
//   compile_add(&c, "vadd.ing", text, size);
//   if (compile_lower(&c, &options) && compile_images(&c, &options) && ...)
//   compile_end(&c);

#ifndef TOOLS_LIBINGOT_COMPILE_H
#define TOOLS_LIBINGOT_COMPILE_H

#include "frontend/frontend.h"
#include "ir/base/buf.h"
#include "ir/base/map.h"
#include "nvptx/nvptx.h"
#include "nvptx/package/fatbin.h"
#include "nvptx/ptxas.h"
#include "passes/pass.h"
#include "tools/libingot/tuned.h"

// How to compile.
struct compile_options {
    const struct nvptx_target *const *targets; // of the cubins
    size_t n_targets;
    const struct nvptx_target *ptx; // of the embedded PTX, or NULL for none
    bool ptx_is_open; // nobody has named it: it may become a newer one
    const struct sched_setting *settings; // parameters of schedules
    size_t n_settings;
    bool line_info, fast_math; // see struct nvptx_options
    const struct nvptx_path_map *path_maps;
    size_t n_path_maps;
    unsigned opt_level;
    const void *libdevice; // bitcode, or NULL
    size_t libdevice_size;
    int64_t ptxas_limit_ms;  // of each run; 0: ten minutes
    const struct jobs *jobs; // how many images at a time; NULL: all
    bool no_schedule;        // ignore the schedules of the file, bind by rule
    const char *schedule;    // lower what one makes alone: its number for its
                             // kernel, or the name of a variant; NULL: all
    bool has_proofs;         // find out what holds for all sizes
    bool only_rules;         // leave the file's schedules out
    bool no_records;         // leave out what was measured
    bool has_records;        // keep the directives of default schedules as text
    bool has_scheduled;      // keep variants as they are before passes, too
    struct pass_options passes;
};

// Architectures: bit i is row i of nvptx_targets.
typedef uint64_t target_set;
bool target_set_has(target_set set, const struct nvptx_target *target);

// A kernel with one way to run it, lowered to level flat.
struct variant {
    const struct ir_kernel *source;      // as it was written
    struct ir_kernel *kernel;            // lowered
    const struct ir_kernel *scheduled;   // before that; NULL: nobody asked
    target_set targets;                  // whose images hold it
    const struct sched_item *schedule;   // NULL: by rule
    size_t number;                       // of the schedule for its kernel, from
                                         // 1; 0: a record made it
    struct sched_settings settings;      // of its parameters and knobs
    const struct sched_outcome *outcome; // knobs, contracts of the schedule
    struct proof *proof;                 // NULL: nobody asked
    struct sched_record *record;         // of a default schedule; NULL ...
};

// An architecture's code.
struct compiled_image {
    const struct nvptx_target *target;
    enum image_kind kind;
    const char *ptx; // the text; of a cubin too
    size_t ptx_size;
    const void *bytes; // what goes into the fatbin
    size_t size;
    struct usage_list usage; // of a cubin, as are the remarks
    struct ptxas_remarks remarks;
};

// A case of a rule that matches a kernel and cannot be applied to it, for which the
// kernel does not get the rule.
struct refused_case {
    const struct ir_kernel *kernel;
    const struct sched_item *item;
    size_t number;   // of the case in the rule, from 1; values of a list count
    const char *why; // "E0601: a factor must be at least 1 ..."
};

// All that one compilation owns.
struct compilation {
    struct arena arena, scratch;
    struct str_table names;
    struct diag_list diags;
    struct program program;
    struct program library;              // the defs of tools/std
    struct tuned tuned;                  // records of tuning: of schedules, ...
    struct records records;              // ... of what was measured
    struct VEC(struct variant) variants; // grouped by kernel, guarded first
    // Schedules that some kernel has sizes for.
    struct VEC(const struct sched_item *) used;
    struct sched_items cases; // of rules that were found
    struct VEC(struct refused_case) refused;
    struct map planned; // those that are for the build: a `struct planned`
    size_t asked;       // how often isl was asked of iterations and of sizes
    struct VEC(struct compiled_image) images;
    struct VEC(struct arena *) arenas; // of threads
};

// Begin and end a compilation; every pointer into it is gone after the end.
void compile_start(struct compilation *c);
void compile_end(struct compilation *c);

// Parse a file; the text is copied.  Returns false after errors.
bool compile_add(struct compilation *c, const char *name, const char *text,
                 size_t size);

// Ask for instances of a kernel, `NAME for T = f16`, in the place of those of the
// text, before its file is added; the text is copied.
void compile_ask_instance(struct compilation *c, const char *text);

// Read records of tuning, which set the knobs of schedules; the text is
// copied.  Returns false after errors.
bool compile_add_tuned(struct compilation *c, const char *name,
                       const char *text, size_t size);

// Apply to every kernel its schedules for the architectures of the build (for
// any, where it names none), or the default: fills `variants` with kernels at
// level stages.  A kernel in error does not hide those of others.
bool compile_schedule(struct compilation *c, const struct compile_options *o);

// Schedule every kernel and run the passes: fills `variants` with kernels at
// level flat.
bool compile_lower(struct compilation *c, const struct compile_options *o);

// Return the variants that the image of an architecture holds; NULL: all.
const struct ir_kernel *const *
compile_kernels(struct compilation *c, const struct nvptx_target *target,
                size_t *n);

// Return how to emit for an architecture.
// Let the PTX be for the lowest architecture that all kernels can run on, if
// nobody has named one; there is none where a kernel is for one architecture.
void compile_choose_ptx(const struct compilation *c, struct compile_options *o);

struct nvptx_options compile_emit_options(const struct compile_options *o,
                                          const struct nvptx_target *target,
                                          enum nvptx_form form);

// Append the variants for an architecture as LLVM IR or PTX.
bool compile_emit(struct compilation *c, const struct compile_options *o,
                  const struct nvptx_target *target, enum nvptx_form form,
                  struct buf *out);

// Make all images: PTX for each architecture, then cubins with `tool`, and
// judge what schedules promise of them.  Returns false after errors; the images
// may be there all the same, see compile_has_images.
bool compile_images(struct compilation *c, const struct compile_options *o,
                    struct ptxas *tool);

// Return whether every image was made.
bool compile_has_images(const struct compilation *c);

// Return the names of the entries that the image of an architecture holds, in
// the order of the variants.
const char *const *compile_entries(struct compilation *c,
                                   const struct nvptx_target *target,
                                   size_t *n);

#endif
