// The options that say for which architectures to compile, and with which
// tools: --arch, --ptx, --cuda, --ptxas-timeout, --lineinfo.

#ifndef TOOLS_INGOT_TARGETS_H
#define TOOLS_INGOT_TARGETS_H

#include "tools/ingot/cli.h"
#include "tools/ingot/toolchain.h"

// What was asked for.
struct cli_targets {
    struct arena arena;
    struct VEC(const struct nvptx_target *) cubins; // --arch, without repeats
    const struct nvptx_target *ptx;                 // --ptx; NULL for none
    bool has_arch; // --arch was given; else `cubins` is empty
    bool has_ptx;  // --ptx was given
    const char *cuda;
    int64_t ptxas_limit_ms; // 0 unless it was given
    bool line_info;
};

// Give one of these as a child parser whose input is a struct cli_targets: the
// first takes all options, the second all but --ptx.
extern const struct argp cli_targets_argp, cli_machine_argp;

// Return the milliseconds of --ptxas-timeout; the end of the process if it is not a
// positive number of seconds.
int64_t cli_timeout(const char *text, struct argp_state *state);

// Ask for the PTX of an architecture, or `none`; the end of the process if there is no
// such architecture.
void cli_targets_take_ptx(struct cli_targets *t, const char *name);

// Return the architecture with all that a GPU has, sm_90a for 90, or else the next
// lower relative; NULL if there is none.
const struct nvptx_target *targets_best(unsigned sm);

// Compile for sm_90 where no architecture was named.
void cli_targets_default(struct cli_targets *t);

// Enter the targets and what LLVM needs of the toolkit into the options.
void cli_targets_apply(const struct cli_targets *t,
                       const struct toolchain *tools,
                       struct compile_options *options);

// Make the images that the options ask for; `tool` becomes the assembler that
// was found, its path NULL if none was needed.
// Returns false after reporting.
bool cli_images(struct compilation *c, const struct toolchain *tools,
                const struct compile_options *options, struct ptxas *tool);

#endif
