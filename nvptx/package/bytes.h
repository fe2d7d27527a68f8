// How large the arrays of a kernel are, in its generated header.

#ifndef NVPTX_PACKAGE_BYTES_H
#define NVPTX_PACKAGE_BYTES_H

#include "nvptx/package/writer.h"

// Append the function that says how large the arrays are.
void bytes_write(struct writer *w);

// Append its declaration.
void bytes_declare(struct writer *w);

#endif
