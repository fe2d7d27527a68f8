/* unistd.h, see README.md. */

#ifndef CROSS_MACOS_UNISTD_H
#define CROSS_MACOS_UNISTD_H

#include "begin.h"

CROSS_BEGIN
int getpid(void);
int close(int file);
int unlink(const char *path);
CROSS_END

#endif
