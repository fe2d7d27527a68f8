// Blocks signals that would leave files half written.

#ifndef NVPTX_HOLD_H
#define NVPTX_HOLD_H

#include <signal.h>

// Hold the signals that ask the process to end, and the one of a limit of file
// sizes, so that this is an error like a full disk.
void hold_signals(sigset_t *before);

// Let them act; but that of the limit, if it came, is forgotten.  Keeps errno.
void release_signals(const sigset_t *before);

#endif
