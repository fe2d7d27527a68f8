// Runs many cases in children.

#define _DEFAULT_SOURCE

#include "tests/fuzz/schedule/campaign.h"

#include "ir/base/phases.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Cases that a child runs, and the seconds by the clock that one may wait.
enum { BATCH = 100, CLOCK_MOST = 1800, JOBS_MOST = 64 };

// What a child shares with its parent.
struct slot {
    uint64_t at, end; // the case under way; behind the last one
    struct fuzz_tally tally;
    char text[CASE_MIRROR]; // the file that is checked
};

// The campaign under way.
struct crew {
    const struct fuzz_campaign *campaign;
    struct slot *slots;
    pid_t pids[JOBS_MOST]; // 0: idle
    uint64_t next;         // case that no child has
    double until;          // when the last batch begins
};

// Return memory that children share with this process, or NULL.
static void *share(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

// Make this process one that a fault ends, without a word.
static void become_child(void)
{
    static const int signals[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGABRT};
    struct rlimit no_core = {0, 0};
    int null = open("/dev/null", O_WRONLY);
    setrlimit(RLIMIT_CORE, &no_core);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    if (null >= 0)
        dup2(null, STDERR_FILENO);
}

// Let this process end if what begins now takes longer than some seconds of
// the processor.
static void start_clock(unsigned seconds)
{
    const struct itimerval limit = {.it_value.tv_sec = seconds};
    setitimer(ITIMER_PROF, &limit, NULL);
    alarm(CLOCK_MOST);
}

// Write the file of the case that a slot is at, which failed so.
static void keep(const struct fuzz_campaign *c, const struct slot *slot,
                 const char *what, const char *detail)
{
    char name[400];
    if (!c->folder)
        return;
    snprintf(name, sizeof name, "%s/%llu-%llu.ing", c->folder,
             (unsigned long long)c->seed, (unsigned long long)slot->at);
    FILE *f = fopen(name, "w");
    if (!f)
        return;
    fprintf(f, "// %s\n// %s\n%s", what, detail, slot->text);
    fclose(f);
}

// Run the cases of a slot.
static void run_batch(const struct fuzz_campaign *c, struct slot *slot)
{
    become_child();
    for (; slot->at < slot->end; slot->at++) {
        struct arena a = {0};
        struct fuzz_case one = {.seed = c->seed,
                                .number = slot->at,
                                .mirror = slot->text,
                                .is_only_drawn = c->is_only_drawn};
        start_clock(c->seconds);
        clock_t began = clock();
        fuzz_case_run(&one, &a, &slot->tally.draws, false);
        fuzz_tally_case(&slot->tally, &one,
                        (double)(clock() - began) / CLOCKS_PER_SEC);
        if (one.verdict.outcome == FUZZ_FAILED)
            keep(c, slot, one.verdict.what, one.verdict.detail);
        arena_reset(&a);
    }
    _exit(0);
}

// Start a child on what is left of its slot, or on the next cases.
static void start(struct crew *crew, unsigned job)
{
    const struct fuzz_campaign *c = crew->campaign;
    struct slot *slot = &crew->slots[job];
    uint64_t end = c->first + c->cases;
    bool is_late = c->until > 0 && phases_now() > crew->until;
    if (slot->at >= slot->end && !is_late) {
        slot->at = crew->next;
        slot->end = crew->next + BATCH < end ? crew->next + BATCH : end;
        crew->next = slot->end;
    }
    crew->pids[job] = 0;
    if (slot->at >= slot->end)
        return;
    fflush(stdout);
    crew->pids[job] = fork();
    if (crew->pids[job] == 0)
        run_batch(c, slot);
}

// Describe how a child ended that might take some seconds.
static void describe(int status, unsigned seconds, char *out, size_t size)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(out, size, "process: waits for more than %d s", CLOCK_MOST);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        snprintf(out, size, "process: takes more than %u s", seconds);
    else if (WIFSIGNALED(status))
        snprintf(out, size, "process: %s", strsignal(WTERMSIG(status)));
    else
        snprintf(out, size, "process: exit status %d", WEXITSTATUS(status));
}

// Note that a child died, with the case that it was at.
static void note_death(const struct fuzz_campaign *c, struct slot *slot,
                       int status)
{
    char what[80];
    describe(status, c->seconds, what, sizeof what);
    keep(c, slot, what, "");
    slot->tally.cases++;
    fuzz_tally_failure(&slot->tally, slot->at++, what, "");
}

// Wait for a child and start the next one in its place; false if there is none.
static bool wait_for_one(struct crew *crew)
{
    int status;
    pid_t pid = wait(&status);
    if (pid < 0)
        return false;
    for (unsigned job = 0; job < crew->campaign->jobs; job++) {
        if (crew->pids[job] != pid)
            continue;
        if (status != 0)
            note_death(crew->campaign, &crew->slots[job], status);
        start(crew, job);
    }
    return true;
}

static int compare(const void *x, const void *y)
{
    const struct fuzz_failure *a = x, *b = y;
    return (a->number > b->number) - (a->number < b->number);
}

bool fuzz_campaign_run(const struct fuzz_campaign *c, struct fuzz_tally *out)
{
    struct crew crew = {.campaign = c,
                        .next = c->first,
                        .until = phases_now() + 1000.0 * c->until};
    size_t size = c->jobs * sizeof *crew.slots;
    if (c->jobs > JOBS_MOST)
        return false;
    crew.slots = share(size);
    if (!crew.slots)
        return false;
    for (unsigned job = 0; job < c->jobs; job++)
        start(&crew, job);
    while (wait_for_one(&crew))
        continue;
    for (unsigned job = 0; job < c->jobs; job++)
        fuzz_tally_add(out, &crew.slots[job].tally);
    munmap(crew.slots, size);
    qsort(out->failures, out->n_failures, sizeof *out->failures, compare);
    return true;
}

char *fuzz_case_text(uint64_t seed, uint64_t number)
{
    char *mirror = share(CASE_MIRROR);
    int status;
    if (!mirror)
        return strdup("");
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct arena a = {0};
        struct fuzz_draws draws = {{0}, 0};
        struct fuzz_case one = {
            .seed = seed, .number = number, .mirror = mirror};
        become_child();
        start_clock(FUZZ_SECONDS);
        fuzz_case_run(&one, &a, &draws, false);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    char *text = strdup(mirror);
    munmap(mirror, CASE_MIRROR);
    return text;
}

struct fuzz_verdict fuzz_check_alone(const char *text, size_t size,
                                     uint64_t seed, unsigned seconds)
{
    struct fuzz_verdict verdict = {.outcome = FUZZ_FAILED};
    struct fuzz_verdict *shared = share(sizeof *shared);
    int status = 0;
    if (!shared)
        return verdict;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        become_child();
        start_clock(seconds);
        *shared = fuzz_check(text, size, seed);
        _exit(0);
    }
    if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0)
        verdict = *shared;
    else
        describe(status, seconds, verdict.what, sizeof verdict.what);
    munmap(shared, sizeof *shared);
    return verdict;
}
