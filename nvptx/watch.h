// Watches a process group with the children of its leader: how much processor time they
// have used, and since when they do nothing.  A busy machine makes neither larger.
//
//   struct watch w = watch_start(group, 600000);
//   while (watch_look(&w) == WATCH_FINE)
//       ...                 // and watch_progress(&w) whenever it says something

#ifndef NVPTX_WATCH_H
#define NVPTX_WATCH_H

#include <stdint.h>
#include <sys/types.h>

// What a look at a group tells.
enum watch_end {
    WATCH_FINE,
    WATCH_OVERTIME, // it used more processor time than its limit
    WATCH_IDLE,     // for so long it used none, and said nothing
};

// A group under watch.  Times are in milliseconds.
struct watch {
    pid_t group; // and its leader
    int64_t
        limit;    // of its processor time, and of the time that it does nothing
    int64_t used; // processor time, when it was last looked at
    int64_t since; // when it last did something
    int64_t next;  // when to look again
};

// Return a watch over a group that was just started.
struct watch watch_start(pid_t group, int64_t limit);

// Note that the group said something.
void watch_progress(struct watch *w);

// Look at the group, unless the last look was just now.
enum watch_end watch_look(struct watch *w);

// Return how long to wait until the next look.
int watch_pause(const struct watch *w);

#endif
