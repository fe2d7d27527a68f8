// Switching stacks.

#ifndef TOOLS_SIMT_FIBER_H
#define TOOLS_SIMT_FIBER_H

#include <stddef.h>

// Save where this stack is in `*from`, and go on where `to` was saved.
void fiber_switch(void **from, void *to);

// Prepare a stack of `bytes` bytes at `base` on which the first switch calls
// `run(argument)`, which must not return.  Returns what to switch to.
void *fiber_prepare(void *base, size_t bytes, void (*run)(void *),
                    void *argument);

#endif
