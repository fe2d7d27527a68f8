// The folder that results are written into: made if it is missing, and locked
// while they are.

#ifndef NVPTX_PACKAGE_FOLDER_H
#define NVPTX_PACKAGE_FOLDER_H

#include "ir/base/arena.h"

// A folder, and what was made of its path.
struct folder {
    const char *path; // NULL or "": the working folder
    size_t made;      // length of the shortest path that was made; 0: none
};

// Make a folder and those above it that are missing.  Returns an errno.
int folder_make(struct arena *a, struct folder *f);

// Remove the folders that folder_make made, as far as they are empty.
void folder_undo(struct arena *a, const struct folder *f);

// Wait until no other process has locked the folder, and lock it until *lock
// is closed, which is -1 where the file system has no locks.  Returns an errno:
// EINTR if a blocked signal came, EBUSY after ten minutes.
int folder_lock(const char *path, int *lock);

#endif
