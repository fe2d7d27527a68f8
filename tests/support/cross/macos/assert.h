/* assert.h, see README.md. */

#ifndef CROSS_MACOS_ASSERT_H
#define CROSS_MACOS_ASSERT_H

#define assert(x) ((void)0)
#ifndef __cplusplus
#define static_assert _Static_assert
#endif

#endif
