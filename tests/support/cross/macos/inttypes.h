/* inttypes.h, see README.md. */

#ifndef CROSS_MACOS_INTTYPES_H
#define CROSS_MACOS_INTTYPES_H

#include <stdint.h>

#define PRIu32 "u"
#define PRId64 "lld"
#define PRIu64 "llu"
#define PRIx64 "llx"

#endif
