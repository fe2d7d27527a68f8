/* pthread.h, see README.md. */

#ifndef CROSS_MACOS_PTHREAD_H
#define CROSS_MACOS_PTHREAD_H

#include "begin.h"

typedef struct {
    long signature;
    char opaque[56];
} pthread_mutex_t;
typedef struct pthread_mutexattr pthread_mutexattr_t;

CROSS_BEGIN
int pthread_mutex_init(pthread_mutex_t *lock,
                       const pthread_mutexattr_t *attributes);
int pthread_mutex_destroy(pthread_mutex_t *lock);
int pthread_mutex_lock(pthread_mutex_t *lock);
int pthread_mutex_unlock(pthread_mutex_t *lock);
CROSS_END

#endif
