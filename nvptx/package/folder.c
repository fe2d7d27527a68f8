// Makes and locks the folder of results.

#define _GNU_SOURCE // flock

#include "nvptx/package/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_PAUSE_MS = 5, LOCK_PAUSES = 120000, MODE = 0777 };

// Return the first `n` characters of a path.
static const char *part_of(struct arena *a, const char *path, size_t n)
{
    return arena_printf(a, "%.*s", (int)n, path);
}

// Return the length of the path up to the slash, or end, behind `at`.
static size_t next_part(const char *path, size_t at)
{
    at += strspn(path + at, "/");
    return at + strcspn(path + at, "/");
}

// Make one folder unless it is there.  Returns an errno.
static int make_one(const char *path, bool *is_new)
{
    struct stat status;
    *is_new = mkdir(path, MODE) == 0;
    int error = *is_new ? 0 : errno;
    if (*is_new || (stat(path, &status) == 0 && S_ISDIR(status.st_mode)))
        return 0;
    return error == EEXIST ? ENOTDIR : error;
}

int folder_make(struct arena *a, struct folder *f)
{
    const char *path = f->path ? f->path : "";
    for (size_t n = next_part(path, 0); n > 0; n = next_part(path, n)) {
        bool is_new;
        int error = make_one(part_of(a, path, n), &is_new);
        if (error)
            return error;
        if (is_new && !f->made)
            f->made = n;
        if (!path[n])
            break;
    }
    return 0;
}

void folder_undo(struct arena *a, const struct folder *f)
{
    for (size_t n = f->made ? strlen(f->path) : 0; n && n >= f->made; n--)
        if (f->path[n] == '/' || f->path[n] == '\0')
            rmdir(part_of(a, f->path, n));
}

// Return whether a signal waits that would end the process.
static bool is_asked_to_end(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t waiting;
    sigpending(&waiting);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sigismember(&waiting, ends[i]) == 1)
            return true;
    return false;
}

int folder_lock(const char *path, int *lock)
{
    const struct timespec pause = {0, LOCK_PAUSE_MS * 1000000};
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = 0;
    for (int i = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        error = is_asked_to_end() ? EINTR : i >= LOCK_PAUSES ? EBUSY : 0;
        if (error)
            break;
        nanosleep(&pause, NULL);
    }
    *lock = fd;
    return error;
}
