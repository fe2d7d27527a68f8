// How many parts of a build run at a time.
//
// A process runs one part as it is. Below `make -j` it runs a further one for each token
// that it takes from make's jobserver, a pipe that all commands of that make share, and
// gives each token back.
//
//   jobs_start(&jobs, getenv("MAKEFLAGS"), 0);
//   jobs_run(&jobs, n, make_part, parts);
//   jobs_end(&jobs);

#ifndef TOOLS_LIBINGOT_JOBS_H
#define TOOLS_LIBINGOT_JOBS_H

#include <stdbool.h>
#include <stddef.h>

struct jobs {
    size_t most;  // at a time
    bool is_make; // below make: each but the first needs a token
    int from, to; // the ends of the pipe of tokens
};

// Start to share: `flags` are MAKEFLAGS or NULL, `most` parts run at a time, 0 stands for
// the number of processors.
void jobs_start(struct jobs *j, const char *flags, size_t most);

// Call work(context, i) for each i below `n`, on several threads, and return when all have
// returned.  Without `j` all run at a time.
void jobs_run(const struct jobs *j, size_t n, void (*work)(void *, size_t),
              void *context);

// Close what jobs_start opened.
void jobs_end(struct jobs *j);

#endif
