// Writes files, then renames them:
//
//   write bytes without a name, or to `temp` if the file system must have one
//   link the bytes to `temp`
//   rename the old file to `aside`          the last file first
//   rename `temp` to the name of the file   the first file first
//   remove `aside`
//
// each for all files before the next.  So at every system call the names are
// those of the old files, or of the new ones, or fewer; and the last file is
// there only if all are.  A file alone is replaced by one rename.

#define _GNU_SOURCE // O_TMPFILE

#include "nvptx/package/commit.h"

#include "nvptx/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODE = 0666 };

// Return whether something has this name.
static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

// Close the descriptor of the bytes, if it is open.
static int close_bytes(struct pending *p)
{
    int fd = p->fd;
    p->fd = -1;
    return fd >= 0 && close(fd) != 0 ? errno : 0;
}

// ---- Steps, which return an errno -----------------------------------------

// Write the bytes, without a name if that is wanted.
static int write_bytes(struct transaction *t, struct pending *p)
{
    const int nameless = O_WRONLY | O_TMPFILE | O_CLOEXEC;
    const int named = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    struct stat status;
    if (lstat(p->file->path, &status) == 0 && S_ISDIR(status.st_mode))
        return EISDIR;
    p->fd = t->is_anonymous ? open(p->folder, nameless, MODE)
                            : open(p->temp, named, MODE);
    if (p->fd < 0 || !io_write(p->fd, p->file->bytes, p->file->size))
        return errno;
    return t->is_anonymous ? 0 : close_bytes(p);
}

// Give the bytes a name unless they have one.
static int name_bytes(struct transaction *t, struct pending *p)
{
    const char *bytes = arena_printf(t->arena, "/proc/self/fd/%d", p->fd);
    if (p->fd >= 0 &&
        linkat(AT_FDCWD, bytes, AT_FDCWD, p->temp, AT_SYMLINK_FOLLOW) != 0)
        return errno;
    return close_bytes(p);
}

// Move what has the name of the file aside, if there is more than one file.
static int move_aside(struct transaction *t, struct pending *p)
{
    if (t->n == 1 || p->is_new)
        return 0;
    return rename(p->file->path, p->aside) == 0 ? 0 : errno;
}

// Give the bytes the name of the file.
static int place(struct transaction *t, struct pending *p)
{
    (void)t;
    return rename(p->temp, p->file->path) == 0 ? 0 : errno;
}

// Remove what was moved aside.
static int drop(struct transaction *t, struct pending *p)
{
    if (t->n > 1 && !p->is_new)
        unlink(p->aside);
    return 0;
}

// A step, which is done for all files before the next.
struct step {
    int (*run)(struct transaction *t, struct pending *p);
    bool is_backward; // it begins with the last file
};

static const struct step steps[] = {{write_bytes, false},
                                    {name_bytes, false},
                                    {move_aside, true},
                                    {place, false},
                                    {drop, false}};

// ---- The way through ------------------------------------------------------

// Make everything as it was before: first no new file, then all old ones.
static void undo(struct transaction *t)
{
    for (size_t i = t->n; i-- > 0;) {
        struct pending *p = &t->all[i];
        unlink(p->temp);
        if (p->is_new || exists(p->aside))
            unlink(p->file->path);
    }
    for (size_t i = 0; i < t->n; i++)
        if (exists(t->all[i].aside))
            rename(t->all[i].aside, t->all[i].file->path);
}

void commit_settle(struct transaction *t)
{
    bool is_placed = true;
    for (size_t i = 0; i < t->n; i++) {
        close_bytes(&t->all[i]);
        is_placed &= !exists(t->all[i].temp);
    }
    if (!is_placed)
        undo(t);
    for (size_t i = 0; is_placed && i < t->n; i++)
        unlink(t->all[i].aside);
}

// Do all steps for all files, or none.
static int run_steps(struct transaction *t)
{
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        for (size_t i = 0; i < t->n; i++) {
            t->at = steps[s].is_backward ? t->n - 1 - i : i;
            int error = steps[s].run(t, &t->all[t->at]);
            if (error) {
                commit_settle(t);
                return error;
            }
        }
    }
    return 0;
}

int commit(struct transaction *t)
{
    t->is_anonymous = true;
    if (run_steps(t) == 0)
        return 0;
    t->is_anonymous = false;
    return run_steps(t);
}
