/* dlfcn.h: for the harness of the runtime's tests on Windows. */

#ifndef CROSS_DLFCN_H
#define CROSS_DLFCN_H

#define WIN32_LEAN_AND_MEAN
#define NOGDI
#include <string.h>
#include <windows.h>

enum { RTLD_NOW = 2, RTLD_LOCAL = 0 };

static inline void *dlopen(const char *path, int mode)
{
    (void)mode;
    return (void *)LoadLibraryA(path);
}

static inline void *dlsym(void *library, const char *name)
{
    FARPROC found = GetProcAddress((HMODULE)library, name);
    void *pointer;

    memcpy(&pointer, &found, sizeof pointer);
    return pointer;
}

#endif
