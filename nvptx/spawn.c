// Files in memory are memfds, so that a tool may open and seek them.  The child
// is made by vfork, which copies no pages; so it only makes system calls.

#define _GNU_SOURCE

#include "nvptx/spawn.h"

#include "nvptx/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// Return a file in memory with these bytes, at its start, or -1 with errno.
// Its number is above all that a child's inputs get.
static int memory_file(const struct process_input *input)
{
    int low = memfd_create("input", MFD_CLOEXEC);
    if (low < 0)
        return -1;
    int fd = -1;
    if (io_write(low, input->bytes, input->size) &&
        lseek(low, 0, SEEK_SET) == 0)
        fd = fcntl(low, F_DUPFD_CLOEXEC, PROCESS_INPUTS_MOST + 3);
    close(low);
    return fd;
}

// What a child gets: files, and the pipes' ends for it and for us; -1 if not
// open.
struct child_files {
    int inputs[PROCESS_INPUTS_MOST];
    size_t n_inputs;
    int ours[SPAWN_PIPES], theirs[SPAWN_PIPES];
};

// Close what is open of `n` descriptors.
static void close_all(int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

// Open the inputs of a process; standard input is empty if it has none.
static bool open_inputs(const struct process *p, struct child_files *files)
{
    static const struct process_input nothing = {"", 0};
    const struct process_input *inputs = p->n_inputs ? p->inputs : &nothing;
    size_t n = p->n_inputs ? p->n_inputs : 1;
    for (; files->n_inputs < n; files->n_inputs++) {
        int fd = memory_file(&inputs[files->n_inputs]);
        if (fd < 0)
            return false;
        files->inputs[files->n_inputs] = fd;
    }
    return true;
}

// Open a pipe whose end for us does not block.
static bool open_pipe(int *ours, int *theirs)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    *ours = ends[0];
    *theirs = ends[1];
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

// Open everything that a child gets; false, with errno, on failure.
static bool open_files(const struct process *p, struct child_files *files)
{
    *files = (struct child_files){.ours = {-1, -1}, .theirs = {-1, -1}};
    if (p->n_inputs > PROCESS_INPUTS_MOST) {
        errno = E2BIG;
        return false;
    }
    return open_inputs(p, files) &&
           open_pipe(&files->ours[SPAWN_OUT], &files->theirs[SPAWN_OUT]) &&
           open_pipe(&files->ours[SPAWN_ERR], &files->theirs[SPAWN_ERR]);
}

// ---- In the child, which shares memory with its parent ---------------------

// Put the files where the tool expects them.  Returns an errno.
static int place_files(const struct child_files *files)
{
    if (dup2(files->inputs[0], 0) < 0)
        return errno;
    for (int i = 0; i < SPAWN_PIPES; i++)
        if (dup2(files->theirs[i], 1 + i) < 0)
            return errno;
    for (int i = 1; i < (int)files->n_inputs; i++)
        if (dup2(files->inputs[i], 2 + i) < 0)
            return errno;
    return 0;
}

// Have no signal blocked, caught or ignored.
static void reset_signals(void)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int i = 1; i < NSIG; i++)
        sigaction(i, &usual, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

// Become the tool.  Returns an errno.
static int become(const struct process *p, const struct child_files *files,
                  int64_t cpu_seconds, pid_t parent)
{
    char *const environment[] = {NULL};
    struct rlimit cpu;
    if (setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
        getrlimit(RLIMIT_CPU, &cpu) != 0)
        return errno;
    if (getppid() != parent)
        _exit(1);
    if (cpu.rlim_cur == RLIM_INFINITY || (int64_t)cpu.rlim_cur > cpu_seconds)
        cpu.rlim_cur = (rlim_t)cpu_seconds;
    setrlimit(RLIMIT_CPU, &cpu);
    int error = place_files(files);
    if (error)
        return error;
    reset_signals();
    execve(p->argv[0], (char *const *)p->argv, environment);
    return errno;
}

// ---- In the caller ---------------------------------------------------------

// Start the tool with these files.  Returns an errno.
static int start(const struct process *p, const struct child_files *files,
                 int64_t cpu_seconds, pid_t *pid)
{
    volatile int error = 0;
    const pid_t parent = getpid();
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid_t child = vfork();
    if (child == 0) {
        error = become(p, files, cpu_seconds, parent);
        _exit(127);
    }
    if (child < 0)
        error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (child > 0 && error)
        waitpid(child, NULL, 0);
    *pid = child;
    return error;
}

int spawn(const struct process *p, int64_t cpu_seconds, struct spawned *out)
{
    struct child_files files;
    int error = open_files(p, &files) ? 0 : errno;
    if (!error)
        error = start(p, &files, cpu_seconds, &out->pid);
    close_all(files.inputs, files.n_inputs);
    close_all(files.theirs, SPAWN_PIPES);
    if (error)
        close_all(files.ours, SPAWN_PIPES);
    for (int i = 0; i < SPAWN_PIPES; i++)
        out->pipes[i] = files.ours[i];
    return error;
}
