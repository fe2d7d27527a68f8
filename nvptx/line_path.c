// The paths of sources, as lines of code have them.

#include "nvptx/nvptx.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

const char *nvptx_line_path(struct arena *a, const char *path)
{
    char folder[PATH_MAX];
    size_t common = 0, n = 0;
    struct buf up = {0};
    if (path[0] != '/' || !getcwd(folder, sizeof folder - 1))
        return path;
    strcat(folder, "/");
    for (; path[n] && path[n] == folder[n]; n++)
        if (path[n] == '/')
            common = n + 1;
    for (const char *at = folder + common; (at = strchr(at, '/')); at++)
        buf_text(&up, "../");
    const char *result =
        arena_printf(a, "%s%s", up.n ? up.data : "", path + common);
    buf_free(&up);
    return result;
}

// Return a path from the root of the file system; where the folder is not known, as
// it is.
static const char *absolute(struct arena *a, const char *path)
{
    char folder[PATH_MAX];
    return path[0] == '/' || !getcwd(folder, sizeof folder)
               ? path
               : arena_printf(a, "%s/%s", folder, path);
}

// Return what stands behind a part that ends with a name of a path; NULL if the path
// does not begin with it.
static const char *behind(const char *path, const char *part)
{
    size_t n = strlen(part);
    bool begins = strncmp(path, part, n) == 0;
    bool ends =
        begins && (!path[n] || path[n] == '/' || (n && part[n - 1] == '/'));
    return ends ? path + n : NULL;
}

const char *nvptx_mapped_path(struct arena *a,
                              const struct nvptx_path_map *maps, size_t n,
                              const char *path)
{
    for (size_t i = n; i-- > 0;) {
        bool is_absolute = maps[i].from[0] == '/';
        const char *rest =
            behind(is_absolute ? absolute(a, path) : path, maps[i].from);
        if (rest)
            return arena_printf(a, "%s%s", maps[i].to, rest);
    }
    return nvptx_line_path(a, path);
}
