// The C functions in all generated headers.

#ifndef NVPTX_PACKAGE_HELPERS_H
#define NVPTX_PACKAGE_HELPERS_H

// Return their text: arithmetic on extents that notes overflow, which the C of
// c_expr.h calls, and what launch functions do with arrays.
const char *helpers_text(void);

#endif
