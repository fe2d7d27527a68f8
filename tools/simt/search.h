// Orders of atomics: a run notes which of them meet; others are done again with
// two of these the other way round.

#ifndef TOOLS_SIMT_SEARCH_H
#define TOOLS_SIMT_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct machine;
struct fiber;
struct site;

enum { ATOMICS_MOST = 512, CHOICES_MOST = 12 };

// An atomic of a run: which one of which thread.
struct atomic_event {
    uint32_t block, thread, count;
    const void *at;
    const struct site *site;
};

// Two atomics on an element by two threads: the second is to come first.
struct choice {
    struct atomic_event held, before;
};

// What is noted, and done.
struct orders {
    struct atomic_event events[ATOMICS_MOST];
    struct choice choices[CHOICES_MOST];
    size_t n_events, n_choices;
    uint32_t first;           // serial number before the run
    bool is_noted;            // this run's atomics are
    const struct choice *now; // NULL: none is to be turned round
};

// Begin a run, of which atomics are noted, or one of the choices is turned
// round (from 1); end it: find the choices.
void search_begin(struct machine *m, bool is_noted, size_t choice);
void search_end(struct machine *m);

// The current thread is about to do an atomic.
void search_point(struct machine *m, void *p, const struct site *s);

// Return whether a thread must wait for another one's atomic.
bool search_holds(const struct machine *m, const struct fiber *f);

// No thread goes on: give it up.  Returns whether one was held.
bool search_give_up(struct machine *m);

#endif
