// Emission in child processes, one for each part of the kernels.
//
// LLVM ends the process where it meets what it cannot translate.  So a child
// emits, and sends back through a pipe: whether it succeeded, its diagnostics,
// its times and the text.  The child is a copy of its parent: the addresses of sources,
// in the spans of diagnostics, mean the same in both.

#include "nvptx/parts.h"
#include "nvptx/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LIMIT_MS = 600000, // of processor time, for one emission
    CHUNK = 65536,
};

// What the child sends first; diagnostics, times and the text follow.
struct answer {
    size_t size;        // of the whole message
    bool ok;            // what nvptx_emit returned
    size_t diagnostics; // how many
    size_t times;       // how many
};

// The child, as its parent sees it.
struct child {
    pid_t pid;
    int fds[2];         // its answer, its standard error; -1 once closed
    struct buf said[2]; // what came out of each
    struct watch watch;
    enum watch_end end; // why it was killed, unless it is fine
};

// Append a text with its NUL; NULL as an empty one.
static void put_text(struct buf *b, const char *text)
{
    buf_bytes(b, text ? text : "", (text ? strlen(text) : 0) + 1);
}

// Append a diagnostic as its struct, its texts and its notes.
static void put_diagnostic(struct buf *b, const struct diag *d)
{
    buf_bytes(b, d, sizeof *d);
    put_text(b, d->text);
    put_text(b, d->label);
    for (size_t i = 0; i < d->notes.n; i++) {
        buf_bytes(b, &d->notes.at[i], sizeof *d->notes.at);
        put_text(b, d->notes.at[i].text);
    }
}

// Bytes that are being read.
struct reader {
    const char *at;
    size_t left;
};

// Copy the next `size` bytes to `out`, or zeros if they are not there.
static void take(struct reader *r, void *out, size_t size)
{
    bool enough = size <= r->left;
    memset(out, 0, size);
    if (!enough)
        return;
    memcpy(out, r->at, size);
    r->at += size;
    r->left -= size;
}

// Return the next text, in the arena; NULL if it is empty.
static const char *take_text(struct reader *r, struct arena *a)
{
    size_t n = strnlen(r->at, r->left);
    const char *text = n ? arena_copy(a, r->at, n) : NULL;
    size_t used = n < r->left ? n + 1 : n;
    r->at += used;
    r->left -= used;
    return text;
}

// Append the next diagnostic to a list.
static void take_diagnostic(struct reader *r, struct diag_list *diags)
{
    struct diag d;
    take(r, &d, sizeof d);
    size_t notes = d.notes.n;
    d.text = take_text(r, diags->arena);
    d.label = take_text(r, diags->arena);
    memset(&d.notes, 0, sizeof d.notes);
    for (size_t i = 0; i < notes; i++) {
        struct diag_note note;
        take(r, &note, sizeof note);
        note.text = take_text(r, diags->arena);
        vec_push(diags->arena, &d.notes, note);
    }
    diags->errors += d.severity == DIAG_ERROR;
    vec_push(diags->arena, &diags->all, d);
}

// Add the next time to a list, which may be NULL.
static void take_time(struct reader *r, struct phases *times)
{
    double ms;
    struct arena scratch = {0};
    take(r, &ms, sizeof ms);
    const char *name = take_text(r, &scratch);
    phases_add(times, name ? name : "", ms);
    arena_reset(&scratch);
}

// Write all bytes to a pipe.
static void write_all(int fd, const struct buf *b)
{
    for (size_t at = 0; at < b->n;) {
        ssize_t n = write(fd, b->data + at, b->n - at);
        if (n < 0 && errno != EINTR)
            return;
        at += n > 0 ? (size_t)n : 0;
    }
}

// The arguments of an emission.
struct job {
    struct arena *arena;
    const struct ir_kernel *const *kernels;
    size_t n;
    const struct nvptx_options *options;
};

// Let faults end the process, without a core, whatever the parent does, and
// the end of the parent, too.
static void face_faults(void)
{
    static const int faults[] = {SIGABRT, SIGSEGV, SIGBUS,
                                 SIGILL,  SIGFPE,  SIGTRAP};
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], SIG_DFL);
}

// Emit, answer, and end the process.
static void run_child(const struct job *job, int answer_fd, int error_fd)
{
    face_faults();
    dup2(error_fd, STDERR_FILENO);
    struct diag_list diags = {.arena = job->arena};
    struct phases times = {.arena = job->arena};
    struct nvptx_options options = *job->options;
    struct buf text = {0}, message = {0};
    options.times = &times;
    struct answer answer = {.ok = nvptx_emit(job->arena, job->kernels, job->n,
                                             &options, &text, &diags)};
    answer.diagnostics = diags.all.n;
    answer.times = times.all.n;
    buf_bytes(&message, &answer, sizeof answer);
    for (size_t i = 0; i < diags.all.n; i++)
        put_diagnostic(&message, &diags.all.at[i]);
    for (size_t i = 0; i < times.all.n; i++) {
        buf_bytes(&message, &times.all.at[i].ms, sizeof times.all.at[i].ms);
        put_text(&message, times.all.at[i].name);
    }
    buf_bytes(&message, text.data, text.n);
    answer.size = message.n;
    memcpy(message.data, &answer, sizeof answer);
    write_all(answer_fd, &message);
    _exit(0);
}

// Make a pipe that no program inherits.  Returns false if there is none.
static bool open_pipe(int *ends)
{
    if (pipe(ends))
        return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return true;
}

// Start the child.  Returns false, with errno set, if there is none.
static bool start(const struct job *job, struct child *c)
{
    int answer[2], errors[2];
    if (!open_pipe(answer))
        return false;
    if (!open_pipe(errors)) {
        close(answer[0]);
        close(answer[1]);
        return false;
    }
    c->pid = fork();
    if (c->pid == 0)
        run_child(job, answer[1], errors[1]);
    close(answer[1]);
    close(errors[1]);
    c->watch = watch_start(c->pid, LIMIT_MS);
    c->fds[0] = answer[0];
    c->fds[1] = errors[0];
    return c->pid > 0;
}

// Stop listening to a pipe.
static void close_pipe(struct child *c, int which)
{
    if (c->fds[which] >= 0)
        close(c->fds[which]);
    c->fds[which] = -1;
}

// Read what there is in a pipe of the child's; close it at its end.
static void read_pipe(struct child *c, int which)
{
    char chunk[CHUNK];
    ssize_t n = read(c->fds[which], chunk, sizeof chunk);
    if (n > 0)
        buf_bytes(&c->said[which], chunk, (size_t)n);
    else if (n == 0 || errno != EINTR)
        close_pipe(c, which);
}

// Return whether the whole answer has come.  Its end is not waited for: a
// child of another thread may hold the pipe open.
static bool has_answered(const struct child *c)
{
    struct answer answer;
    if (c->said[0].n < sizeof answer)
        return false;
    memcpy(&answer, c->said[0].data, sizeof answer);
    return c->said[0].n >= answer.size;
}

// Read until the child has answered or closed its pipes, or kill it.
static void listen_to(struct child *c)
{
    while (!has_answered(c) && (c->fds[0] >= 0 || c->fds[1] >= 0)) {
        struct pollfd polls[2] = {{c->fds[0], POLLIN, 0},
                                  {c->fds[1], POLLIN, 0}};
        c->end = watch_look(&c->watch);
        if (c->end != WATCH_FINE)
            break;
        poll(polls, 2, watch_pause(&c->watch));
        for (int i = 0; i < 2; i++) {
            if (polls[i].revents)
                read_pipe(c, i);
        }
    }
    if (c->end != WATCH_FINE)
        kill(c->pid, SIGKILL);
    close_pipe(c, 0);
    close_pipe(c, 1);
}

// Report that the child did not come to an end.
static void report_death(const struct child *c, int status,
                         struct diag_list *diags)
{
    const char *text = c->said[1].n ? c->said[1].data : "it was killed";
    if (c->end == WATCH_OVERTIME)
        text = "it used more than ten minutes of processor time";
    else if (c->end == WATCH_IDLE)
        text = "it did nothing for ten minutes";
    else if (!c->said[1].n && WIFSIGNALED(status))
        text = strsignal(WTERMSIG(status));
    diag_error(diags, (struct span){0}, D_llvm_failed, text);
}

// Take the child's answer apart.
static bool take_answer(const struct child *c, struct phases *times,
                        struct buf *out, struct diag_list *diags)
{
    struct reader r = {c->said[0].data, c->said[0].n};
    struct answer answer;
    take(&r, &answer, sizeof answer);
    for (size_t i = 0; i < answer.diagnostics; i++)
        take_diagnostic(&r, diags);
    for (size_t i = 0; i < answer.times; i++)
        take_time(&r, times);
    if (answer.ok)
        buf_bytes(out, r.at, r.left);
    return answer.ok;
}

// Wait for a child, and append what it emitted.  Returns false after
// reporting an error; `reason` is errno if there is no child.
static bool finish(struct child *c, int reason, struct phases *times,
                   struct buf *out, struct diag_list *diags)
{
    int status = 0;
    bool ok = false;
    if (c->pid <= 0)
        diag_error(diags, (struct span){0}, D_llvm_failed, strerror(reason));
    listen_to(c);
    if (c->pid > 0) {
        while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
            continue;
        if (has_answered(c))
            ok = take_answer(c, times, out, diags);
        else
            report_death(c, status, diags);
    }
    buf_free(&c->said[0]);
    buf_free(&c->said[1]);
    return ok;
}

bool nvptx_emit_isolated(struct arena *a,
                         const struct ir_kernel *const *kernels, size_t n,
                         const struct nvptx_options *options, struct buf *out,
                         struct diag_list *diags)
{
    struct parts parts = parts_of(a, kernels, n, options);
    struct child *children = arena_array(a, struct child, parts.n);
    struct buf *texts = arena_array(a, struct buf, parts.n);
    int *reasons = arena_array(a, int, parts.n);
    bool ok = true;
    for (size_t i = 0; i < parts.n; i++) {
        struct job job = {a, parts.at[i].kernels, parts.at[i].n, options};
        children[i] = (struct child){.fds = {-1, -1}};
        reasons[i] = start(&job, &children[i]) ? 0 : errno;
    }
    for (size_t i = 0; i < parts.n; i++)
        ok &=
            finish(&children[i], reasons[i], options->times, &texts[i], diags);
    if (ok && parts.n == 1)
        buf_bytes(out, texts[0].data, texts[0].n);
    else if (ok)
        parts_join(texts, parts.n, out);
    for (size_t i = 0; i < parts.n; i++)
        buf_free(&texts[i]);
    return ok;
}
