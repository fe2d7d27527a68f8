// The C functions that generated headers share.

#ifndef NVPTX_PACKAGE_HELPERS_H
#define NVPTX_PACKAGE_HELPERS_H

// Return their text: arithmetic on extents that notes overflow, which the C of
// c_expr.h calls, and what launch functions do with arrays.
const char *helpers_text(void);

#endif
