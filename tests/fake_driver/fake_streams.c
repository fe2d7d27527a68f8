/* fake_streams.c: memory, streams, events and graphs.
 *
 * What is queued into streams is done as late as can be: when the host waits for
 * it, and then only what that depends on.  So a program that lacks a wait, or an
 * event between streams, finds the memory as it was.  Memory of the GPU is memory
 * of the host, but only copies and kernels may know that: both ends of a copy are
 * looked up.  Stream 0 is one of its own; it waits for no other. */

#define _GNU_SOURCE

#include "fake_cuda.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define API FAKE_API

#define ENTER()                                                                \
    do {                                                                       \
        int enter_result = fake_enter(__func__, 1);                            \
        if (enter_result)                                                      \
            return enter_result;                                               \
    } while (0)

enum { MEMORIES = 512, STREAMS = 4096, TEXT = 65536 };

typedef struct CUstream_st *CUstream;

/* Where an allocation is. */
enum place { DEVICE, PINNED, REGISTERED };

/* An allocation; `at`, a multiple of 256 within `block`, NULL: none.  Registered
 * memory has no block of its own. */
struct memory {
    void *block;
    char *at;
    size_t size;
    enum place place;
};

/* What one entry of a stream does. */
enum kind { COPY, KERNEL, MARK, WAIT };

/* An entry of a stream; the mark that a WAIT is for has its own number. */
struct operation {
    enum kind kind;
    void *stream;
    bool is_done;
    void *to;
    const void *from;
    size_t bytes;
    const struct fake_kernel *kernel;
    uint64_t values[FAKE_MAX];
    size_t mark;
};

/* The last mark of an event, from 1; 0: none. */
struct event {
    size_t mark;
};

/* A list of operations. */
struct list {
    struct operation *at;
    size_t count, room;
};

/* A captured graph, also as an executable one. */
struct graph {
    struct list list;
};

static struct memory memories[MEMORIES];
static struct list queued;
static size_t done; /* the first so many that are queued are done */
static void *numbered[STREAMS];
static int stream_count;
static void *capturing;
static struct graph *captured;
static char text[TEXT];
static size_t text_length;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Control ------------------------------------------------------------ */

void fake_streams_reset(void)
{
    int i;

    for (i = 0; i < MEMORIES; i++)
        free(memories[i].block);
    memset(memories, 0, sizeof memories);
    free(queued.at);
    memset(&queued, 0, sizeof queued);
    done = 0;
    stream_count = 0;
    capturing = captured = NULL;
    text_length = 0;
    *text = '\0';
}

const char *fake_operations(void)
{
    return text;
}

/* The number of a stream; -1 for the default ones. */
static int number_of(const void *stream)
{
    int i = stream_count - 1;

    while (i >= 0 && numbered[i] != stream)
        i--;
    return i;
}

/* Appends a word to the text of what was queued. */
static void note(const char *word, const void *stream, size_t bytes)
{
    size_t left = TEXT - text_length;
    int length = bytes ? snprintf(text + text_length, left, "%s%d:%zu ", word,
                                  number_of(stream), bytes)
                       : snprintf(text + text_length, left, "%s%d ", word,
                                  number_of(stream));

    if ((size_t)length < left)
        text_length += (size_t)length;
}

/* ---- What is queued ----------------------------------------------------- */

/* Appends an operation to a list; its number, from 1. */
static size_t append(struct list *list, const struct operation *operation)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 64;
        list->at = realloc(list->at, list->room * sizeof *list->at);
    }
    list->at[list->count++] = *operation;
    return list->count;
}

/* Queues an operation into its stream, or into the graph that is captured. */
static size_t queue(const struct operation *operation)
{
    bool is_captured = capturing && operation->stream == capturing;

    return append(is_captured ? &captured->list : &queued, operation);
}

/* Calls a kernel with its arguments. */
static void run_kernel(struct operation *operation)
{
    void *params[FAKE_MAX];
    int i;

    for (i = 0; i < FAKE_MAX; i++)
        params[i] = &operation->values[i];
    operation->kernel->run(params);
}

/* Does the first `count` operations of a stream that are not done, and what
 * these wait for. */
static void drain(const void *stream, size_t count)
{
    struct operation *operation;
    size_t i;

    while (done < queued.count && queued.at[done].is_done)
        done++;
    for (i = done; i < count && i < queued.count; i++) {
        operation = &queued.at[i];
        if (operation->stream != stream || operation->is_done)
            continue;
        operation->is_done = true;
        if (operation->kind == COPY)
            memcpy(operation->to, operation->from, operation->bytes);
        else if (operation->kind == KERNEL)
            run_kernel(operation);
        else if (operation->kind == WAIT && operation->mark)
            drain(queued.at[operation->mark - 1].stream, operation->mark);
    }
}

/* Does all that is queued. */
static void drain_all(void)
{
    size_t i;

    for (i = done; i < queued.count; i++)
        drain(queued.at[i].stream, queued.count);
}

int fake_queue_kernel(void *stream, const struct fake_kernel *kernel,
                      void **params)
{
    struct operation operation = {.kind = KERNEL};
    int i;

    operation.stream = stream;
    operation.kernel = kernel;
    for (i = 0; i < kernel->param_count; i++)
        memcpy(&operation.values[i], params[i], kernel->sizes[i]);
    pthread_mutex_lock(&lock);
    note("run", stream, 0);
    queue(&operation);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- Memory ------------------------------------------------------------- */

/* Makes an allocation, filled with what no one should rely on. */
static int allocate(void **at, size_t size, enum place place)
{
    void *context;
    int i = 0;

    if (cuCtxGetCurrent(&context) || !context)
        return 201;
    if (!size)
        return 1;
    pthread_mutex_lock(&lock);
    while (memories[i].at)
        i++;
    memories[i].block = malloc(size + 256);
    memories[i].at =
        (char *)memories[i].block + 256 - (uintptr_t)memories[i].block % 256;
    memories[i].size = size;
    memories[i].place = place;
    memset(memories[i].at, 0xa5, size);
    *at = memories[i].at;
    fake_state()->live_memory++;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* Frees an allocation, after all that is queued. */
static int release(void *at, enum place place)
{
    int i = 0, result = 1;

    pthread_mutex_lock(&lock);
    drain_all();
    while (i < MEMORIES && (memories[i].at != at || memories[i].place != place))
        i++;
    if (i < MEMORIES && at) {
        free(memories[i].block);
        memories[i].block = memories[i].at = NULL;
        fake_state()->live_memory--;
        result = 0;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* Are `bytes` at `at` in one allocation of `place`? */
static bool is_in(const void *at, size_t bytes, enum place place)
{
    uintptr_t begin = (uintptr_t)at, first;
    int i;

    for (i = 0; i < MEMORIES; i++) {
        first = (uintptr_t)memories[i].at;
        if (first && (memories[i].place == DEVICE) == (place == DEVICE) &&
            begin >= first && begin + bytes <= first + memories[i].size)
            return true;
    }
    fake_state()->malformed++;
    return false;
}

int fake_find_memory(uint64_t address, struct fake_memory *memory)
{
    int i;

    for (i = 0; i < MEMORIES; i++)
        if (memories[i].at &&
            address - (uintptr_t)memories[i].at < memories[i].size) {
            memory->start = (uintptr_t)memories[i].at;
            memory->size = memories[i].size;
            memory->type = memories[i].place == DEVICE ? 2 : 1;
            return 1;
        }
    return 0;
}

API int cuMemAlloc_v2(uint64_t *address, size_t size)
{
    void *at = NULL;
    int result;

    ENTER();
    result = allocate(&at, size, DEVICE);
    *address = (uintptr_t)at;
    return result;
}

API int cuMemFree_v2(uint64_t address)
{
    ENTER();
    return release((void *)(uintptr_t)address, DEVICE);
}

API int cuMemHostAlloc(void **at, size_t size, unsigned flags)
{
    ENTER();
    return flags ? 1 : allocate(at, size, PINNED);
}

API int cuMemFreeHost(void *at)
{
    ENTER();
    return release(at, PINNED);
}

API int cuMemHostRegister_v2(void *at, size_t size, unsigned flags)
{
    int i = 0;

    ENTER();
    if (!at || !size || flags)
        return 1;
    pthread_mutex_lock(&lock);
    while (memories[i].at)
        i++;
    memories[i].block = NULL;
    memories[i].at = at;
    memories[i].size = size;
    memories[i].place = REGISTERED;
    fake_state()->live_memory++;
    pthread_mutex_unlock(&lock);
    return 0;
}

API int cuMemHostUnregister(void *at)
{
    ENTER();
    return release(at, REGISTERED);
}

/* Queues a copy; one end is pinned memory, the other the GPU's. */
static int copy(const char *word, void *to, const void *from, size_t bytes,
                void *stream)
{
    struct operation operation = {.kind = COPY};

    operation.stream = stream;
    operation.to = to;
    operation.from = from;
    operation.bytes = bytes;
    pthread_mutex_lock(&lock);
    note(word, stream, bytes);
    queue(&operation);
    pthread_mutex_unlock(&lock);
    return 0;
}

API int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes,
                             CUstream stream)
{
    void *device = (void *)(uintptr_t)to;

    ENTER();
    return is_in(device, bytes, DEVICE) && is_in(from, bytes, PINNED)
               ? copy("in", device, from, bytes, stream)
               : 1;
}

API int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes,
                             CUstream stream)
{
    const void *device = (const void *)(uintptr_t)from;

    ENTER();
    return is_in(device, bytes, DEVICE) && is_in(to, bytes, PINNED)
               ? copy("out", to, device, bytes, stream)
               : 1;
}

/* The default stream's copies, of any memory of the host. */
API int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    void *device = (void *)(uintptr_t)to;

    ENTER();
    if (!is_in(device, bytes, DEVICE))
        return 1;
    drain(NULL, queued.count);
    memcpy(device, from, bytes);
    return 0;
}

API int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    const void *device = (const void *)(uintptr_t)from;

    ENTER();
    if (!is_in(device, bytes, DEVICE))
        return 1;
    drain(NULL, queued.count);
    memcpy(to, device, bytes);
    return 0;
}

/* ---- Streams and events ------------------------------------------------- */

API int cuStreamCreate(CUstream *stream, unsigned flags)
{
    void *context;

    ENTER();
    if (cuCtxGetCurrent(&context) || !context)
        return 201;
    if (flags > 1 || stream_count == STREAMS)
        return 1;
    *stream = fake_stream_create(context);
    numbered[stream_count++] = *stream;
    fake_state()->live_streams++;
    return 0;
}

API int cuStreamDestroy_v2(CUstream stream)
{
    ENTER();
    if (number_of(stream) < 0)
        return 400;
    drain(stream, queued.count);
    fake_state()->live_streams--;
    return 0;
}

API int cuStreamSynchronize(CUstream stream)
{
    ENTER();
    if (capturing == stream && stream)
        return 900;
    drain(stream, queued.count);
    return 0;
}

API int cuCtxSynchronize(void)
{
    ENTER();
    drain_all();
    return 0;
}

API int cuEventCreate(void **event, unsigned flags)
{
    ENTER();
    if (flags & ~3u)
        return 1;
    *event = calloc(1, sizeof(struct event));
    fake_state()->live_events++;
    return 0;
}

API int cuEventDestroy_v2(void *event)
{
    ENTER();
    free(event);
    fake_state()->live_events--;
    return 0;
}

API int cuEventRecord(void *event, CUstream stream)
{
    struct operation operation = {.kind = MARK};

    ENTER();
    operation.stream = stream;
    note("mark", stream, 0);
    ((struct event *)event)->mark = queue(&operation);
    return 0;
}

API int cuEventSynchronize(void *event)
{
    size_t mark = ((struct event *)event)->mark;

    ENTER();
    if (!mark)
        return 0;
    note("wait", queued.at[mark - 1].stream, 0);
    drain(queued.at[mark - 1].stream, mark);
    return 0;
}

API int cuStreamWaitEvent(CUstream stream, void *event, unsigned flags)
{
    struct operation operation = {.kind = WAIT};

    ENTER();
    operation.stream = stream;
    operation.mark = ((struct event *)event)->mark;
    note("after", stream, 0);
    queue(&operation);
    return flags ? 1 : 0;
}

/* ---- Graphs ------------------------------------------------------------- */

API int cuStreamBeginCapture_v2(CUstream stream, int mode)
{
    ENTER();
    if (!stream || capturing || mode < 0 || mode > 2)
        return 1;
    captured = calloc(1, sizeof *captured);
    capturing = stream;
    return 0;
}

API int cuStreamEndCapture(CUstream stream, void **graph)
{
    ENTER();
    if (capturing != stream)
        return 1;
    *graph = captured;
    capturing = captured = NULL;
    return 0;
}

API int cuGraphInstantiateWithFlags(void **executable, const void *graph,
                                    unsigned long long flags)
{
    const struct list *list = &((const struct graph *)graph)->list;
    struct graph *copied = calloc(1, sizeof *copied);
    size_t i;

    ENTER();
    for (i = 0; i < list->count; i++)
        append(&copied->list, &list->at[i]);
    *executable = copied;
    return flags ? 1 : 0;
}

API int cuGraphLaunch(const void *executable, CUstream stream)
{
    const struct list *list = &((const struct graph *)executable)->list;
    struct operation operation;
    size_t i;

    ENTER();
    note("graph", stream, 0);
    for (i = 0; i < list->count; i++) {
        operation = list->at[i];
        operation.stream = stream;
        queue(&operation);
    }
    return 0;
}

API int cuGraphDestroy(void *graph)
{
    ENTER();
    free(((struct graph *)graph)->list.at);
    free(graph);
    return 0;
}

API int cuGraphExecDestroy(void *executable)
{
    ENTER();
    drain_all();
    free(((struct graph *)executable)->list.at);
    free(executable);
    return 0;
}
