// What the subcommands share.

#include "tools/ingot/cli.h"

#include "ir/base/foreign.h"
#include "ir/text.h"
#include "nvptx/process.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Return the exit code that a diagnostic calls for.
static int code_of(const struct diag *d)
{
    if (d->severity != DIAG_ERROR)
        return EXIT_DONE;
    return diag_is_outside(d->code) ? EXIT_TOOL : EXIT_INPUT;
}

int cli_report(const struct diag_list *diags)
{
    struct buf out = {0};
    int worst = EXIT_DONE;
    struct diag_style style = {isatty(STDERR_FILENO) != 0};
    diag_render(diags, style, &out);
    if (out.n)
        fwrite(out.data, 1, out.n, stderr);
    buf_free(&out);
    for (size_t i = 0; i < diags->all.n; i++) {
        int code = code_of(&diags->all.at[i]);
        worst = code > worst ? code : worst;
    }
    return worst;
}

// Append all that can be read from a stream, or more than any file of ours has;
// false on an error.
static bool read_stream(FILE *f, struct buf *out)
{
    char part[65536];
    size_t n;
    while ((n = fread(part, 1, sizeof part, f)) > 0) {
        buf_bytes(out, part, n);
        if (out->n > PROCESS_OUTPUT_MOST)
            break;
    }
    return !ferror(f);
}

// Return the name of a file in messages.
static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

// Return whether an error is about the path, not about the system.
static bool is_fault_of_path(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EISDIR ||
           error == EACCES || error == ELOOP || error == ENAMETOOLONG;
}

bool cli_read(const char *path, struct buf *out, struct diag_list *diags)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    bool ok = f && read_stream(f, out);
    if (!ok)
        diag_error(diags, (struct span){0},
                   is_fault_of_path(errno) ? D_cannot_read : D_read_failed,
                   name_of(path), strerror(errno));
    if (f && !is_stdin)
        fclose(f);
    return ok;
}

const char *cli_stem(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    if (strcmp(path, "-") == 0)
        return "stdin";
    return arena_copy(a, base,
                      dot && dot != base ? (size_t)(dot - base) : strlen(base));
}

const char *cli_manifest(struct arena *a, const char *path)
{
    const char *dot = strrchr(path, '.');
    size_t n = dot && !strchr(dot, '/') ? (size_t)(dot - path) : strlen(path);
    return arena_printf(a, "%.*s.json", (int)n, path);
}

const char *cli_tuned(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    size_t n = dot ? (size_t)(dot - path) : strlen(path);
    const char *tuned = arena_printf(a, "%.*s.tuned", (int)n, path);
    bool is_stdin = strcmp(path, "-") == 0;
    return is_stdin || access(tuned, F_OK) ? NULL : tuned;
}

bool cli_add_tuned(struct compilation *c, const char *path)
{
    struct buf text = {0};
    const char *tuned = cli_tuned(&c->arena, path);
    bool ok = !tuned ||
              (cli_read(tuned, &text, &c->diags) &&
               compile_add_tuned(c, tuned, text.n ? text.data : "", text.n));
    buf_free(&text);
    return ok;
}

bool cli_add_file(struct compilation *c, const char *path)
{
    struct buf text = {0};
    bool ok = cli_read(path, &text, &c->diags) && cli_add_tuned(c, path) &&
              compile_add(c, name_of(path), text.n ? text.data : "", text.n);
    buf_free(&text);
    return ok;
}

// Keys of options without a letter.
enum {
    KEY_SET = 256,
    KEY_SCHEDULES,
    KEY_INSTANCE,
    KEY_FAST_MATH,
    KEY_NO_SCHEDULE,
    KEY_RULES_ONLY,
    KEY_CHECKED,
    KEY_PRINT,
    KEY_SKIP,
    KEY_TIME,
    KEY_NO_WARN,
    KEY_WARN_AS_ERROR,
};

static const struct argp_option compile_entries_help[] = {
    {"set", KEY_SET, "NAME=VALUE", 0, "set a parameter or a knob of a schedule",
     0},
    {"schedules", KEY_SCHEDULES, "FILE", 0,
     "take schedules and defs from this file too", 0},
    {"instance", KEY_INSTANCE, "KERNEL for NAME = VALUE, ...", 0,
     "compile a kernel for these values of its compile-time parameters, not "
     "for those of the file",
     0},
    {"fast-math", KEY_FAST_MATH, 0, 0, "allow approximations", 0},
    {"no-schedule", KEY_NO_SCHEDULE, 0, 0,
     "ignore the file's schedules, use the default", 0},
    {"rules-only", KEY_RULES_ONLY, 0, 0,
     "ignore the file's schedules, use rules, or else the default", 0},
    {"optimise", 'O', "LEVEL", 0, "LLVM's effort, 0 to 3 (default 2)", 0},
    {"checked", KEY_CHECKED, 0, 0, "check the program after every pass", 0},
    {"print-after", KEY_PRINT, "PASSES", 0,
     "print the program after these passes, after \"schedule\" or \"all\"", 0},
    {"skip", KEY_SKIP, "PASSES", 0, "leave out optional passes", 0},
    {"no-warn", KEY_NO_WARN, "CODES", 0,
     "leave out these warnings, as the comment `// no-warn CODES` does for a "
     "line",
     0},
    {"warn-as-error", KEY_WARN_AS_ERROR, "CODES", OPTION_ARG_OPTIONAL,
     "make errors of these warnings, or of all", 0},
    {"time", KEY_TIME, 0, 0, "print the time of every phase and pass", 0},
    {0}};

// Add `name=value` to the settings.
static void add_setting(struct cli_compile *c, const char *text,
                        struct argp_state *state)
{
    const char *equals = strchr(text, '=');
    char *end = NULL;
    struct sched_setting s = {0};
    if (equals && equals[1])
        s.value = strtoll(equals + 1, &end, 0);
    if (!end || *end || equals == text)
        argp_error(state, "--set needs NAME=INTEGER, not `%s`", text);
    s.name = arena_copy(&c->arena, text, equals ? (size_t)(equals - text) : 0);
    vec_push(&c->arena, &c->settings, s);
}

// End the process unless a text of `n` bytes names a pass, or is one of two
// other words, which may be NULL.
static void check_pass(const char *option, const char *text, size_t n,
                       const char *const *words, struct argp_state *state)
{
    struct arena arena = {0};
    enum pass_name pass;
    const char *name = arena_copy(&arena, text, n);
    struct suggest near = {.wanted = name};
    bool found = pass_find(name, &pass);
    for (int i = 0; i < 2 && words[i]; i++) {
        found |= strcmp(words[i], name) == 0;
        suggest_offer(&near, words[i]);
    }
    for (int i = 0; i < PASS_COUNT; i++)
        suggest_offer(&near, pass_text((enum pass_name)i));
    if (!found)
        argp_error(state, "%s: unknown pass `%s`%s", option, name,
                   cli_hint(&arena, &near));
    arena_reset(&arena);
}

// The same for each name of a comma-separated list.
static void check_passes(const char *option, const char *list, const char *word,
                         const char *other, struct argp_state *state)
{
    const char *const words[] = {word, other};
    for (const char *at = list;; at++) {
        size_t n = strcspn(at, ",");
        check_pass(option, at, n, words, state);
        at += n;
        if (!*at)
            return;
    }
}

// End the process if a list names a pass that must run.
static void check_skip(const char *list, struct argp_state *state)
{
    for (int i = 0; i < PASS_COUNT; i++) {
        enum pass_name pass = (enum pass_name)i;
        if (!pass_is_optional(pass) && pass_is_listed(list, pass_text(pass)))
            argp_error(state, "--skip: the pass `%s` cannot be left out",
                       pass_text(pass));
    }
}

// Take one option that all compiling commands have.
static error_t take_compile(int key, char *arg, struct argp_state *state)
{
    struct cli_compile *c = state->input;
    struct compile_options *o = &c->options;
    switch (key) {
    case KEY_SET: add_setting(c, arg, state); return 0;
    case KEY_SCHEDULES: vec_push(&c->arena, &c->schedules, arg); return 0;
    case KEY_INSTANCE: vec_push(&c->arena, &c->instances, arg); return 0;
    case KEY_FAST_MATH: o->fast_math = true; return 0;
    case KEY_NO_SCHEDULE: o->no_schedule = true; return 0;
    case KEY_RULES_ONLY: o->only_rules = true; return 0;
    case KEY_CHECKED: o->passes.checked = true; return 0;
    case KEY_PRINT:
        check_passes("--print-after", arg, "schedule", "all", state);
        o->passes.print_after = arg;
        return 0;
    case KEY_SKIP:
        check_passes("--skip", arg, NULL, NULL, state);
        check_skip(arg, state);
        o->passes.skip = arg;
        return 0;
    case KEY_NO_WARN: cli_silence(&c->policy, arg, state); return 0;
    case KEY_WARN_AS_ERROR: cli_warn_as_error(&c->policy, arg, state); return 0;
    case KEY_TIME: o->passes.times = &c->times; return 0;
    case 'O':
        if (strlen(arg) != 1 || arg[0] < '0' || arg[0] > '3')
            argp_error(state, "-O takes 0, 1, 2 or 3, not `%s`", arg);
        o->opt_level = (unsigned)(arg[0] - '0');
        return 0;
    case ARGP_KEY_INIT:
        o->opt_level = 2;
        o->passes.log = &c->log;
        c->times.arena = &c->arena;
        o->passes.checked = INGOT_CHECKED;
        return 0;
    case ARGP_KEY_SUCCESS:
        o->settings = c->settings.at;
        o->n_settings = c->settings.n;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cli_compile_argp = {.options = compile_entries_help,
                                      .parser = take_compile};

enum { KEY_STOP = 384 };

static const struct argp_option stop_options[] = {
    {"stop-after", KEY_STOP, "PASS", 0,
     "run the pipeline up to this pass, or to \"schedule\", and print the "
     "program",
     0},
    {0}};

// Take --stop-after.
static error_t take_stop(int key, char *arg, struct argp_state *state)
{
    static const char *const words[] = {"schedule", NULL};
    struct cli_compile *c = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = c; return 0;
    case KEY_STOP:
        check_pass("--stop-after", arg, strlen(arg), words, state);
        c->stop_after = arg;
        c->options.passes.stop_after = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child compile_child[] = {
    {&cli_compile_argp, 0, NULL, 0}, {0}};
const struct argp cli_stop_argp = {
    .options = stop_options, .parser = take_stop, .children = compile_child};

bool cli_lower(struct cli_compile *o, const struct compile_options *options,
               struct compilation *c)
{
    bool ok = o->stop_after && strcmp(o->stop_after, "schedule") == 0
                  ? compile_schedule(c, options)
                  : compile_lower(c, options);
    return ok;
}

bool cli_print_kernels(struct ir_kernel *const *kernels, size_t n)
{
    struct buf out = {0};
    for (size_t i = 0; i < n; i++) {
        buf_text(&out, i ? "\n" : "");
        ir_print_kernel(&out, kernels[i]);
    }
    bool ok = cli_print(&out);
    buf_free(&out);
    return ok;
}

void cli_take_file(const char **file, const char *arg, struct argp_state *state)
{
    if (*file)
        argp_error(state, "name one file");
    *file = arg;
}

void cli_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    argp_err_exit_status = EXIT_USAGE;
    cli_check_options(argp, argc, argv);
    argp_parse(argp, argc, argv, 0, NULL, input);
}

bool cli_print(const struct buf *text)
{
    if (fwrite(text->n ? text->data : "", 1, text->n, stdout) == text->n &&
        fflush(stdout) == 0)
        return true;
    if (errno != EPIPE)
        fprintf(stderr, "ingot: cannot write to the standard output: %s\n",
                strerror(errno));
    __fpurge(stdout);
    clearerr(stdout);
    return false;
}

void cli_progress(const char *text)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s%s", text ? text : "", text ? " ..." : "");
}

const char *cli_hint(struct arena *a, const struct suggest *s)
{
    char text[256];
    const char *own = foreign_help(FOREIGN_WORD, s->wanted);
    if (own)
        return arena_printf(a, ": %s", own);
    suggest_text(s, text, sizeof text);
    return suggest_any(s) ? arena_printf(a, "; did you mean %s?", text) : "";
}

void cli_ask_instances(const struct cli_compile *c, struct compilation *to)
{
    to->diags.policy = &c->policy;
    vec_foreach_value(text, &c->instances)
        compile_ask_instance(to, text);
}

bool cli_add_schedules(const struct cli_compile *c, struct compilation *to)
{
    for (size_t i = 0; i < c->schedules.n; i++)
        if (!cli_add_file(to, c->schedules.at[i]))
            return false;
    instances_check(&to->program, &to->diags);
    return !to->diags.errors;
}

bool cli_add_files(const struct cli_compile *c, struct compilation *to,
                   const char *const *paths, size_t n)
{
    bool ok = true;
    cli_ask_instances(c, to);
    for (size_t i = 0; i < n; i++)
        ok = cli_add_file(to, paths[i]) && ok;
    return ok && cli_add_schedules(c, to);
}

void cli_print_log(struct cli_compile *c)
{
    phases_print(&c->times, &c->log);
    if (c->log.n)
        fwrite(c->log.data, 1, c->log.n, stderr);
    c->log.n = c->times.all.n = 0;
}

void cli_end(struct cli_compile *c)
{
    cli_print_log(c);
    buf_free(&c->log);
    arena_reset(&c->arena);
}
