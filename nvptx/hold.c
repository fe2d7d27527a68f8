// Signals are blocked in this thread alone.

#include "nvptx/hold.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

void hold_signals(sigset_t *before)
{
    static const int held[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        sigaddset(&set, held[i]);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

void release_signals(const sigset_t *before)
{
    const struct timespec now = {0};
    const int error = errno;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    sigtimedwait(&set, NULL, &now);
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = error;
}
