// The images of an artefact, added and removed after it was built, without its source:
// for `ingot image`.
//
//   struct change change = {...};             the images that it is to have
//   change_write(arena, &change, &fatbin, &manifest);
//
// The header that the artefact was built with goes on serving: the new fatbin says by a
// stamp of which build it is (fatbin.h).

#ifndef NVPTX_PACKAGE_CHANGE_H
#define NVPTX_PACKAGE_CHANGE_H

#include "nvptx/package/inspect.h"

// What an artefact is to have.
struct change {
    struct VEC(struct fatbin_image) images;
    struct VEC(struct usage_list) usage; // of each image
    uint64_t built;               // the hash of the fatbin as it was built
    const char *ptxas;            // what made an image that is new, or NULL
    struct inspect_file manifest; // as it is; without bytes: there is none
};

// Append the new fatbin, and the new manifest if there is an old one, which must be
// what manifest_read takes.
void change_write(struct arena *a, struct change *change, struct buf *fatbin,
                  struct buf *manifest);

// Return NULL, or a phrase that says why an image whose kernels are `image` and whose
// manifest is `theirs` cannot serve the header of `ours`: it is of other kernels, or of
// other launches.
const char *change_fault(struct arena *a, const struct inspect_file *ours,
                         const struct inspect_file *theirs,
                         const struct usage_list *image);

// Return the name of a launch of a manifest that waits by itself for the one before it
// (`programmatic`), or NULL.  The loader believes that of every image for sm_90 and
// newer, and code that was made of older PTX does not wait.
const char *change_waiting(struct arena *a,
                           const struct inspect_file *manifest);

#endif
