// Adds up what /proc says of the processes of a group, of the children of its leader,
// which may have groups of their own, and of those that they have waited for.

#include "nvptx/watch.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// A group is looked at ten times within its limit, but not all the time.
enum { LOOKS = 10, PAUSE_LEAST_MS = 5, PAUSE_MOST_MS = 1000 };

// Return milliseconds of a clock.
static int64_t clock_ms(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// Return the processor time of a process in ticks, if it is of the group or a child of
// its leader.
static long long ticks_of(const char *process, pid_t group)
{
    char path[64], text[512];
    long long parent, of, user, system, waited_user, waited_system;
    snprintf(path, sizeof path, "/proc/%.16s/stat", process);
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    const char *rest = strrchr(text, ')');
    if (!rest ||
        sscanf(rest,
               ") %*c %lld %lld %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %lld "
               "%lld",
               &parent, &of, &user, &system, &waited_user, &waited_system) != 6)
        return 0;
    return of == group || parent == group
               ? user + system + waited_user + waited_system
               : 0;
}

// Return the processor time of a group.
static int64_t group_ms(pid_t group)
{
    DIR *all = opendir("/proc");
    long long ticks = 0;
    for (struct dirent *e = all ? readdir(all) : NULL; e; e = readdir(all))
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
            ticks += ticks_of(e->d_name, group);
    if (all)
        closedir(all);
    return ticks * 1000 / sysconf(_SC_CLK_TCK);
}

// Return the processor time of a group: that of its leader is known better.
static int64_t used_by(pid_t group)
{
    clockid_t clock;
    int64_t all = group_ms(group);
    int64_t leader =
        clock_getcpuclockid(group, &clock) == 0 ? clock_ms(clock) : 0;
    return all > leader ? all : leader;
}

// Return the time between two looks.
static int64_t pause_of(int64_t limit)
{
    int64_t pause = limit / LOOKS;
    return pause < PAUSE_LEAST_MS  ? PAUSE_LEAST_MS
           : pause > PAUSE_MOST_MS ? PAUSE_MOST_MS
                                   : pause;
}

struct watch watch_start(pid_t group, int64_t limit)
{
    int64_t now = clock_ms(CLOCK_MONOTONIC);
    return (struct watch){.group = group,
                          .limit = limit,
                          .since = now,
                          .next = now + pause_of(limit)};
}

void watch_progress(struct watch *w)
{
    w->since = clock_ms(CLOCK_MONOTONIC);
}

enum watch_end watch_look(struct watch *w)
{
    int64_t now = clock_ms(CLOCK_MONOTONIC);
    if (now < w->next)
        return WATCH_FINE;
    w->next = now + pause_of(w->limit);
    int64_t used = used_by(w->group);
    if (used > w->used) {
        w->used = used;
        w->since = now;
    }
    if (used > w->limit)
        return WATCH_OVERTIME;
    return now - w->since > w->limit ? WATCH_IDLE : WATCH_FINE;
}

int watch_pause(const struct watch *w)
{
    int64_t left = w->next - clock_ms(CLOCK_MONOTONIC);
    return left < 0 ? 0 : (int)left + 1;
}
