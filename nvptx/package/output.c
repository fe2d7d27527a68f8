// Several renames cannot be one step of the file system.  So a child writes and
// renames, in a session of its own: whoever ends the compiler, or what hangs on
// its terminal, finds nothing begun, or has the child go on to the end.  And
// who ends the child has the compiler put right what the child left.  Only if
// both are ended between the first rename and the last, some files are missing;
// but even then none is of another kind than the others.  What stays under
// temporary names then, the next writer removes: the folder is locked while it
// is written, so those are nobody's.
//
// Nothing is synced to the disk, which would take most of the time of a build:
// a crash of the machine may lose what was just written, and the hash in the
// header tells the loader.

#define _GNU_SOURCE // pipe2

#include "nvptx/package/output.h"

#include "nvptx/hold.h"
#include "nvptx/package/commit.h"
#include "nvptx/package/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 16384 };

// What the child says.
struct answer {
    int error;
    size_t at;
};

// Split the path of a file.
static void split_path(struct arena *a, struct pending *p)
{
    const char *slash = strrchr(p->file->path, '/');
    int length = slash ? (int)(slash - p->file->path) : 0;
    p->base = slash ? slash + 1 : p->file->path;
    p->folder = !slash        ? "."
                : length == 0 ? "/"
                              : arena_printf(a, "%.*s", length, p->file->path);
}

// ---- Names ----------------------------------------------------------------

// Return a name beside the file that nothing has, the `skip`th such name.
static const char *free_name(struct arena *a, const struct pending *p, int skip)
{
    struct stat status;
    for (int i = 0;; i++) {
        const char *path = arena_printf(a, "%s/.%s.%ld.%d.tmp", p->folder,
                                        p->base, (long)getpid(), i);
        if (lstat(path, &status) != 0 && skip-- == 0)
            return path;
    }
}

// Return whether a name is a temporary one of the file.
static bool is_temp_name(const struct pending *p, const char *name)
{
    size_t n = strlen(p->base);
    int end = 0;
    if (name[0] != '.' || strncmp(name + 1, p->base, n) != 0)
        return false;
    sscanf(name + 1 + n, ".%*[0-9].%*[0-9].tmp%n", &end);
    return end > 0 && name[1 + n + (size_t)end] == '\0';
}

// Remove what killed writers left of the file.
static void remove_left(struct arena *a, const struct pending *p)
{
    DIR *folder = opendir(p->folder);
    if (!folder)
        return;
    for (struct dirent *e = readdir(folder); e; e = readdir(folder))
        if (is_temp_name(p, e->d_name))
            unlink(arena_printf(a, "%s/%s", p->folder, e->d_name));
    closedir(folder);
}

// Remove what killed writers left, and choose the names of all files.
static void choose_names(struct transaction *t, bool is_locked)
{
    for (size_t i = 0; i < t->n; i++) {
        struct pending *p = &t->all[i];
        struct stat status;
        if (is_locked)
            remove_left(t->arena, p);
        p->temp = free_name(t->arena, p, 0);
        p->aside = free_name(t->arena, p, 1);
        p->is_new = lstat(p->file->path, &status) != 0;
    }
}

// ---- What is there --------------------------------------------------------

// Return whether a file holds these bytes already.
static bool is_written(const struct output *file)
{
    char chunk[CHUNK];
    struct stat status;
    int fd = open(file->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_same = fd >= 0 && fstat(fd, &status) == 0 &&
                   S_ISREG(status.st_mode) &&
                   (uint64_t)status.st_size == file->size;
    for (size_t at = 0; is_same && at < file->size;) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        is_same = n > 0 && (size_t)n <= file->size - at &&
                  memcmp(chunk, (const char *)file->bytes + at, (size_t)n) == 0;
        at += is_same ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    return is_same;
}

// Return whether each file holds its bytes already.
static bool are_written(const struct transaction *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (!is_written(t->all[i].file))
            return false;
    return true;
}

// Give all files the time of now, if each holds its bytes already.
static bool renew(const struct transaction *t)
{
    bool is_same = are_written(t);
    for (size_t i = 0; i < t->n && is_same; i++)
        is_same = utimensat(AT_FDCWD, t->all[i].file->path, NULL, 0) == 0;
    return is_same;
}

// ---- Writing --------------------------------------------------------------

// Commit in a child; false, with nothing done, if there can be none.
static bool commit_apart(struct transaction *t, struct answer *out)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        setsid();
        struct answer answer = {.error = commit(t)};
        answer.at = t->at;
        _exit(write(ends[1], &answer, sizeof answer) != sizeof answer);
    }
    close(ends[1]);
    bool is_told = child > 0 && read(ends[0], out, sizeof *out) == sizeof *out;
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (child > 0)
        commit_settle(t);
    if (child > 0 && !is_told)
        *out = (struct answer){are_written(t) ? 0 : ECANCELED, 0};
    return child > 0;
}

// Write the files while the folder of the first is locked.
static int write_locked(struct transaction *t)
{
    struct answer answer = {0};
    int lock, error = folder_lock(t->all[0].folder, &lock);
    if (!error && !renew(t)) {
        choose_names(t, lock >= 0);
        if (commit_apart(t, &answer))
            t->at = answer.at;
        else
            answer.error = commit(t);
        error = answer.error;
    }
    if (lock >= 0)
        close(lock);
    return error;
}

bool output_write(struct arena *scratch, const char *folder,
                  const struct output *files, size_t n, struct diag_list *diags)
{
    struct transaction t = {.arena = scratch, .n = n};
    struct folder place = {.path = folder};
    sigset_t before;
    t.all = arena_array(scratch, struct pending, n);
    for (size_t i = 0; i < n; i++) {
        t.all[i] = (struct pending){.file = &files[i], .fd = -1};
        split_path(scratch, &t.all[i]);
    }
    hold_signals(&before);
    int error = folder_make(scratch, &place);
    const char *failed = error ? folder : NULL;
    if (!error)
        error = write_locked(&t);
    if (error)
        folder_undo(scratch, &place);
    release_signals(&before);
    if (error)
        diag_error(diags, (struct span){0}, D_output_failed,
                   failed ? failed : files[t.at].path, strerror(error));
    return !error;
}
