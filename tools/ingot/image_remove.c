// Leaves images of an artefact out.

#include "tools/ingot/image.h"

bool image_remove(struct image_request *r, struct diag_list *diags,
                  struct change *change)
{
    const struct fatbin *fatbin = &r->artefact.what.fatbin;
    bool *leaves = arena_array(r->arena, bool, fatbin->images.n);
    size_t n = 0;
    for (size_t i = 0; i < r->names.n; i++) {
        size_t at = artefact_find(&r->artefact, r->names.at[i]);
        if (at == fatbin->images.n) {
            artefact_lacks(&r->artefact, r->names.at[i], diags);
            return false;
        }
        leaves[at] = true;
    }
    for (size_t i = 0; i < fatbin->images.n; i++) {
        if (leaves[i])
            continue;
        change->images.at[n] = change->images.at[i];
        change->usage.at[n++] = change->usage.at[i];
    }
    change->images.n = change->usage.n = n;
    if (!n)
        diag_error(diags, (struct span){0}, D_image_last, r->artefact.path);
    return n > 0;
}
