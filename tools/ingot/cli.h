// What the subcommands share: exit codes, files, tools, printing.

#ifndef TOOLS_INGOT_CLI_H
#define TOOLS_INGOT_CLI_H

#include "ir/base/suggest.h"
#include "tools/libingot/compile.h"

#include <argp.h>

// How the command ends.
enum exit_code {
    EXIT_DONE = 0,
    EXIT_INPUT = 1, // the input is wrong, or a result
    EXIT_USAGE = 2, // the command line is wrong
    EXIT_TOOL = 3,  // a tool, a device or the file system failed
};

// The subcommands, and what each takes.
#define COMMAND(name, help)                                                    \
    int command_##name(int argc, char **argv);                                 \
    extern const struct argp name##_argp;
#include "tools/ingot/commands.def"
#undef COMMAND

// Print diagnostics to the standard error, in colour on a terminal, and
// return the exit code that they call for.
int cli_report(const struct diag_list *diags);

// Append a file, `-` for the standard input.
// Returns false after reporting.
bool cli_read(const char *path, struct buf *out, struct diag_list *diags);

// Return the name of a source without folders and extension.
const char *cli_stem(struct arena *a, const char *path);

// Return the path of the manifest beside a fatbin.
const char *cli_manifest(struct arena *a, const char *path);

// Return the path of the records of tuning beside a source, NAME.tuned; NULL
// if there is no such file.
const char *cli_tuned(struct arena *a, const char *path);

// Add the records of tuning beside a source, if there are any.
// Returns false after reporting.
bool cli_add_tuned(struct compilation *c, const char *path);

// Read a file, `-` for the standard input, and add it to a compilation, with
// the records of tuning beside it.
// Returns false after reporting.
bool cli_add_file(struct compilation *c, const char *path);

// The options that every command that compiles takes; give `cli_compile_argp`
// as a child parser whose input is this struct.
struct cli_compile {
    struct compile_options options;
    struct VEC(struct sched_setting) settings; // --set name=value
    struct VEC(const char *) schedules;        // --schedules: files
    struct VEC(const char *) instances;        // --instance: clauses
    struct diag_policy policy;                 // --no-warn, --warn-as-error
    struct arena arena;                        // of the settings
    struct buf log;                            // what passes write
    struct phases times;                       // --time
    const char *stop_after; // --stop-after; "schedule" or a pass, or NULL
};
extern const struct argp cli_compile_argp;

// The same with --stop-after; it fills `stop_after`.
extern const struct argp cli_stop_argp;

// Run the compilation as far as --stop-after says, or to the end.
// Returns false after reporting.
bool cli_lower(struct cli_compile *o, const struct compile_options *options,
               struct compilation *c);

// Print kernels as text with an empty line between them.
// Returns false after saying why that failed.
bool cli_print_kernels(struct ir_kernel *const *kernels, size_t n);

// Write text to the standard output.  Returns false after saying why it failed.
bool cli_print(const struct buf *text);

// Say on a terminal what takes time now; NULL removes it.
void cli_progress(const char *text);

// Return "; did you mean `a`?", what to write for a word of another language
// (ir/base/foreign.def), or nothing if nothing is near.
const char *cli_hint(struct arena *a, const struct suggest *s);

// Take --no-warn with its list of codes, and --warn-as-error, whose list may be NULL:
// all; what is no code ends the process.
void cli_silence(struct diag_policy *policy, const char *list,
                 struct argp_state *state);
void cli_warn_as_error(struct diag_policy *policy, const char *list,
                       struct argp_state *state);

// Give a compilation what --no-warn and --warn-as-error say, and ask it for the
// instances of --instance, before its files are added.
void cli_ask_instances(const struct cli_compile *c, struct compilation *to);

// Add the files of --schedules, behind the kernels.
// Returns false after reporting.
bool cli_add_schedules(const struct cli_compile *c, struct compilation *to);

// Add files to a compilation, with the instances that --instance asks for, and
// the files of --schedules behind them.
// Returns false after reporting.
bool cli_add_files(const struct cli_compile *c, struct compilation *to,
                   const char *const *paths, size_t n);

// Print the log and the times to the standard error, and empty them.
void cli_print_log(struct cli_compile *c);

// Print the log, and release everything.
void cli_end(struct cli_compile *c);

// Take the one file that a command has; a second one ends the process.
void cli_take_file(const char **file, const char *arg,
                   struct argp_state *state);

// Report an option that a command does not have, with what may be meant, and end
// the process.
void cli_check_options(const struct argp *argp, int argc, char **argv);

// Run argp; usage errors end the process with EXIT_USAGE.
void cli_parse(const struct argp *argp, int argc, char **argv, void *input);

#endif
