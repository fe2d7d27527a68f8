// Writing to file descriptors.

#ifndef NVPTX_IO_H
#define NVPTX_IO_H

#include <stdbool.h>
#include <stddef.h>

// Write all of `n` bytes; false, with errno, on failure.
bool io_write(int fd, const void *bytes, size_t n);

#endif
