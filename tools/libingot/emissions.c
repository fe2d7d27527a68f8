// Starts a thread for each emission but the last, which runs here, as do those
// for which there is no thread.

#include "tools/libingot/emissions.h"

#include <pthread.h>

enum { THREADS_MOST = 64 };

// Run one emission.
static void *run(void *argument)
{
    struct emission *e = argument;
    e->options.times = &e->times;
    e->ok = nvptx_emit_isolated(e->diags.arena, e->kernels, e->n, &e->options,
                                &e->text, &e->diags);
    return NULL;
}

void emissions_run(struct emission *all, size_t n)
{
    pthread_t threads[THREADS_MOST];
    size_t started = 0;
    nvptx_start();
    while (started + 1 < n && started < THREADS_MOST &&
           pthread_create(&threads[started], NULL, run, &all[started]) == 0)
        started++;
    for (size_t i = started; i < n; i++)
        run(&all[i]);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}
