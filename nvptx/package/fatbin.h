// The fatbin container: several images of the same kernels, one for each
// architecture.
//
//   header   magic, version, bytes that follow
//   entry    kind, architecture, flags, sizes; the image, padded to 8 bytes
//   entry    ...
//   stamp    of one whose images changed after it was built: "INGOTIMG", the hash of what
//            was built, the hash of all in front of the stamp
//
// What is written equals, byte by byte, what NVIDIA's fatbinary writes with
// --compress=false.  What is read is held to far more than the driver checks,
// since the driver crashes or loops on most of what is refused here.

#ifndef NVPTX_PACKAGE_FATBIN_H
#define NVPTX_PACKAGE_FATBIN_H

#include "ir/base/arena.h"
#include "ir/base/buf.h"
#include "ir/base/vec.h"
#include "nvptx/package/elf.h"

#include <stdint.h>

// What an image is; the values are those of the container.
enum image_kind { IMAGE_PTX = 1, IMAGE_CUBIN = 2 };

// One image of a fatbin.
struct fatbin_image {
    enum image_kind kind;
    uint32_t sm;       // 90 for sm_90a
    char suffix;       // 'a', 'f' or 0
    const void *bytes; // a cubin, or PTX text
    size_t size;       // without padding, for PTX without its NUL

    uint64_t offset; // of the payload in the fatbin; set by write and read
    uint64_t padded; // bytes of the payload in the fatbin; likewise
    uint64_t hash;   // fatbin_hash of the payload; likewise
};

enum { IMAGE_NAME_SIZE = 32 };

// Write "sm_90a" or, for PTX, "compute_90a" to out.
void image_name(enum image_kind kind, uint32_t sm, char suffix,
                char out[IMAGE_NAME_SIZE]);

// Append a fatbin with these images in this order.
void fatbin_write(struct arena *a, struct fatbin_image *images, size_t n,
                  struct buf *out);

// Append the stamp of a fatbin that was made of the one whose hash is `built`; nothing
// if it is that one.
void fatbin_stamp(uint64_t built, struct buf *out);

// A fatbin that was read; the images point into its bytes.
struct fatbin {
    struct VEC(struct fatbin_image) images;
    uint64_t built;  // the hash of what was built: of this one, or by its stamp
    size_t fault_at; // where reading stopped, if it failed
};

// Read a fatbin.
// Returns NULL, or a phrase that says what is malformed.
const char *fatbin_read(struct arena *a, const void *bytes, size_t size,
                        struct fatbin *out);

// List the kernels of an image that was written or read; of PTX only their
// names are known.  An image that is malformed has none.
void fatbin_kernels(struct arena *a, const struct fatbin_image *image,
                    struct usage_list *out);

// The hash that the runtime compares (ingot_hash: MurmurHash64A, seed 0).
uint64_t fatbin_hash(const void *bytes, size_t size);

#endif
