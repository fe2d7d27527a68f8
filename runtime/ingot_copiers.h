/* ingot_copiers.h: copies within the host's memory by several threads.
 *
 * One thread copies slower than a GPU's bus.  ingot_pipeline.c fills and empties
 * its stages by these; programs may, too. */

#ifndef INGOT_COPIERS_H
#define INGOT_COPIERS_H

#include "ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most threads, and the most copies at a time. */
enum { INGOT_COPIERS_THREADS = 64, INGOT_COPIERS_COPIES = 8 };

/* One copy, of at least a byte. */
struct ingot_copy {
    void *to;
    const void *from;
    size_t bytes;
};

struct ingot_copiers;

/* Makes `threads` - 1 threads, which sleep until there is something to copy, and
 * take no signals; NULL if there is no memory or no thread. */
INGOT_API struct ingot_copiers *ingot_copiers_create(uint32_t threads);

/* Does up to INGOT_COPIERS_COPIES copies, none of which overlap, and returns when
 * all are done.  The thread that calls copies, too; alone if `team` is NULL.  One
 * call at a time. */
INGOT_API void ingot_copiers_run(struct ingot_copiers *team,
                                 const struct ingot_copy *copies,
                                 uint32_t count);

/* Ends the threads; harmless with NULL. */
INGOT_API void ingot_copiers_destroy(struct ingot_copiers *team);

#ifdef __cplusplus
}
#endif

#endif
