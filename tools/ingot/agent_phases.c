// Says what an agent does, and that it still does it: a thread that wakes each second.

#include "tools/ingot/agent_phases.h"

#include "tools/ingot/json.h"

#include <time.h>

enum { BEAT_S = 1 };

// Return the processor seconds of this process.
static double processor_time(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// Say what the phase is.  The lock is held.
static void say(struct agent_phases *p)
{
    json_t *line = json_object();
    double now = p->is_gpu ? 0 : processor_time() - p->began;
    json_object_set_new(line, "phase", json_text(p->is_gpu ? "gpu" : "host"));
    json_set_real(line, "used", p->used + now);
    wire_send(p->wire, line, NULL, 0);
}

// Say it each second, until the end.
static void *beat(void *context)
{
    struct agent_phases *p = context;
    pthread_mutex_lock(&p->lock);
    while (!p->is_over) {
        struct timespec next;
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_sec += BEAT_S;
        pthread_cond_timedwait(&p->wake, &p->lock, &next);
        if (!p->is_over && !p->is_gpu)
            say(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

// Begin the other phase.
static void change(void *context, bool works)
{
    struct agent_phases *p = context;
    pthread_mutex_lock(&p->lock);
    double now = processor_time();
    p->used += p->is_gpu ? 0 : now - p->began;
    p->began = now;
    p->is_gpu = works;
    say(p);
    pthread_mutex_unlock(&p->lock);
}

void agent_phases_begin(struct agent_phases *p, struct wire *wire)
{
    *p = (struct agent_phases){.listener = {change, p}, .wire = wire};
    p->began = processor_time();
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    say(p);
    p->has_thread = pthread_create(&p->thread, NULL, beat, p) == 0;
}

void agent_phases_end(struct agent_phases *p)
{
    pthread_mutex_lock(&p->lock);
    p->is_over = true;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    if (p->has_thread)
        pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
}
