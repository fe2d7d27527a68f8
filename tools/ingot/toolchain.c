// Finds the CUDA tools.

#include "tools/ingot/toolchain.h"

#include "nvptx/process.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Add a folder unless its name is missing or empty.
static void add_folder(struct toolchain *t, const char *folder,
                       const char *from)
{
    if (!folder || !*folder)
        return;
    t->folders[t->n] = folder;
    t->from[t->n++] = from;
}

void toolchain_start(struct toolchain *t, const char *chosen)
{
    *t = (struct toolchain){0};
    if (chosen) {
        add_folder(t, chosen, "--cuda");
        return;
    }
    add_folder(t, getenv("INGOT_CUDA"), "INGOT_CUDA");
    add_folder(t, getenv("CUDA_HOME"), "CUDA_HOME");
    add_folder(t, "/usr/local/cuda", "the usual place");
    add_folder(t, INGOT_CUDA_DEFAULT, "the build of ingot");
    t->path = getenv("PATH");
}

const char *toolchain_find(const struct toolchain *t, struct arena *a,
                           const char *name, struct diag_list *diags)
{
    const char *found = process_find(a, name, t->folders, t->n, t->path);
    if (found)
        return found;
    diag_error(diags, (struct span){0}, D_tool_missing, name);
    for (size_t i = 0; i < t->n; i++)
        diag_note(diags, (struct span){0}, "not in %s/bin (%s)", t->folders[i],
                  t->from[i]);
    if (t->path)
        diag_note(diags, (struct span){0}, "not in PATH");
    diag_help(diags, "install the CUDA toolkit, or name its folder with --cuda "
                     "or in INGOT_CUDA");
    return NULL;
}

// Map a file.  Returns false if it cannot be read or is empty.
static bool map_file(const char *path, const void **bytes, size_t *size)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    void *map = MAP_FAILED;
    if (fstat(fd, &info) == 0 && info.st_size > 0)
        map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return false;
    *bytes = map;
    *size = (size_t)info.st_size;
    return true;
}

// Write the path of libdevice in a folder.  Returns false if it is too long.
static bool libdevice_in(const char *folder, char path[PATH_MAX])
{
    int n =
        snprintf(path, PATH_MAX, "%s/nvvm/libdevice/libdevice.10.bc", folder);
    return n > 0 && n < PATH_MAX;
}

const char *toolchain_libdevice_path(const struct toolchain *t, struct arena *a)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < t->n; i++)
        if (libdevice_in(t->folders[i], path) && access(path, R_OK) == 0)
            return arena_printf(a, "%s", path);
    return NULL;
}

void toolchain_libdevice(const struct toolchain *t, const void **bytes,
                         size_t *size)
{
    char path[PATH_MAX];
    *bytes = NULL;
    *size = 0;
    for (size_t i = 0; i < t->n && !*bytes; i++)
        if (libdevice_in(t->folders[i], path))
            map_file(path, bytes, size);
}
