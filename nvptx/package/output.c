// Writes files by way of temporary names in the same folder:
//
//   create .NAME.PID.N.tmp, write, close           for each file
//   link what has its name to .NAME.PID.N.tmp too  for each file
//   rename                                         for each file
//
// Nothing is synced to the disk, which would take most of the time of a build:
// a crash of the machine may lose what was just written, and the hash in the
// header tells the loader.

#include "nvptx/package/output.h"

#include "nvptx/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MODE = 0666, TRIES = 100 };

// A file on its way.
struct pending {
    const struct output *file;
    const char *folder; // of the file
    const char *base;   // its name in the folder
    const char *temp;   // where its bytes are; NULL: nowhere yet
    const char *backup; // what had its name before; NULL: nothing
    bool is_renamed;    // its bytes have its name
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

// Return a name beside the file that nothing has, if `i` is right.
static const char *temp_name(struct arena *a, const struct pending *p, int i)
{
    return arena_printf(a, "%s/.%s.%ld.%d.tmp", p->folder, p->base,
                        (long)getpid(), i);
}

// Create the file under a temporary name.
// Returns its descriptor, or -1 with errno.
static int create_temp(struct arena *a, struct pending *p)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    for (int i = 0; i < TRIES; i++) {
        const char *path = temp_name(a, p, i);
        int fd = open(path, flags, MODE);
        if (fd >= 0)
            p->temp = path;
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

// Write the bytes under a temporary name.
// Returns an errno.
static int write_temp(struct arena *a, struct pending *p)
{
    int fd = create_temp(a, p);
    if (fd < 0)
        return errno;
    int error = 0;
    if (!io_write(fd, p->file->bytes, p->file->size))
        error = errno;
    if (close(fd) != 0 && !error)
        error = errno;
    return error;
}

// Give what has the name of a file a second name, as far as the file system
// can.
// Returns an errno if the name cannot be taken.
static int back_up(struct arena *a, struct pending *p)
{
    struct stat status;
    if (lstat(p->file->path, &status) != 0)
        return 0;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    for (int i = 0; i < TRIES && !p->backup; i++) {
        const char *path = temp_name(a, p, i);
        if (link(p->file->path, path) == 0)
            p->backup = path;
        else if (errno != EEXIST)
            return 0;
    }
    return 0;
}

// Give a file its name.
// Returns an errno.
static int rename_temp(struct arena *a, struct pending *p)
{
    (void)a;
    if (rename(p->temp, p->file->path) != 0)
        return errno;
    p->is_renamed = true;
    return 0;
}

// Make everything as it was before the file was written.
static void undo(const struct pending *p)
{
    if (p->is_renamed && p->backup)
        rename(p->backup, p->file->path);
    else if (p->is_renamed)
        unlink(p->file->path);
    else if (p->temp)
        unlink(p->temp);
    if (p->backup)
        unlink(p->backup);
}

// The steps, each of which is done for all files before the next; they return
// an errno.
static int (*const steps[])(struct arena *a, struct pending *p) = {
    write_temp, back_up, rename_temp};

// Do all steps for all files.
// Returns an errno and sets *at to the file that failed.
static int write_files(struct arena *a, struct pending *all, size_t n,
                       size_t *at)
{
    for (size_t step = 0; step < sizeof steps / sizeof *steps; step++) {
        for (*at = 0; *at < n; ++*at) {
            int error = steps[step](a, &all[*at]);
            if (error)
                return error;
        }
    }
    return 0;
}

// Block or restore SIGXFSZ, so that a limit of file sizes is an error like a
// full disk; one that is pending is taken before.
static void hold_size_signal(bool hold, sigset_t *before)
{
    const struct timespec now = {0};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    if (hold) {
        pthread_sigmask(SIG_BLOCK, &set, before);
        return;
    }
    sigtimedwait(&set, NULL, &now);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

bool output_write(struct arena *scratch, const struct output *files, size_t n,
                  struct diag_list *diags)
{
    struct pending *all = arena_array(scratch, struct pending, n);
    sigset_t before;
    size_t at;
    for (size_t i = 0; i < n; i++) {
        all[i].file = &files[i];
        split_path(scratch, &all[i]);
    }
    hold_size_signal(true, &before);
    int error = write_files(scratch, all, n, &at);
    hold_size_signal(false, &before);
    for (size_t i = 0; i < n; i++) {
        if (error)
            undo(&all[i]);
        else if (all[i].backup)
            unlink(all[i].backup);
    }
    if (error)
        diag_error(diags, (struct span){0}, D_output_failed, files[at].path,
                   strerror(error));
    return !error;
}

// Append a file name as make reads it.
static void write_name(const char *name, struct buf *out)
{
    for (; *name; name++) {
        if (*name == ' ' || *name == '#' || *name == '\\' || *name == ':')
            buf_char(out, '\\');
        buf_printf(out, *name == '$' ? "$%c" : "%c", *name);
    }
}

void output_dependencies(const char *const *targets, size_t n_targets,
                         const char *const *sources, size_t n_sources,
                         struct buf *out)
{
    for (size_t i = 0; i < n_targets; i++) {
        buf_text(out, i ? " " : "");
        write_name(targets[i], out);
    }
    buf_char(out, ':');
    for (size_t i = 0; i < n_sources; i++) {
        buf_text(out, " \\\n  ");
        write_name(sources[i], out);
    }
    buf_char(out, '\n');
    for (size_t i = 0; i < n_sources; i++) {
        buf_char(out, '\n');
        write_name(sources[i], out);
        buf_text(out, ":\n");
    }
}
