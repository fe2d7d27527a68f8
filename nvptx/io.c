// Writes whole.

#include "nvptx/io.h"

#include <errno.h>
#include <unistd.h>

bool io_write(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n > 0) {
        ssize_t done = write(fd, at, n);
        if (done < 0 && errno != EINTR)
            return false;
        if (done > 0) {
            at += done;
            n -= (size_t)done;
        }
    }
    return true;
}
