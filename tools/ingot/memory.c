// Reads what Linux tells of memory.

#include "tools/ingot/memory.h"

#include "ir/base/num.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// The files of a control group, of version 2 or 1, as a container sees them.
struct group {
    const char *limit, *used, *parts;
};

// Return the number behind a name in a file of lines `name number ...`, or the
// first number of the file for NULL; -1 if there is none.
static int64_t number_in(const char *path, const char *name)
{
    char line[256], word[128];
    int64_t value, found = -1;
    FILE *f = fopen(path, "r");
    while (f && found < 0 && fgets(line, sizeof line, f)) {
        if (!name && sscanf(line, "%" SCNd64, &value) == 1)
            found = value;
        if (name && sscanf(line, "%127s %" SCNd64, word, &value) == 2 &&
            strcmp(word, name) == 0)
            found = value;
    }
    if (f)
        fclose(f);
    return found;
}

// Return what a control group leaves of its limit; files that are only cached
// count as free.
static int64_t left_in(const struct group *g)
{
    int64_t limit = number_in(g->limit, NULL), used = number_in(g->used, NULL);
    int64_t old = number_in(g->parts, "inactive_file");
    int64_t recent = number_in(g->parts, "active_file");
    if (limit < 0 || used < 0)
        return INT64_MAX;
    used -= (old > 0 ? old : 0) + (recent > 0 ? recent : 0);
    return used < limit ? limit - used : 0;
}

int64_t memory_host(void)
{
    static const struct group groups[] = {
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current",
         "/sys/fs/cgroup/memory.stat"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
         "/sys/fs/cgroup/memory/memory.usage_in_bytes",
         "/sys/fs/cgroup/memory/memory.stat"},
    };
    int64_t kib = number_in("/proc/meminfo", "MemAvailable:"), least;
    if (kib < 0 || !num_mul(kib, 1024, &least))
        least = INT64_MAX;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        int64_t left = left_in(&groups[i]);
        least = left < least ? left : least;
    }
    return least;
}

int64_t memory_add(int64_t a, int64_t b)
{
    int64_t sum;
    return num_add(a, b, &sum) ? sum : INT64_MAX;
}

bool memory_check(const char *who, const char *which, int64_t needed,
                  int64_t there, struct diag_list *diags)
{
    if (needed <= there)
        return true;
    diag_error(diags, (struct span){0}, D_no_memory, who, (long long)needed,
               which, (long long)there);
    return false;
}
