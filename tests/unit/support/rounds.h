// Rounds of random calls, each batch in a process of its own, so that a fault
// of the compiler or an endless loop is one failure among others.  A round
// that fails is made shorter while it still fails, and then printed.

#ifndef TESTS_UNIT_SUPPORT_ROUNDS_H
#define TESTS_UNIT_SUPPORT_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

enum { ROUND_CALLS = 24, ROUND_COUNTS = 128 };

// What a round does: a random number for each call, one for the rest.
struct round {
    uint32_t n;
    uint64_t calls[ROUND_CALLS], rest;
};

// Rounds on one kernel.
struct rounds {
    void (*run)(struct rounds *r, const struct round *round); // aborts
    void *subject;
    uint64_t seed, first, count; // of the rounds
    uint32_t calls;              // most in a round
    bool loud;                   // tell what happens
    uint32_t *counts;            // ROUND_COUNTS, of what happened
};

// Run them; returns how many failed.
uint64_t rounds_run(struct rounds *r);

#endif
