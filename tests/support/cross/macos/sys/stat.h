/* sys/stat.h, see README.md. */

#ifndef CROSS_MACOS_SYS_STAT_H
#define CROSS_MACOS_SYS_STAT_H

#include "../begin.h"

struct stat {
    int device;
    unsigned short st_mode;
    char rest[136];
};
enum { S_IWOTH = 2 };
#define S_ISDIR(mode) (((mode)&0170000) == 0040000)

CROSS_BEGIN
int mkdir(const char *path, unsigned short mode);
int stat(const char *path, struct stat *status);
CROSS_END

#endif
