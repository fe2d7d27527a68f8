/* pthread.h, see README.md. */

#ifndef CROSS_MACOS_PTHREAD_H
#define CROSS_MACOS_PTHREAD_H

#include "begin.h"

typedef struct {
    long signature;
    char opaque[56];
} pthread_mutex_t;
typedef struct pthread_mutexattr pthread_mutexattr_t;
typedef struct {
    long signature;
    char opaque[40];
} pthread_cond_t;
typedef struct pthread_condattr pthread_condattr_t;
typedef struct pthread_attr pthread_attr_t;
typedef struct pthread *pthread_t;

CROSS_BEGIN
int pthread_mutex_init(pthread_mutex_t *lock,
                       const pthread_mutexattr_t *attributes);
int pthread_mutex_destroy(pthread_mutex_t *lock);
int pthread_mutex_lock(pthread_mutex_t *lock);
int pthread_mutex_unlock(pthread_mutex_t *lock);
int pthread_cond_init(pthread_cond_t *condition,
                      const pthread_condattr_t *attributes);
int pthread_cond_destroy(pthread_cond_t *condition);
int pthread_cond_broadcast(pthread_cond_t *condition);
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*main)(void *), void *argument);
int pthread_join(pthread_t thread, void **result);
CROSS_END

#endif
