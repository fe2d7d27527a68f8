/* stdio.h, see README.md. */

#ifndef CROSS_MACOS_STDIO_H
#define CROSS_MACOS_STDIO_H

#include "begin.h"
#include <stdarg.h>
#include <stddef.h>

typedef struct file FILE;
enum { SEEK_SET = 0, SEEK_END = 2 };

CROSS_BEGIN
FILE *fopen(const char *path, const char *mode);
FILE *fdopen(int file, const char *mode);
int fclose(FILE *file);
int ferror(FILE *file);
int fseek(FILE *file, long offset, int from);
long ftell(FILE *file);
size_t fread(void *bytes, size_t size, size_t count, FILE *file);
size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file);
int rename(const char *from, const char *to);
int snprintf(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int vsnprintf(char *text, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
CROSS_END

#endif
