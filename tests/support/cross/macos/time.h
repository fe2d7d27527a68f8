/* time.h, see README.md. */

#ifndef CROSS_MACOS_TIME_H
#define CROSS_MACOS_TIME_H

#include "begin.h"

struct timespec {
    long tv_sec, tv_nsec;
};
typedef enum { CLOCK_MONOTONIC = 6 } clockid_t;

CROSS_BEGIN
int clock_gettime(clockid_t clock, struct timespec *now);
CROSS_END

#endif
