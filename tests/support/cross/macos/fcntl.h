/* fcntl.h, see README.md. */

#ifndef CROSS_MACOS_FCNTL_H
#define CROSS_MACOS_FCNTL_H

#include "begin.h"

enum { O_WRONLY = 0x1, O_CREAT = 0x200, O_EXCL = 0x800, O_CLOEXEC = 0x1000000 };

CROSS_BEGIN
int open(const char *path, int flags, ...);
CROSS_END

#endif
