/* ingot_copiers.c: the threads behind ingot_copiers.h.
 *
 * Copies are cut into slices.  Whoever is free takes the next one, the thread that
 * calls, too; it returns when the last has ended. */

#if !defined _WIN32 && !defined _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "ingot_copiers.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <pthread.h>
#include <signal.h>
#endif

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What differs between Windows and POSIX: locks, conditions, threads. */
#ifdef _WIN32

typedef SRWLOCK mutex;
typedef CONDITION_VARIABLE condition;
typedef HANDLE thread;

#define LOCK_INIT(lock)         InitializeSRWLock(lock)
#define LOCK_END(lock)          ((void)(lock))
#define LOCK(lock)              AcquireSRWLockExclusive(lock)
#define UNLOCK(lock)            ReleaseSRWLockExclusive(lock)
#define CONDITION_INIT(c)       InitializeConditionVariable(c)
#define CONDITION_END(c)        ((void)(c))
#define CONDITION_WAKE(c)       WakeAllConditionVariable(c)
#define CONDITION_WAIT(c, lock) SleepConditionVariableSRW(c, lock, INFINITE, 0)

#else

typedef pthread_mutex_t mutex;
typedef pthread_cond_t condition;
typedef pthread_t thread;

#define LOCK_INIT(lock)         pthread_mutex_init(lock, NULL)
#define LOCK_END(lock)          pthread_mutex_destroy(lock)
#define LOCK(lock)              pthread_mutex_lock(lock)
#define UNLOCK(lock)            pthread_mutex_unlock(lock)
#define CONDITION_INIT(c)       pthread_cond_init(c, NULL)
#define CONDITION_END(c)        pthread_cond_destroy(c)
#define CONDITION_WAKE(c)       pthread_cond_broadcast(c)
#define CONDITION_WAIT(c, lock) pthread_cond_wait(c, lock)

#endif

/* What a thread copies at a time. */
enum { SLICE = 1 << 18 };

/* Threads, and the copies of a chunk that they do.  The lock is for all but what
 * is copied. */
struct ingot_copiers {
    mutex lock;
    condition begun, ended;
    bool is_over;
    struct ingot_copy copies[INGOT_COPIERS_COPIES];
    uint32_t count;     /* of the copies ... */
    uint32_t at;        /* ... the one of the next slice ... */
    size_t offset;      /* ... where that begins */
    size_t slices_left; /* begun or not */
    uint32_t thread_count;
    thread threads[INGOT_COPIERS_THREADS];
};

/* Takes the next slice of a team that is locked, and copies it unlocked; false if
 * none is left. */
static bool copy_slice(struct ingot_copiers *team)
{
    struct ingot_copy *copy = &team->copies[team->at];
    size_t offset = team->offset, bytes;

    if (team->at == team->count)
        return false;
    bytes = copy->bytes - offset;
    if (bytes > SLICE)
        bytes = SLICE;
    team->offset += bytes;
    if (team->offset == copy->bytes) {
        team->at++;
        team->offset = 0;
    }
    UNLOCK(&team->lock);
    memcpy((char *)copy->to + offset, (const char *)copy->from + offset, bytes);
    LOCK(&team->lock);
    if (!--team->slices_left)
        CONDITION_WAKE(&team->ended);
    return true;
}

/* What a thread of a team does until the team is over. */
static void work(struct ingot_copiers *team)
{
    LOCK(&team->lock);
    while (!team->is_over)
        if (!copy_slice(team))
            CONDITION_WAIT(&team->begun, &team->lock);
    UNLOCK(&team->lock);
}

#ifdef _WIN32

static DWORD WINAPI thread_main(void *team)
{
    work((struct ingot_copiers *)team);
    return 0;
}

/* Starts a thread of a team; false if the system has none. */
static bool start(thread *to, struct ingot_copiers *team)
{
    *to = CreateThread(NULL, 0, thread_main, team, 0, NULL);
    return *to;
}

/* Waits for the end of a thread. */
static void join(thread which)
{
    WaitForSingleObject(which, INFINITE);
    CloseHandle(which);
}

#else

static void *thread_main(void *team)
{
    work((struct ingot_copiers *)team);
    return NULL;
}

/* Starts a thread of a team, which leaves signals to the program's others; false
 * if the system has none. */
static bool start(thread *to, struct ingot_copiers *team)
{
    sigset_t all, old;
    bool is_started;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    is_started = !pthread_create(to, NULL, thread_main, team);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return is_started;
}

/* Waits for the end of a thread. */
static void join(thread which)
{
    pthread_join(which, NULL);
}

#endif

void ingot_copiers_destroy(struct ingot_copiers *team)
{
    if (!team)
        return;
    LOCK(&team->lock);
    team->is_over = true;
    CONDITION_WAKE(&team->begun);
    UNLOCK(&team->lock);
    while (team->thread_count)
        join(team->threads[--team->thread_count]);
    CONDITION_END(&team->ended);
    CONDITION_END(&team->begun);
    LOCK_END(&team->lock);
    free(team);
}

struct ingot_copiers *ingot_copiers_create(uint32_t threads)
{
    struct ingot_copiers *team;

    if (threads < 1 || threads > INGOT_COPIERS_THREADS)
        return NULL;
    team = (struct ingot_copiers *)calloc(1, sizeof *team);
    if (!team)
        return NULL;
    LOCK_INIT(&team->lock);
    CONDITION_INIT(&team->begun);
    CONDITION_INIT(&team->ended);
    while (team->thread_count + 1 < threads &&
           start(&team->threads[team->thread_count], team))
        team->thread_count++;
    if (team->thread_count + 1 < threads) {
        ingot_copiers_destroy(team);
        return NULL;
    }
    return team;
}

/* Does `count` copies in the thread that calls. */
static void copy_alone(const struct ingot_copy *copies, uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++)
        memcpy(copies[i].to, copies[i].from, copies[i].bytes);
}

void ingot_copiers_run(struct ingot_copiers *team,
                       const struct ingot_copy *copies, uint32_t count)
{
    uint32_t i;

    if (!team || !team->thread_count) {
        copy_alone(copies, count);
        return;
    }
    LOCK(&team->lock);
    for (i = 0; i < count; i++) {
        team->copies[i] = copies[i];
        team->slices_left += (copies[i].bytes + SLICE - 1) / SLICE;
    }
    team->count = count;
    team->at = 0;
    if (team->slices_left > 1)
        CONDITION_WAKE(&team->begun);
    while (copy_slice(team))
        ;
    while (team->slices_left)
        CONDITION_WAIT(&team->ended, &team->lock);
    UNLOCK(&team->lock);
}
