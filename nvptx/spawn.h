// Starts a tool: its inputs are files in memory, its outputs pipes; it has no
// environment, leads a group of its own, and ends when the caller ends.

#ifndef NVPTX_SPAWN_H
#define NVPTX_SPAWN_H

#include "nvptx/process.h"

#include <sys/types.h>

enum { SPAWN_OUT, SPAWN_ERR, SPAWN_PIPES };

// A tool that was started.
struct spawned {
    pid_t pid;
    int pipes[SPAWN_PIPES]; // to read from without blocking
};

// Start a tool, which may use `cpu_seconds` of processor time in each of its
// processes.  Returns an errno.
int spawn(const struct process *p, int64_t cpu_seconds, struct spawned *out);

#endif
