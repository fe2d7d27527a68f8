// Rounds in processes of their own.

#define _DEFAULT_SOURCE

#include "rounds.h"

#include "ir/base/num.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

// How many rounds a process runs, and the seconds of the processor that one may
// take.
enum { BATCH = 250, SECONDS_MOST = 20 };

// What a process tells the one that started it.
struct told {
    uint64_t at; // the round under way
    uint32_t counts[ROUND_COUNTS];
};

// Return the next number of a generator.
static uint64_t next(uint64_t *state)
{
    return num_mix(*state += 0x9e3779b97f4a7c15u) | 1;
}

// Return what round `number` does.
static struct round plan(const struct rounds *r, uint64_t number)
{
    uint64_t state = r->seed * 1000003 + number;
    struct round round = {.rest = next(&state)};
    round.n = (uint32_t)(next(&state) / 2 % (r->calls + 1));
    for (uint32_t i = 0; i < round.n; i++)
        round.calls[i] = next(&state);
    return round;
}

// Make this process one that ends with its first failure.
static void become_trial(bool loud)
{
    static const int signals[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    setenv("CMOCKA_TEST_ABORT", "1", 1);
    int null = loud ? -1 : open("/dev/null", O_WRONLY);
    if (null >= 0) {
        dup2(null, 1);
        dup2(null, 2);
    }
}

// End this process if what begins now takes too much of the processor.
static void start_clock(void)
{
    const struct itimerval limit = {.it_value.tv_sec = SECONDS_MOST};
    setitimer(ITIMER_PROF, &limit, NULL);
}

// Wait for a process; returns whether it found nothing.
static bool is_good(pid_t child)
{
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

// Run one round in a process; returns whether it found nothing.
static bool try_round(struct rounds *r, const struct round *round, bool loud)
{
    fflush(stdout);
    fflush(stderr);
    pid_t child = fork();
    if (child != 0)
        return is_good(child);
    become_trial(loud);
    start_clock();
    r->loud = loud;
    r->run(r, round);
    fflush(stdout);
    _exit(0);
}

// Leave out every call without which a round still fails, then show it.
static void report(struct rounds *r, uint64_t number)
{
    struct round round = plan(r, number);
    for (uint32_t i = round.n; i-- > 0;) {
        struct round shorter = round;
        shorter.n--;
        for (uint32_t k = i; k < shorter.n; k++)
            shorter.calls[k] = round.calls[k + 1];
        if (!try_round(r, &shorter, false))
            round = shorter;
    }
    printf("---- round %llu\n", (unsigned long long)number);
    if (try_round(r, &round, true))
        printf("(it fails behind others only)\n");
    fflush(stdout);
}

// Run rounds from `from` on in a process; returns whether all are good.  Where
// to go on is told.
static bool run_batch(struct rounds *r, uint64_t from, struct told *told)
{
    uint64_t end = from + BATCH < r->count ? from + BATCH : r->count;
    told->at = from;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        become_trial(false);
        r->counts = told->counts;
        for (; told->at < end; told->at++) {
            struct round round = plan(r, told->at);
            start_clock();
            r->run(r, &round);
        }
        _exit(0);
    }
    bool good = is_good(child);
    if (!good)
        report(r, told->at++);
    return good;
}

uint64_t rounds_run(struct rounds *r)
{
    struct told *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t failed = 0, at = r->first;
    uint32_t *counts = r->counts;
    assert(told != MAP_FAILED && r->calls <= ROUND_CALLS);
    while (at < r->count) {
        failed += !run_batch(r, at, told);
        at = told->at;
    }
    for (size_t i = 0; i < ROUND_COUNTS; i++)
        counts[i] += told->counts[i];
    munmap(told, sizeof *told);
    return failed;
}
