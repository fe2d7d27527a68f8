// Runs a command and stops at its system calls, of all its processes:
//
//   trace watch FOLDER OLD NEW COMMAND...
//       at each call, the files of FOLDER must be those of OLD, or of NEW, or
//       fewer of one kind; says how many calls that were
//   trace SIGNAL main|child|llvm N COMMAND...
//       send a signal, a number, at call N, from 0, of the command, of its
//       child that leads a session, or of its child that emits code; exit
//       status 98 if there is no such call
//   trace fail N ERRNO COMMAND...
//       have call N, from 0, of that child fail; 98 if there is no such call
//
// The exit status is that of the command, + 128 for a signal.  The variable
// TRACE_DENY names calls that always fail, as on a file system without them:
// link, nameless (files without a name) or lock.  Errors of trace exit with 99,
// a system that lets nobody trace with 77.

#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SKIPPED = 77,
    NOT_REACHED = 98,
    FAILED = 99,
    BY_SIGNAL = 128,
    MOST = 4096
};

// What to do, and how far it has come.
struct trace {
    const char *mode, *what; // the first arguments
    const char *denied;      // TRACE_DENY, or ""
    int signal;              // to send, or 0
    const char *folder, *old, *new;
    long at, calls; // which call, and how many there were
    int error;      // what it is to return
    pid_t main, child, llvm;
    bool is_done;
    int status;        // of the command
    int failing[MOST]; // by thread: the error that its call returns
};

// End with a message.
static void die(const char *what)
{
    perror(what);
    exit(FAILED);
}

// Return whether two files hold the same.
static bool is_same(const char *a, const char *b)
{
    char x[65536], y[65536];
    int p = open(a, O_RDONLY), q = open(b, O_RDONLY);
    ssize_t n = p < 0 ? -1 : read(p, x, sizeof x);
    ssize_t m = q < 0 ? -2 : read(q, y, sizeof y);
    if (p >= 0)
        close(p);
    if (q >= 0)
        close(q);
    return n == m && n < (ssize_t)sizeof x && memcmp(x, y, (size_t)n) == 0;
}

// Check that the files in the folder are of one kind.
static void check(struct trace *t, long long number)
{
    DIR *folder = opendir(t->folder);
    bool has_old = false, has_new = false;
    for (struct dirent *e = folder ? readdir(folder) : NULL; e;
         e = readdir(folder)) {
        char here[512], old[512], new[512];
        if (e->d_name[0] == '.')
            continue;
        snprintf(here, sizeof here, "%s/%s", t->folder, e->d_name);
        snprintf(old, sizeof old, "%s/%s", t->old, e->d_name);
        snprintf(new, sizeof new, "%s/%s", t->new, e->d_name);
        bool is_old = is_same(here, old), is_new = is_same(here, new);
        has_old |= is_old && !is_new;
        has_new |= is_new && !is_old;
        if (access(here, F_OK) == 0 && !is_old && !is_new)
            has_old = has_new = true;
    }
    if (folder)
        closedir(folder);
    if (has_old && has_new) {
        fprintf(stderr, "trace: a mix at call %ld, number %lld\n", t->calls,
                number);
        exit(FAILED);
    }
}

// Return the process that a thread is of.
static pid_t process_of(pid_t thread)
{
    char path[64], line[128];
    int id = thread;
    snprintf(path, sizeof path, "/proc/%d/status", thread);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Tgid: %d", &id);
    if (file)
        fclose(file);
    return id;
}

// Return the error of a call that is denied, or 0.
static int denial(const struct trace *t, const struct __ptrace_syscall_info *i)
{
    long number = (long)i->entry.nr;
    bool is_nameless =
        number == SYS_openat && (i->entry.args[2] & O_TMPFILE) == O_TMPFILE;
    if (strcmp(t->denied, "link") == 0 && number == SYS_linkat)
        return EPERM;
    if (strcmp(t->denied, "lock") == 0 && number == SYS_flock)
        return ENOLCK;
    return strcmp(t->denied, "nameless") == 0 && is_nameless ? EOPNOTSUPP : 0;
}

#ifdef __x86_64__
// Have no call made where one begins.
static void skip_call(pid_t thread)
{
    const size_t at = offsetof(struct user_regs_struct, orig_rax);
    ptrace(PTRACE_POKEUSER, thread, at, -1L);
}

// Have the call that ends return an error.
static void return_error(pid_t thread, int error)
{
    const size_t at = offsetof(struct user_regs_struct, rax);
    ptrace(PTRACE_POKEUSER, thread, at, (long)-error);
}
#else
static void skip_call(pid_t thread)
{
    (void)thread;
    exit(SKIPPED);
}

static void return_error(pid_t thread, int error)
{
    (void)thread;
    (void)error;
}
#endif

// Return whether the thread is of the process that is looked at.
static bool is_wanted(const struct trace *t, pid_t thread)
{
    pid_t process = process_of(thread);
    return strcmp(t->what, "main") == 0   ? process == t->main
           : strcmp(t->what, "llvm") == 0 ? process == t->llvm
                                          : process == t->child;
}

// Take the beginning of a call.
static void enter(struct trace *t, pid_t thread,
                  const struct __ptrace_syscall_info *i)
{
    int error = denial(t, i);
    if (t->folder)
        check(t, (long long)i->entry.nr);
    if (i->entry.nr == SYS_setsid)
        t->child = process_of(thread);
    if (i->entry.nr == SYS_prctl && process_of(thread) != t->main)
        t->llvm = process_of(thread);
    if ((t->folder || is_wanted(t, thread)) && t->calls++ == t->at &&
        !t->folder) {
        t->is_done = true;
        error = t->signal ? 0 : t->error;
        if (t->signal)
            kill(process_of(thread), t->signal);
    }
    if (error)
        skip_call(thread);
    t->failing[thread % MOST] = error;
}

// Take the stop of a thread; returns the signal that it gets.
static int take_stop(struct trace *t, pid_t thread, int status)
{
    struct __ptrace_syscall_info info = {0};
    if (WSTOPSIG(status) != (SIGTRAP | 0x80))
        return status >> 16 || WSTOPSIG(status) == SIGSTOP ? 0
                                                           : WSTOPSIG(status);
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) < 0)
        return 0;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
        enter(t, thread, &info);
    if (info.op == PTRACE_SYSCALL_INFO_EXIT && t->failing[thread % MOST]) {
        return_error(thread, t->failing[thread % MOST]);
        t->failing[thread % MOST] = 0;
    }
    return 0;
}

// Follow all processes to their end.
static void follow(struct trace *t)
{
    int status;
    for (pid_t p = waitpid(-1, &status, __WALL); p > 0;
         p = waitpid(-1, &status, __WALL)) {
        if (!WIFSTOPPED(status)) {
            if (p == t->main)
                t->status = WIFEXITED(status) ? WEXITSTATUS(status)
                                              : BY_SIGNAL + WTERMSIG(status);
            continue;
        }
        ptrace(PTRACE_SYSCALL, p, 0, (long)take_stop(t, p, status));
    }
}

// Start the command, stopped.
static void start(struct trace *t, char **argv)
{
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
                         PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                         PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    int status;
    t->main = fork();
    if (t->main == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
            _exit(SKIPPED);
        raise(SIGSTOP);
        execv(argv[0], argv);
        _exit(FAILED);
    }
    if (waitpid(t->main, &status, 0) < 0)
        die("waitpid");
    if (!WIFSTOPPED(status))
        exit(SKIPPED);
    if (ptrace(PTRACE_SETOPTIONS, t->main, 0, options) != 0)
        exit(SKIPPED);
    ptrace(PTRACE_SYSCALL, t->main, 0, 0);
}

int main(int argc, char **argv)
{
    static struct trace t;
    if (argc < 5)
        return FAILED;
    t.mode = argv[1];
    t.what = argv[2];
    t.denied = getenv("TRACE_DENY") ? getenv("TRACE_DENY") : "";
    unsetenv("TRACE_DENY");
    if (strcmp(t.mode, "watch") == 0) {
        t.folder = argv[2];
        t.old = argv[3];
        t.new = argv[4];
        argv++;
    } else if (strcmp(t.mode, "fail") == 0) {
        t.at = atol(argv[2]);
        t.error = atoi(argv[3]);
    } else {
        t.signal = atoi(t.mode);
        t.at = atol(argv[3]);
    }
    start(&t, argv + 4);
    follow(&t);
    if (t.folder)
        printf("%ld\n", t.calls);
    return t.folder || t.is_done ? t.status : NOT_REACHED;
}
