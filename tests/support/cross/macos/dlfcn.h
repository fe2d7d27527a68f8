/* dlfcn.h, see README.md. */

#ifndef CROSS_MACOS_DLFCN_H
#define CROSS_MACOS_DLFCN_H

#include "begin.h"

enum { RTLD_NOW = 2, RTLD_LOCAL = 4 };

CROSS_BEGIN
void *dlopen(const char *path, int mode);
void *dlsym(void *library, const char *name);
char *dlerror(void);
CROSS_END

#endif
