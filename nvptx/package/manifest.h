// The manifest of a package: JSON about what is in the fatbin, for programs
// and for `ingot inspect`.

#ifndef NVPTX_PACKAGE_MANIFEST_H
#define NVPTX_PACKAGE_MANIFEST_H

#include "nvptx/package/plan.h"

// A value of jansson.
struct json_t;

// Append the manifest.
void manifest_write(struct arena *a, const struct plan *plan, struct buf *out);

// Return what the manifest says of an image and its kernels.
struct json_t *manifest_image(const struct fatbin_image *image,
                              const struct usage_list *usage);

// Complete what is known of the images' kernels by what a manifest says of
// them: `usage` has a list for each image of the fatbin.
// Returns NULL, or a phrase that says why the manifest does not belong to a
// fatbin with that hash.
const char *manifest_read(struct arena *a, const char *text, size_t size,
                          uint64_t fatbin_hash, struct usage_list *usage,
                          size_t n_images);

#endif
