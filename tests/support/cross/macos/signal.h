/* signal.h, see README.md. */

#ifndef CROSS_MACOS_SIGNAL_H
#define CROSS_MACOS_SIGNAL_H

#include "begin.h"

typedef unsigned sigset_t;

enum { SIG_SETMASK = 3 };

CROSS_BEGIN
int sigfillset(sigset_t *set);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
CROSS_END

#endif
