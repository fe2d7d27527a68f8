/* string.h, see README.md. */

#ifndef CROSS_MACOS_STRING_H
#define CROSS_MACOS_STRING_H

#include "begin.h"
#include <stddef.h>

CROSS_BEGIN
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *one, const void *other, size_t size);
size_t strlen(const char *text);
size_t strcspn(const char *text, const char *stops);
char *strcpy(char *to, const char *from);
char *strerror(int code);
CROSS_END

#endif
