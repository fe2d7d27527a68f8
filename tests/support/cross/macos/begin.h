/* begin.h, see README.md. */

#ifndef CROSS_MACOS_BEGIN_H
#define CROSS_MACOS_BEGIN_H

#ifdef __cplusplus
#define CROSS_BEGIN extern "C" {
#define CROSS_END   }
#else
#define CROSS_BEGIN
#define CROSS_END
#endif

#endif
