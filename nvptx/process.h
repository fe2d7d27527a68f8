// Runs tools: several at once, without a shell, without environment, without
// temporary files, within limits of processor time and output.
//
//   const char *argv[] = {"/opt/cuda/bin/ptxas", "--version", NULL};
//   struct process p = {.argv = argv, .limit_ms = 10000};
//   process_run(arena, &p, 1);
//   if (p.end == PROCESS_EXITED && p.code == 0) use(p.output.data);
//   process_free(&p);
//
// A tool and whatever it started are one process group, and no process of it
// is left when process_run returns; when the caller is ended, so is the tool.

#ifndef NVPTX_PROCESS_H
#define NVPTX_PROCESS_H

#include "ir/base/arena.h"
#include "ir/base/buf.h"

#include <stdint.h>

enum {
    PROCESS_INPUTS_MOST = 64,
    PROCESS_OUTPUT_MOST = 256 << 20, // bytes, unless the request says less
};

// How a process ended.
enum process_end {
    PROCESS_EXITED,      // `code` is its exit status
    PROCESS_SIGNALED,    // `code` is the signal
    PROCESS_NOT_STARTED, // `code` is an errno
    PROCESS_OVERTIME,    // killed after `limit_ms` of processor time
    PROCESS_IDLE,        // killed after `limit_ms` without a sign of life
    PROCESS_FLOODED,     // killed after `output_most` bytes
};

// A file in memory that the process may open and read.
struct process_input {
    const void *bytes;
    size_t size;
};

// One process: what is asked for, and what came of it.
struct process {
    const char *const *argv;            // argv[0] is its path; NULL ends it
    const struct process_input *inputs; // the first is its standard input,
    size_t n_inputs;                    // input k > 0 its /dev/fd/(k + 2)
    int64_t limit_ms;                   // 0: ten minutes
    size_t output_most;                 // bytes; 0: PROCESS_OUTPUT_MOST

    enum process_end end;
    int code;                  // see process_end
    double ms;                 // until it closed its last stream
    struct buf output, errors; // what it wrote; process_free releases them
};

// Return the path of a tool: in the first of `n` folders that has it in its
// `bin`, or else in a folder of `path`, which is written as $PATH is and may be
// NULL.  NULL if it is in none.
const char *process_find(struct arena *a, const char *name,
                         const char *const *folders, size_t n,
                         const char *path);

// Run `n` processes at the same time, until each has ended.
void process_run(struct arena *scratch, struct process *all, size_t n);

// Release the outputs of a process that has run.
void process_free(struct process *p);

// Append how it ended: "exited with status 1", "ran longer than 60 s" ...
void process_ending(const struct process *p, struct buf *out);

// Append the command as one would type it into a shell.
void process_command(const struct process *p, struct buf *out);

#endif
