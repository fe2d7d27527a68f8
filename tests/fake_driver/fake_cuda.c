/* fake_cuda.c: see fake_cuda.h.  Checks what it is given as a real driver
 * does, and counts what a real one would crash on. */

#define _GNU_SOURCE

#include "fake_cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the runtime needs is exported, as a real driver does; what it can do
 * without, and cuFuncSetAttribute, only cuGetProcAddress_v2 finds. */
#define API    FAKE_API
#define HIDDEN static
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

typedef struct CUstream_st *CUstream;

enum { CONTEXTS = 16, STREAMS = 4096, OBJECTS = 65536, CALLS = 96 };

/* A context; `id` 0 for one never used. */
struct context {
    int device, is_alive, is_primary, primary_retains;
    unsigned long long id;
};

/* A kernel of a module. */
struct function {
    struct module *module;
    const struct fake_kernel *kernel;
    int shared_limit;
};

/* A loaded image. */
struct module {
    struct context *context;
    unsigned long long context_id;
    int is_alive, kind;
    struct function functions[FAKE_MAX];
};

/* A stream. */
struct stream {
    struct context *context;
    unsigned long long context_id;
};

/* What the compiler makes of anything: the heads of a file of machine code and
 * of its one section, and for what. */
struct code {
    unsigned char head[128];
    int sm, driver_version;
};

/* A run of the compiler. */
struct link {
    int is_ready;
    void **values;
    struct code code;
};

/* Everything; one per library. */
static struct fake state;
static struct context contexts[CONTEXTS];
static struct stream streams[STREAMS];
static struct module *modules[OBJECTS];
static atomic_int module_count, stream_count;
static struct {
    _Atomic(const char *) name;
    atomic_int count;
} calls[CALLS];
static atomic_int init_pid;
static unsigned long long next_id = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct context *stack[16];
static _Thread_local int depth, capture_mode;

/* ---- Control ------------------------------------------------------------ */

struct fake *fake_state(void)
{
    return &state;
}

void fake_reset(void)
{
    static const struct fake_kernel kernel = {"vadd", 4,    {8, 8, 8, 4},
                                              0,      1024, NULL};
    int i;

    fake_streams_reset();
    for (i = 0; i < module_count; i++)
        free(modules[i]);
    memset(&state, 0, sizeof state);
    memset(contexts, 0, sizeof contexts);
    for (i = 0; i < CALLS; i++) {
        calls[i].name = NULL;
        calls[i].count = 0;
    }
    module_count = stream_count = init_pid = 0;
    depth = capture_mode = 0;
    next_id = 1;
    state.device_count = 1;
    state.sm[0] = state.sm[1] = 90;
    state.driver_version = 13000;
    state.shared_optin = 232448;
    state.resident = 2;
    state.kernels[0] = kernel;
}

/* Programs that know nothing of the tests find it as after a reset. */
__attribute__((constructor)) static void begin(void)
{
    fake_reset();
}

/* Counts a call of `name`; the number of this call, from 1. */
static int count(const char *name)
{
    int i;

    for (i = 0; i < CALLS - 1; i++) {
        if (!calls[i].name) {
            pthread_mutex_lock(&lock);
            if (!calls[i].name)
                calls[i].name = name;
            pthread_mutex_unlock(&lock);
        }
        if (!strcmp(calls[i].name, name))
            break;
    }
    return ++calls[i].count;
}

int fake_calls(const char *function)
{
    int i;

    for (i = 0; i < CALLS && calls[i].name; i++)
        if (!strcmp(calls[i].name, function))
            return calls[i].count;
    return 0;
}

/* A context that no one has yet, from the end of the array. */
static struct context *new_context(int device)
{
    struct context *context = contexts + CONTEXTS - 1;

    while (context->id)
        context--;
    context->device = device;
    context->is_alive = 1;
    context->id = next_id++;
    return context;
}

void *fake_context_create(int device)
{
    return new_context(device);
}

void fake_context_destroy(void *context)
{
    ((struct context *)context)->is_alive = 0;
}

void fake_context_reset(void *context)
{
    ((struct context *)context)->id = next_id++;
    ((struct context *)context)->is_alive = 1;
}

void fake_primary_reset(int device)
{
    int i;

    for (i = 0; i < CONTEXTS; i++)
        if (contexts[i].is_primary && contexts[i].device == device)
            contexts[i].is_alive = 0;
}

void fake_context_push(void *context)
{
    stack[depth++] = context;
}

void *fake_stream_create(void *context)
{
    struct stream *stream = &streams[stream_count++];

    stream->context = context;
    stream->context_id = stream->context->id;
    return stream;
}

int fake_capture_mode(void)
{
    return capture_mode;
}

int fake_depth(void)
{
    return depth;
}

/* ---- Common failures ---------------------------------------------------- */

/* The thread's context, or NULL. */
static struct context *current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

/* Is `context` alive and the one that had `id`? */
static int is_valid(const struct context *context, unsigned long long id)
{
    return context && context->is_alive && context->id == id;
}

/* What any call of `name` returns for reasons of its own, else 0. */
static int common(const char *name, int feels_sticky)
{
    int number = count(name);

    if (state.is_stub)
        return 34;
    if (state.is_shut_down)
        return 4;
    if (init_pid ? init_pid != getpid() : strcmp(name, "cuInit"))
        return 3;
    if (state.fail_function && !strcmp(state.fail_function, name) &&
        (!state.fail_call || state.fail_call == number))
        return state.fail_result;
    return feels_sticky ? state.sticky : 0;
}

int fake_enter(const char *function, int feels_sticky)
{
    return common(function, feels_sticky);
}

int fake_common(const char *name)
{
    return common(name, 1);
}

#define ENTER(sticky)                                                          \
    do {                                                                       \
        int common_result = common(__func__, sticky);                          \
        if (common_result)                                                     \
            return common_result;                                              \
    } while (0)

/* A call that breaks captures of other threads. */
static int is_unsafe(void)
{
    if (!state.is_capturing || capture_mode == 2)
        return 0;
    state.broken_capture++;
    return 1;
}

/* ---- The driver, as far as the runtime can tell ------------------------- */

API int cuInit(unsigned flags)
{
    int result = common(__func__, 0);

    (void)flags;
    if (!result && !state.device_count)
        result = 100;
    if (!result)
        init_pid = getpid();
    return result;
}

API int cuDriverGetVersion(int *version)
{
    ENTER(0);
    *version = state.driver_version;
    return 0;
}

API int cuDeviceGet(int *device, int ordinal)
{
    ENTER(0);
    if (ordinal < 0 || ordinal >= state.device_count)
        return 101;
    *device = ordinal;
    return 0;
}

API int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    int sm = state.sm[device];

    ENTER(0);
    *value = attribute == 16   ? FAKE_SMS
             : attribute == 75 ? sm / 10
             : attribute == 88 ? state.reaches_the_host
                               : sm % 10;
    return attribute != 16 && attribute != 75 && attribute != 76 &&
           attribute != 88;
}

API int cuDevicePrimaryCtxRetain(void **context, int device)
{
    struct context *primary = NULL;
    int i;

    ENTER(1);
    pthread_mutex_lock(&lock);
    for (i = 0; i < CONTEXTS; i++)
        if (contexts[i].is_primary && contexts[i].device == device)
            primary = &contexts[i];
    if (!primary)
        primary = new_context(device);
    if (!primary->is_alive)
        fake_context_reset(primary);
    primary->is_primary = 1;
    primary->primary_retains++;
    pthread_mutex_unlock(&lock);
    *context = primary;
    state.retains++;
    return 0;
}

API int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    ENTER(0);
    state.retains--;
    return 0;
}

API int cuCtxGetCurrent(void **context)
{
    ENTER(0);
    *context = current();
    return 0;
}

API int cuCtxGetDevice(int *device)
{
    ENTER(1);
    if (!current())
        return 201;
    *device = current()->device;
    return 0;
}

API int cuCtxPushCurrent_v2(void *context)
{
    ENTER(0);
    fake_context_push(context);
    return 0;
}

API int cuCtxPopCurrent_v2(void **context)
{
    int result = common(__func__, 0);

    *context = current();
    depth--;
    return result;
}

API int cuModuleUnload(void *handle)
{
    struct module *module = handle;

    ENTER(1);
    if (is_unsafe())
        return 900;
    if (!module->is_alive)
        return 400;
    module->is_alive = 0;
    state.live_modules--;
    return is_valid(module->context, module->context_id) ? 0 : 400;
}

/* Reads the container as the driver does; 0 if a real driver would crash or
 * loop on it.  Bare machine code has `*kind` 2 and `*sm` 0. */
static int parse(const unsigned char *bytes, int *kind, int *sm, char *suffix)
{
    uint64_t container[2], size;
    uint32_t header;

    memcpy(container, bytes, 16);
    *kind = 2;
    *sm = 0;
    *suffix = '\0';
    if (!memcmp(bytes, "\177ELF", 4))
        return 1;
    if (container[0] != 0x00100001ba55ed50)
        return 0;
    memcpy(&header, bytes + 16 + 4, 4);
    memcpy(&size, bytes + 16 + 8, 8);
    *kind = bytes[16] | bytes[17] << 8;
    *sm = bytes[16 + 28] | bytes[16 + 29] << 8;
    *suffix = bytes[16 + 42] & 0x10 ? 'a' : bytes[16 + 42] & 0x20 ? 'f' : '\0';
    return header + size == container[1] &&
           (*kind == 2 || !bytes[16 + header + size - 1]);
}

/* Notes an image and tells what a rule of the test says about it. */
static int judge(int kind, int sm, char suffix)
{
    const struct fake_rule *rule = state.rules;
    size_t used;

    pthread_mutex_lock(&lock);
    used = strlen(state.loads);
    snprintf(state.loads + used, sizeof state.loads - used, "%d:%d%.1s ", kind,
             sm, &suffix);
    pthread_mutex_unlock(&lock);
    for (; rule->kind; rule++)
        if (rule->kind == kind && (!rule->sm || rule->sm == sm))
            return rule->result;
    return 0;
}

/* What the driver's own choice makes of an image. */
static int fits(int kind, int sm, char suffix)
{
    int device = state.sm[current()->device];

    if (kind == 1)
        return sm <= device;
    return !sm || (suffix == 'a' ? sm == device
                                 : sm / 10 == device / 10 && sm <= device);
}

/* Is machine code for the current GPU and this driver? */
static int is_ours(const void *bytes)
{
    const struct code *code = bytes;

    return code->sm == state.sm[current()->device] &&
           code->driver_version == state.driver_version;
}

/* Makes what the compiler makes: see is_ours. */
static void put_code(struct code *code)
{
    static const unsigned char head[64] = {
        0x7f, 'E', 'L', 'F', 2, 1, [18] = 190, [40] = 64, [58] = 64, [60] = 1};

    memcpy(code->head, head, sizeof head);
    code->sm = state.sm[current()->device];
    code->driver_version = state.driver_version;
}

/* A new module in the current context. */
static struct module *new_module(int kind)
{
    struct module *module = calloc(1, sizeof *module);
    int i;

    module->context = current();
    module->context_id = module->context->id;
    module->is_alive = 1;
    module->kind = kind;
    for (i = 0; i < FAKE_MAX; i++) {
        module->functions[i].module = module;
        module->functions[i].kernel = &state.kernels[i];
        module->functions[i].shared_limit = 49152;
    }
    modules[module_count++] = module;
    state.live_modules++;
    return module;
}

/* Writes the compiler's log where the options point to. */
static void write_log(void **values)
{
    if (values && state.compiler_log)
        snprintf(values[2], (uintptr_t)values[3], "%s", state.compiler_log);
}

API int cuModuleLoadDataEx(void **module, const void *bytes, unsigned count_,
                           int *options, void **values)
{
    int kind, sm, result;
    char suffix;

    ENTER(1);
    if (!current())
        return 201;
    if (is_unsafe())
        return 900;
    if (count_ && (count_ != 4 || options[0] != 3 || options[1] != 4 ||
                   options[2] != 5 || options[3] != 6))
        return 1;
    if (!parse(bytes, &kind, &sm, &suffix)) {
        state.malformed++;
        return 200;
    }
    if (!sm && !is_ours(bytes)) {
        state.foreign++;
        return 209;
    }
    usleep(state.load_delay_us);
    result = sm ? judge(kind, sm, suffix) : 0;
    if (!result && !fits(kind, sm, suffix))
        result = 209;
    if (result) {
        write_log(values);
        return result;
    }
    pthread_mutex_lock(&lock);
    *module = new_module(sm ? kind : 1);
    pthread_mutex_unlock(&lock);
    return 0;
}

API int cuModuleGetFunction(void **function, void *handle, const char *name)
{
    struct module *module = handle;
    int i;

    ENTER(1);
    if (!module->is_alive || !is_valid(module->context, module->context_id))
        return 400;
    for (i = 0; i < FAKE_MAX && state.kernels[i].name; i++)
        if (!strcmp(state.kernels[i].name, name) &&
            state.kernels[i].absent_kind != module->kind) {
            *function = &module->functions[i];
            return 0;
        }
    return 500;
}

API int cuFuncGetAttribute(int *value, int attribute, void *function)
{
    const struct function *self = function;

    ENTER(1);
    switch (attribute) {
    case 0: *value = self->kernel->max_threads; break;
    case 1: *value = 0; break;
    case 3: *value = 16; break;
    case 4: *value = 40; break;
    case 5: *value = 75; break;
    case 6: *value = state.sm[self->module->context->device]; break;
    case 8: *value = self->shared_limit; break;
    default: return 1;
    }
    return 0;
}

HIDDEN int cuFuncSetAttribute(void *function, int attribute, int value)
{
    ENTER(1);
    if (attribute != 8 || value < 0 || value > state.shared_optin)
        return 1;
    ((struct function *)function)->shared_limit = value;
    return 0;
}

/* What is wrong with a launch of `self` into `stream`, else 0. */
static int check_handles(const struct function *self,
                         const struct stream *stream)
{
    const struct module *module = self->module;
    const struct context *context = current();

    if ((uintptr_t)stream > 2)
        context = is_valid(stream->context, stream->context_id)
                      ? stream->context
                      : NULL;
    if (!context)
        return (uintptr_t)stream > 2 ? 400 : 201;
    if (!context->is_alive)
        return 709;
    return module->is_alive && module->context == context &&
                   is_valid(context, module->context_id)
               ? 0
               : 400;
}

API int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                       unsigned grid_z, unsigned block_x, unsigned block_y,
                       unsigned block_z, unsigned shared, CUstream stream,
                       void **params, void **extra)
{
    const struct function *self = function;
    struct fake_launch launch = {self->kernel->name,
                                 {grid_x, grid_y, grid_z},
                                 {block_x, block_y, block_z},
                                 shared,
                                 stream,
                                 params,
                                 0,
                                 0,
                                 0};
    int result;

    ENTER(1);
    result = check_handles(self, (void *)stream);
    if (result)
        return result;
    if (!grid_x || !grid_y || !grid_z || grid_y > 65535 || grid_z > 65535 ||
        extra || block_x * block_y * block_z > 1024 ||
        (int)shared > self->shared_limit)
        return 1;
    pthread_mutex_lock(&lock);
    state.last = launch;
    pthread_mutex_unlock(&lock);
    state.launches++;
    return self->kernel->run
               ? fake_queue_kernel((void *)stream, self->kernel, params)
               : 0;
}

HIDDEN int cuCtxGetId(void *context, unsigned long long *id)
{
    ENTER(0);
    if (!((struct context *)context)->is_alive)
        return 709;
    *id = ((struct context *)context)->id;
    return 0;
}

HIDDEN int cuThreadExchangeStreamCaptureMode(int *mode)
{
    int old = capture_mode;

    ENTER(0);
    capture_mode = *mode;
    *mode = old;
    return 0;
}

HIDDEN int cuStreamGetCtx(CUstream stream, void **context)
{
    const struct stream *self = (void *)stream;

    ENTER(1);
    if (!is_valid(self->context, self->context_id))
        return 709;
    *context = self->context;
    return 0;
}

HIDDEN int cuFuncGetParamInfo(void *function, size_t i, size_t *offset,
                              size_t *size)
{
    const struct fake_kernel *kernel = ((struct function *)function)->kernel;

    ENTER(1);
    if (i >= (size_t)kernel->param_count)
        return 1;
    *offset = i * 8;
    *size = kernel->sizes[i];
    return 0;
}

HIDDEN int cuLinkCreate_v2(unsigned count_, int *options, void **values,
                           void **handle)
{
    struct link *link;

    ENTER(1);
    if (!current())
        return 201;
    if (count_ != 4 || options[0] != 3 || options[2] != 5)
        return 1;
    link = calloc(1, sizeof *link);
    link->values = values;
    put_code(&link->code);
    state.live_links++;
    *handle = link;
    return 0;
}

HIDDEN int cuLinkAddData_v2(void *handle, int type, void *bytes, size_t size,
                            const char *name, unsigned count_, int *options,
                            void **values)
{
    struct link *link = handle;
    const char *target;
    int kind = 1, sm = 0, result;
    char suffix = '\0';

    (void)name, (void)count_, (void)options, (void)values;
    ENTER(1);
    if (type == 1) {
        if (!size || ((char *)bytes)[size - 1])
            state.malformed++;
        target = strstr(bytes, ".target sm_");
        sm = target ? atoi(target + 11) : 0;
    } else if (type != 3 || !parse(bytes, &kind, &sm, &suffix)) {
        state.malformed++;
    }
    result = judge(kind, sm, suffix);
    if (result)
        write_log(link->values);
    link->is_ready = !result;
    return result;
}

HIDDEN int cuLinkComplete(void *handle, void **cubin, size_t *size)
{
    struct link *link = handle;

    ENTER(1);
    *cubin = &link->code;
    *size = sizeof link->code;
    return 0;
}

HIDDEN int cuLinkDestroy(void *handle)
{
    int result = common(__func__, 1);

    free(handle);
    state.live_links--;
    return result;
}

/* The table behind cuGetProcAddress_v2. */
#define ROW(name, version)                                                     \
    {                                                                          \
#name, version, (void (*)(void))name                                   \
    }
static const struct {
    const char *name;
    int version;
    void (*function)(void);
} symbols[] = {ROW(cuInit, 2000),
               ROW(cuDriverGetVersion, 2020),
               ROW(cuGetErrorName, 6000),
               ROW(cuGetErrorString, 6000),
               ROW(cuDeviceGet, 2000),
               ROW(cuDeviceGetAttribute, 2000),
               ROW(cuDevicePrimaryCtxRetain, 7000),
               ROW(cuDevicePrimaryCtxRelease_v2, 11000),
               ROW(cuCtxGetCurrent, 4000),
               ROW(cuCtxGetDevice, 2000),
               ROW(cuCtxGetId, 12000),
               ROW(cuCtxPushCurrent_v2, 4000),
               ROW(cuCtxPopCurrent_v2, 4000),
               ROW(cuThreadExchangeStreamCaptureMode, 10010),
               ROW(cuStreamGetCtx, 9020),
               ROW(cuModuleLoadDataEx, 2010),
               ROW(cuModuleUnload, 2000),
               ROW(cuModuleGetFunction, 2000),
               ROW(cuFuncGetAttribute, 2020),
               ROW(cuFuncSetAttribute, 9000),
               ROW(cuFuncGetParamInfo, 12040),
               ROW(cuLaunchKernel, 4000),
               ROW(cuLaunchKernelEx, 11060),
               ROW(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050),
               ROW(cuTensorMapEncodeTiled, 12000),
               ROW(cuLinkCreate_v2, 6050),
               ROW(cuLinkAddData_v2, 6050),
               ROW(cuLinkComplete, 5050),
               ROW(cuLinkDestroy, 5050)};
#undef ROW

/* As measured: a version above the driver's is an error, one below the
 * symbol's finds nothing, suffixed names are unknown. */
API int cuGetProcAddress_v2(const char *name, void **function, int version,
                            uint64_t flags, int *status)
{
    size_t i, length = strlen(name);

    if (flags || state.is_old || version > state.driver_version)
        return 1;
    *function = NULL;
    *status = 1;
    if (state.is_stub)
        return 34;
    for (i = 0; i < FAKE_MAX && state.hidden[i]; i++)
        if (!strncmp(state.hidden[i], name, length))
            return 0;
    for (i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        const char *rest = symbols[i].name + length;

        if (strncmp(symbols[i].name, name, length) ||
            (*rest && strcmp(rest, "_v2")) || version < symbols[i].version)
            continue;
        memcpy(function, &symbols[i].function, sizeof *function);
        *status = 0;
    }
    return 0;
}
