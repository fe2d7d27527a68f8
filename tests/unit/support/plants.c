#include "tests/unit/support/plants.h"

#include "ir/base/arena.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Return whether a file is one to check.
static bool is_plant(const char *name, const char *suffix)
{
    const char *dot = strrchr(name, '.'), *only = getenv("PLANT");
    return dot && strcmp(dot, suffix) == 0 && (!only || strstr(name, only));
}

void plants_check(const char *folder, const char *suffix, int least,
                  plant_check check, bool is_twin)
{
    struct arena a = {0};
    struct dirent **files;
    const char *root = getenv("SOURCE_DIR");
    const char *path = arena_printf(&a, "%s/%s", root ? root : ".", folder);
    int n = scandir(path, &files, NULL, alphasort), checked = 0;
    unsigned failures = 0;
    for (int i = 0; i < n; i++) {
        if (is_plant(files[i]->d_name, suffix)) {
            failures += check(path, files[i]->d_name, is_twin);
            checked++;
        }
        free(files[i]);
    }
    if (n >= 0)
        free(files);
    arena_reset(&a);
    assert_true(checked >= least || getenv("PLANT"));
    assert_int_equal(failures, 0);
}

const char *plant_repaired(const char *line, const char *key)
{
    const char *fixed = strstr(line, key);
    return fixed ? fixed + strlen(key) : line;
}
