/* stdlib.h, see README.md. */

#ifndef CROSS_MACOS_STDLIB_H
#define CROSS_MACOS_STDLIB_H

#include "begin.h"
#include <stddef.h>

CROSS_BEGIN
void *malloc(size_t size);
void *realloc(void *block, size_t size);
void *calloc(size_t count, size_t size);
void free(void *block);
CROSS_END

#endif
