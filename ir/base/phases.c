// Notes and prints times.

#include "ir/base/phases.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

double phases_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

void phases_add(struct phases *times, const char *name, double ms)
{
    for (size_t i = 0; times && i < times->all.n; i++) {
        if (strcmp(times->all.at[i].name, name) == 0) {
            times->all.at[i].ms += ms;
            return;
        }
    }
    if (!times)
        return;
    struct phase added = {arena_copy(times->arena, name, strlen(name)), ms};
    vec_push(times->arena, &times->all, added);
}

void phases_merge(struct phases *times, const char *phase, const char *target,
                  const struct phases *from)
{
    for (size_t i = 0; times && i < from->all.n; i++)
        phases_add(times,
                   arena_printf(times->arena, "%s/%s %s", phase, target,
                                from->all.at[i].name),
                   from->all.at[i].ms);
}

// Append one line.
static void print_line(struct buf *out, const char *indent, const char *name,
                       double ms)
{
    buf_printf(out, "%s%-*s %9.3f ms\n", indent, (int)(24 - strlen(indent)),
               name, ms);
}

// Return whether a phase is a part of the one whose name has `n` bytes.
static bool is_part(const struct phase *t, const char *phase, size_t n)
{
    return strncmp(t->name, phase, n) == 0 && t->name[n] == '/';
}

// Return whether the phase in front of a slash was added too.
static bool has_phase(const struct phases *times, const struct phase *part)
{
    for (size_t i = 0; i < times->all.n; i++) {
        const char *name = times->all.at[i].name;
        if (is_part(part, name, strlen(name)))
            return true;
    }
    return false;
}

void phases_print(const struct phases *times, struct buf *out)
{
    for (size_t i = 0; i < times->all.n; i++) {
        const struct phase *t = &times->all.at[i];
        const char *slash = strchr(t->name, '/');
        size_t n = strlen(t->name);
        if (slash && has_phase(times, t))
            continue;
        print_line(out, "", slash ? slash + 1 : t->name, t->ms);
        for (size_t k = 0; !slash && k < times->all.n; k++) {
            const struct phase *part = &times->all.at[k];
            if (is_part(part, t->name, n))
                print_line(out, "  ", part->name + n + 1, part->ms);
        }
    }
}
