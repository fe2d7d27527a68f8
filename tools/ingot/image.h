// The artefact of `ingot image`, as it is and as it will be.

#ifndef TOOLS_INGOT_IMAGE_H
#define TOOLS_INGOT_IMAGE_H

#include "nvptx/package/change.h"
#include "tools/ingot/toolchain.h"

// An artefact: a fatbin, and the manifest beside it, if there is one.
struct artefact {
    struct buf fatbin, manifest;
    const char *path, *beside; // of these
    struct inspection what;
};

// Images that the command line names: "sm_120a", "compute_90".
struct image_names VEC(const char *);

// What `ingot image` is asked to do.
struct image_request {
    struct arena *arena;
    struct artefact artefact;
    struct artefact other; // of --from; its bytes live as long
    struct image_names names;
    const char *from; // --from, or NULL
    const char *cuda; // --cuda, or NULL
    int64_t ptxas_limit_ms;
};

// Read an artefact by the path of its fatbin or of its manifest.
// Returns false after reporting; the caller frees it in any case.
bool artefact_read(struct arena *a, const char *path, struct diag_list *diags,
                   struct artefact *out);

// Return the index of an image by its name, or the number of images.
size_t artefact_find(const struct artefact *artefact, const char *name);

// Report that an artefact has no image of that name.
void artefact_lacks(const struct artefact *artefact, const char *name,
                    struct diag_list *diags);

// Free the bytes of an artefact.
void artefact_free(struct artefact *artefact);

// Add images: machine code of the PTX that the artefact has, or what another build has.
// Returns false after reporting.
bool image_add(struct image_request *r, struct diag_list *diags,
               struct change *change);

// Leave images out.  Returns false after reporting.
bool image_remove(struct image_request *r, struct diag_list *diags,
                  struct change *change);

#endif
