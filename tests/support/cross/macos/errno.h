/* errno.h, see README.md. */

#ifndef CROSS_MACOS_ERRNO_H
#define CROSS_MACOS_ERRNO_H

#include "begin.h"

enum { EEXIST = 17 };

CROSS_BEGIN
int *__error(void);
CROSS_END
#define errno (*__error())

#endif
