// Writes files and gives them their names, all or none.

#ifndef NVPTX_PACKAGE_COMMIT_H
#define NVPTX_PACKAGE_COMMIT_H

#include "nvptx/package/output.h"

// A file on its way.
struct pending {
    const struct output *file;
    const char *folder; // of the file
    const char *base;   // its name in the folder
    const char *temp;   // the name of its bytes before they have their own
    const char *aside;  // where what has its name goes meanwhile
    bool is_new;        // nothing has its name
    int fd;             // its bytes before they have a name, else -1
};

// Files that are written together.
struct transaction {
    struct arena *arena;
    struct pending *all;
    size_t n, at;      // `at` is the file that a step is at
    bool is_anonymous; // bytes are written before they have a name
};

// Write all files and replace the old ones; on failure everything is as it was.
// Returns an errno.
int commit(struct transaction *t);

// Bring what a commit left, wherever it ended, to the old files or the new ones, as
// the names tell how far it had come.
void commit_settle(struct transaction *t);

#endif
