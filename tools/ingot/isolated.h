// Runs what may crash or never end in a process of its own.

#ifndef TOOLS_INGOT_ISOLATED_H
#define TOOLS_INGOT_ISOLATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How it ended.
enum isolated_end {
    ISOLATED_DONE,
    ISOLATED_CRASHED,
    ISOLATED_TOO_LONG,
    ISOLATED_NO_PROCESS, // none could be started
};

// What to run.
struct isolated {
    void (*work)(void *context); // in the child
    void *context;
    const volatile uint64_t *progress; // in shared memory: changes whenever the
                                       // time begins anew
    double seconds;                    // that may pass without
    void (*tick)(void *context);       // called now and then in the parent
};

enum { ISOLATED_TEXT = 2048 };

// What came of it.
struct isolated_result {
    enum isolated_end end;
    const char *reason;       // of a crash: which signal, or "exit"
    char text[ISOLATED_TEXT]; // what it wrote to the standard error, cut off
};

// Run the work and wait for its end.  What it leaves in shared memory is there.
void isolated_run(const struct isolated *what, struct isolated_result *out);

// Return zeroed memory shared with children, or NULL; isolated_free releases
// it.
void *isolated_alloc(size_t bytes);
void isolated_free(void *memory, size_t bytes);

#endif
