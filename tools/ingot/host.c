// cc turns the program into a shared library in a temporary folder, which is
// gone before the program runs; signals that ask the process to end wait.

#include "tools/ingot/host.h"

#include "nvptx/hold.h"
#include "nvptx/process.h"
#include "nvptx/tool.h"
#include "tools/libingot/reference.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// The function that the program defines.
typedef void reference_function(void **args);

// Return the path of the C compiler, or NULL.
static const char *find_cc(struct arena *a)
{
    return process_find(a, "cc", NULL, 0, getenv("PATH"));
}

bool host_supports(struct arena *a, const struct ir_kernel *kernel)
{
    return reference_supported(kernel) && find_cc(a);
}

// Compile C to a shared library, with OpenMP or without.  The compiler finds
// its own tools in PATH, which processes are not given unless by env.
static bool compile(struct arena *a, const struct buf *text, const char *path,
                    bool has_openmp, struct diag_list *diags)
{
    const char *search = getenv("PATH");
    const char *const argv[] = {
        process_find(a, "env", NULL, 0, search),
        arena_printf(a, "PATH=%s", search ? search : ""),
        "cc",
        "-std=c11",
        "-w",
        "-O3",
        "-march=native",
        "-fPIC",
        "-shared",
        "-x",
        "c",
        "-",
        "-o",
        path,
        "-lm",
        has_openmp ? "-fopenmp" : NULL,
        NULL};
    struct process_input input = {text->data, text->n};
    struct process p = {.argv = argv, .inputs = &input, .n_inputs = 1};
    process_run(a, &p, 1);
    bool ok = p.end == PROCESS_EXITED && p.code == 0;
    if (!ok && !has_openmp)
        tool_report(a, &p, "cc for the host reference", diags);
    process_free(&p);
    return ok;
}

// Compile the program of a kernel and open it.
// Returns its function, or NULL after reporting.
static reference_function *
build(struct arena *a, const struct ir_kernel *kernel, struct diag_list *diags)
{
    const char *base = getenv("TMPDIR");
    char *folder =
        arena_printf(a, "%s/ingot-XXXXXX", base && *base ? base : "/tmp");
    struct buf text = {0};
    reference_function *function = NULL;
    sigset_t before;
    hold_signals(&before);
    if (!mkdtemp(folder)) {
        release_signals(&before);
        diag_error(diags, (struct span){0}, D_host_build_failed,
                   strerror(errno));
        return NULL;
    }
    const char *path = arena_printf(a, "%s/reference.so", folder);
    reference_print(&text, kernel);
    if (compile(a, &text, path, true, diags) ||
        compile(a, &text, path, false, diags)) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, "ingot_reference") : NULL;
        memcpy(&function, &symbol, sizeof symbol);
        if (!function)
            diag_error(diags, (struct span){0}, D_host_build_failed, dlerror());
    }
    unlink(path);
    rmdir(folder);
    release_signals(&before);
    buf_free(&text);
    return function;
}

// Return what the program takes: a pointer for each parameter.
static void **pointers(struct arena *a, const struct problem *p,
                       struct eval_argument *arguments)
{
    size_t n = p->kernel->params.n;
    void **args = arena_array(a, void *, n);
    for (size_t i = 0; i < n; i++) {
        const struct ir_var *var = p->kernel->params.at[i].var;
        args[i] = arguments[i].data;
        if (!var)
            continue;
        args[i] = arena_new(a, uint64_t);
        if (type_is_float(var->type))
            eval_store_float(var->type, args[i], arguments[i].scalar.f);
        else
            eval_store_int(var->type, args[i], arguments[i].scalar.i);
    }
    return args;
}

// Call the function in a child, which shares the arrays.
static bool call(reference_function *function, void **args,
                 struct diag_list *diags)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        function(args);
        _exit(0);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    diag_error(diags, (struct span){0}, D_host_failed,
               child < 0             ? strerror(errno)
               : WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                     : "it gave up");
    return false;
}

bool host_run(struct arena *a, const struct problem *p,
              struct eval_argument *arguments, struct diag_list *diags)
{
    reference_function *function = build(a, p->kernel, diags);
    return function && call(function, pointers(a, p, arguments), diags);
}
