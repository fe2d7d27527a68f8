// No pass changes what a kernel computes: every kernel of tests/kernels, with
// each of its schedules, and every text test of tests/lit/passes is evaluated
// on random data of small, odd sizes before the pipeline and after each of
// its passes that changes it, and all arrays must stay the same, bit for bit; but sums of floats
// that threads share may be rounded in another order.

#include "frontend/frontend.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/eval.h"
#include "ir/marks.h"
#include "ir/ring.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"
#include "passes/analysis/narrow.h"
#include "passes/pass.h"
#include "passes/schedule/schedule.h"
#include "tools/libingot/library.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <sys/stat.h>

enum { TRIALS = 2, MANY = 3, ATTEMPTS = 4000, SIZE_MOST = 13 };
enum { STEPS_MOST = 3 * 1000 * 1000, BYTES_MOST = 16 << 20 };

static const enum pass_name pipeline[] = {
#define STEP(name, ...) PASS_##name,
#include "passes/passes.def"
#undef STEP
};

enum { N_STEPS = sizeof pipeline / sizeof *pipeline };

// One file under test.
struct file {
    struct arena arena, scratch;
    struct str_table names;
    struct diag_list diags;
    struct source source;
    struct program program, library; // the defs of tools/std
    bool may_fault;                  // some data takes accesses out of bounds
    uint64_t random;                 // state of the generator
};

// Return the next random number below n.
static uint64_t below(struct file *f, uint64_t n)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return (f->random >> 11) % n;
}

// Return whether conditions hold for the scalars of a kernel.
static bool holds(const struct ir_kernel *k, const struct ir_conditions *all,
                  const struct eval_argument *args)
{
    int64_t one = 1;
    for (size_t i = 0; i < all->n && one; i++) {
        if (!ir_eval_int(k, args, all->at[i], &one))
            return false;
    }
    return one != 0;
}

// Choose a size at random: a small one, or a multiple of a usual tile.
static int64_t choose_size(struct file *f, bool is_scaled)
{
    static const int64_t scales[] = {8, 128, 256};
    return is_scaled ? (int64_t)below(f, 3) * scales[below(f, 3)]
                     : (int64_t)below(f, SIZE_MOST);
}

// Return the bytes that an array takes; fails if that cannot be said.
static size_t array_bytes(const struct ir_kernel *k, const struct ir_buffer *b,
                          const struct eval_argument *args)
{
    int64_t last = 0, row_major = 1, elements = 1;
    for (uint32_t i = b->rank; i-- > 0;) {
        int64_t extent, stride = row_major;
        assert_true(ir_eval_int(k, args, b->shape[i], &extent));
        if (b->strides)
            assert_true(ir_eval_int(k, args, b->strides[i], &stride));
        last += (extent - 1) * stride;
        row_major *= extent;
        elements *= extent;
    }
    return elements > 0 ? (size_t)(last + 1) * type_bytes(b->elem) : 0;
}

// Return whether the arrays of a kernel are few bytes: five dimensions of usual tiles
// are not.
static bool is_small(const struct ir_kernel *k,
                     const struct eval_argument *args)
{
    size_t bytes = 0;
    for (size_t i = 0; i < k->params.n; i++)
        if (k->params.at[i].buffer)
            bytes += array_bytes(k, k->params.at[i].buffer, args);
    return bytes <= BYTES_MOST;
}

// Give the sizes that the guard leaves one value, as `n == 64` does, that value.
static void choose_exact(struct file *f, const struct ir_kernel *k,
                         const struct facts *facts, struct eval_argument *args)
{
    for (size_t i = 0; i < k->params.n; i++) {
        struct ir_var *var = k->params.at[i].var;
        if (!var || !type_is_integer(var->type))
            continue;
        struct interval range = facts_range(facts, ir_read(&f->arena, var));
        if (range.lo == range.hi)
            args[i].scalar.i = range.lo;
    }
}

// Choose the scalars of a kernel at random so that it accepts them, the last time
// with one of them long and the others short; false if
// that does not succeed.
static bool choose_scalars(struct file *f, const struct ir_kernel *k,
                           struct eval_argument *args)
{
    struct facts facts;
    facts_start(&facts, &f->arena, k);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        bool is_scaled = (k->guard.n > 0) == (attempt < ATTEMPTS / 2);
        bool has_long = attempt >= ATTEMPTS * 3 / 4;
        size_t long_one = below(f, k->params.n);
        for (size_t i = 0; i < k->params.n; i++) {
            const struct ir_var *var = k->params.at[i].var;
            if (var && type_is_float(var->type))
                args[i].scalar.f = (double)below(f, 9) / 4 - 1;
            else if (var)
                args[i].scalar.i = !has_long ? choose_size(f, is_scaled)
                                   : i == long_one
                                       ? (int64_t)below(f, 41) * 1024
                                       : (int64_t)below(f, 4);
        }
        choose_exact(f, k, &facts, args);
        if (holds(k, &k->where, args) && holds(k, &k->guard, args) &&
            is_small(k, args))
            return true;
    }
    return false;
}

// Fill an array with small numbers.
static void fill(struct file *f, const struct ir_buffer *b,
                 struct eval_argument *arg)
{
    size_t size = type_bytes(b->elem);
    for (size_t at = 0; at + size <= arg->size; at += size) {
        char *element = (char *)arg->data + at;
        if (type_is_float(b->elem))
            eval_store_float(b->elem, element, (double)below(f, 17) / 8 - 1);
        else
            eval_store_int(b->elem, element, (int64_t)below(f, 2));
    }
}

// Choose all arguments of a kernel.
static bool choose(struct file *f, const struct ir_kernel *k,
                   struct eval_argument *args)
{
    if (!choose_scalars(f, k, args))
        return false;
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        if (!b)
            continue;
        args[i].size = array_bytes(k, b, args);
        args[i].data = arena_alloc(&f->arena, args[i].size);
        fill(f, b, &args[i]);
    }
    return true;
}

// Return the arguments with arrays of their own.
static struct eval_argument *copy_arguments(struct file *f,
                                            const struct ir_kernel *k,
                                            const struct eval_argument *args)
{
    struct eval_argument *r =
        arena_array(&f->arena, struct eval_argument, k->params.n);
    memcpy(r, args, k->params.n * sizeof *args);
    for (size_t i = 0; i < k->params.n; i++) {
        if (args[i].data)
            r[i].data = arena_copy(&f->arena, args[i].data, args[i].size);
    }
    return r;
}

// Return whether two arrays hold the same numbers but for their last bits.
static bool is_close(const struct ir_buffer *b, const struct eval_argument *x,
                     const struct eval_argument *y)
{
    size_t size = type_bytes(b->elem);
    if (!type_is_float(b->elem))
        return false;
    for (size_t at = 0; at + size <= x->size; at += size) {
        double p = eval_load_float(b->elem, (const char *)x->data + at);
        double q = eval_load_float(b->elem, (const char *)y->data + at);
        double most = fabs(p) > 1 ? fabs(p) : 1;
        if (p != q && !(fabs(p - q) <= 1e-4 * most) && !(isnan(p) && isnan(q)))
            return false;
    }
    return true;
}

// Fail unless two runs ended with the same arrays.
static void compare(const struct ir_kernel *k, const struct eval_argument *x,
                    const struct eval_argument *y, const char *file,
                    const char *pass)
{
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        if (!b || memcmp(x[i].data, y[i].data, x[i].size) == 0)
            continue;
        bool may_round = strcmp(pass, pass_text(PASS_crossthread)) == 0 ||
                         strcmp(pass, pass_text(PASS_scans)) == 0;
        if (!may_round || !is_close(b, &x[i], &y[i]))
            fail_msg("%s: `%s` differs after %s", file, b->name, pass);
    }
}

// The errors reported so far, as text in the arena.
static const char *errors(struct file *f)
{
    struct buf out = {0};
    diag_render(&f->diags, (struct diag_style){0}, &out);
    const char *text = arena_copy(&f->arena, out.data ? out.data : "", out.n);
    buf_free(&out);
    return text;
}

// Evaluate a kernel on copies of the arguments; NULL if that says nothing: it
// takes too long, or the data are none that the kernel is meant for.
static struct eval_argument *run(struct file *f, const struct ir_kernel *k,
                                 const struct eval_argument *args,
                                 const char *after)
{
    struct eval_argument *r = copy_arguments(f, k, args);
    struct eval_result result = ir_eval(&f->arena, k, r, STEPS_MOST);
    bool is_first = strcmp(after, "parsing") == 0;
    if (result.status == EVAL_LIMIT ||
        (result.status == EVAL_FAULT && is_first && f->may_fault))
        return NULL;
    if (result.status != EVAL_DONE)
        fail_msg("%s: after %s: %s", f->source.name, after, result.text);
    return r;
}

// Return what passes work on.
static struct pass pass_for(struct file *f, struct ir_kernel *k)
{
    return (struct pass){.kernel = k,
                         .arena = &f->arena,
                         .scratch = &f->scratch,
                         .names = &f->names,
                         .diags = &f->diags};
}

// Return a kernel as text.
static struct buf text_of(const struct ir_kernel *k)
{
    struct buf out = {0};
    ir_print_kernel(&out, k);
    return out;
}

// Return whether a kernel differs from `text`, which becomes its text.
static bool has_changed(const struct ir_kernel *k, struct buf *text)
{
    struct buf now = text_of(k);
    bool differs = now.n != text->n || memcmp(now.data, text->data, now.n) != 0;
    buf_free(text);
    *text = now;
    return differs;
}

// Run the pipeline on a kernel, evaluating after each pass that changes it. A
// copy that ring_lower took out of its own loop over threads, and what
// single_writer leaves to one of them, lacks barriers until barrier_insertion.
static void run_pipeline(struct file *f, struct ir_kernel *k)
{
    struct eval_argument *args =
        arena_array(&f->arena, struct eval_argument, k->params.n);
    if (!choose(f, k, args))
        fail_msg("%s: no arguments are accepted", f->source.name);
    struct eval_argument *expected = run(f, k, args, "parsing");
    struct pass p = pass_for(f, k);
    struct pass_options options = {.checked = true};
    struct buf text = text_of(k);
    bool lacks_barriers = false;
    for (int i = 0; i < N_STEPS && expected; i++) {
        const char *pass = pass_text(pipeline[i]);
        if (!passes_run_one(&p, pipeline[i], &options))
            fail_msg("%s: %s", f->source.name, errors(f));
        lacks_barriers &= pipeline[i] != PASS_barrier_insertion;
        if (!has_changed(k, &text))
            continue;
        lacks_barriers |=
            (pipeline[i] == PASS_ring_lower && k->level == LEVEL_loops) ||
            pipeline[i] == PASS_single_writer;
        if (lacks_barriers)
            continue;
        struct eval_argument *got = run(f, k, args, pass);
        if (got)
            compare(k, expected, got, f->source.name, pass);
        if (pipeline[i] == PASS_crossthread || pipeline[i] == PASS_scans)
            expected = got;
    }
    buf_free(&text);
}

// Test the pipeline on copies of a kernel: as it is, and with 32-bit indices
// where they pay.
static void test_kernel(struct file *f, const struct ir_kernel *kernel)
{
    run_pipeline(f, ir_copy_kernel(&f->arena, kernel));
    struct ir_kernel *narrow = ir_copy_kernel(&f->arena, kernel);
    struct pass p = pass_for(f, narrow);
    if (analysis_narrow(&p))
        run_pipeline(f, narrow);
}

// Return a copy of a kernel with a schedule applied, or the default one.
static struct ir_kernel *scheduled(struct file *f,
                                   const struct ir_kernel *kernel,
                                   const struct sched_item *schedule)
{
    struct ir_kernel *k = ir_copy_kernel(&f->arena, kernel);
    struct pass p = pass_for(f, k);
    bool good = schedule
                    ? schedule_apply(&p, &f->program.schedules, schedule, NULL,
                                     0, NULL) &&
                          schedule_complete(&p, &f->program.schedules)
                    : schedule_default(&p, &f->program.schedules, NULL, true);
    if (!good)
        fail_msg("%s: %s", f->source.name, errors(f));
    return k;
}

// Read a file whole; its text is NUL-terminated.
static void read_file(struct file *f, const char *path)
{
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    size_t size = (size_t)ftell(in);
    char *text = arena_alloc(&f->arena, size + 1);
    rewind(in);
    assert_int_equal(fread(text, 1, size, in), size);
    fclose(in);
    f->source =
        (struct source){arena_copy(&f->arena, path, strlen(path)), text, size};
}

// Let the schedules of a file call the library's defs.
static void add_library(struct file *f)
{
    for (const struct library_file *l = library_files; l->name; l++) {
        struct source *s = arena_new(&f->arena, struct source);
        *s = (struct source){l->name, l->text, l->size};
        assert_true(frontend_parse(&f->arena, &f->names, s, true, &f->diags,
                                   &f->library));
    }
    f->program.schedules.fallback = &f->library.schedules;
    sched_expand_rules(&f->arena, &f->program.schedules, &f->diags);
}

// Return whether some size of a kernel is open, so that trials differ.
static bool has_sizes(const struct ir_kernel *k)
{
    for (size_t i = 0; i < k->params.n; i++) {
        if (k->params.at[i].var)
            return true;
    }
    return false;
}

// Return whether the copies of a loop have a role of their own.
static bool has_roles(const struct ir_kernel *kernel)
{
    ir_foreach_stmt(s, &kernel->body)
        if (ir_ring_specialized(s))
            return true;
    return false;
}

// Return whether a schedule is for other instances of the kernel.
static bool is_excluded(struct file *f, const struct ir_kernel *kernel,
                        const struct sched_item *item)
{
    struct ir_expr *guard = NULL;
    struct pass p = {.kernel = (struct ir_kernel *)kernel,
                     .arena = &f->arena,
                     .scratch = &f->arena,
                     .names = &f->names,
                     .diags = &f->diags};
    assert_true(
        schedule_guard(&p, &f->program.schedules, item, NULL, 0, &guard));
    return schedule_excludes(kernel, item, guard);
}

// Test a kernel by its schedules, if it has some, but for those with roles,
// which wait for each other.
static void test_schedules(struct file *f, const struct ir_kernel *kernel)
{
    for (size_t s = 0; s < f->program.schedules.schedules.n; s++) {
        const struct sched_item *item = f->program.schedules.schedules.at[s];
        if (!sched_is_for(item, kernel) || is_excluded(f, kernel, item))
            continue;
        struct ir_kernel *k = scheduled(f, kernel, item);
        if (!has_roles(k))
            test_kernel(f, k);
    }
}

// Return how many schedules a kernel has.
static size_t schedules_of(const struct file *f, const struct ir_kernel *kernel)
{
    size_t n = 0;
    for (size_t s = 0; s < f->program.schedules.schedules.n; s++)
        n += sched_is_for(f->program.schedules.schedules.at[s], kernel);
    return n;
}

// Return whether a file has a line `// sample:` that does not name the kernel,
// and INGOT_SLOW is not set.
static bool is_left_out(const struct file *f, const struct ir_kernel *kernel)
{
    const char *at = strstr(f->source.text, "// sample:");
    const char *end = at ? strchr(at, '\n') : NULL;
    size_t n = strlen(kernel->name);
    for (; at && end && (at = strstr(at, kernel->name)) && at < end; at++)
        if (at[n] == ' ' || at[n] == '\n')
            return false;
    return end && !getenv("INGOT_SLOW");
}

// Test every kernel of a file: of tests/kernels with its schedules.  Files
// whose kernels are refused, have no one result, which a text test says by
// `// unordered:`, or are marked as slow where INGOT_SLOW is not set, are left
// out.  Kernels of fixed sizes, which are large, run once, in the form that
// ships; those with many schedules run once by each.
static void test_file(const char *path, bool has_schedules)
{
    struct file f = {.random = 88172645463325252u};
    f.names.arena = f.diags.arena = &f.arena;
    read_file(&f, path);
    add_library(&f);
    bool is_slow = strstr(f.source.text, "// slow:") && !getenv("INGOT_SLOW");
    bool is_skipped = strstr(f.source.text, "%not") != NULL || is_slow ||
                      strstr(f.source.text, "// unordered:") != NULL;
    if (!is_skipped && !frontend_parse(&f.arena, &f.names, &f.source, false,
                                       &f.diags, &f.program))
        fail_msg("%s: %s", path, errors(&f));
    for (size_t i = 0; i < f.program.kernels.n; i++) {
        const struct ir_kernel *kernel = f.program.kernels.at[i];
        if (kernel->terms.unordered.n || is_left_out(&f, kernel))
            continue;
        f.may_fault = !has_schedules || kernel->terms.ranges.n;
        bool once = has_schedules && !has_sizes(kernel);
        bool has_many = schedules_of(&f, kernel) >= MANY;
        for (int trial = 0; trial < (once || has_many ? 1 : TRIALS); trial++) {
            if (!once)
                test_kernel(&f, kernel);
            if (has_schedules && !once)
                test_kernel(&f, scheduled(&f, kernel, NULL));
            test_schedules(&f, kernel);
        }
    }
    arena_reset(&f.scratch);
    arena_reset(&f.arena);
}

// Order names of files.
static int by_name(const struct dirent **x, const struct dirent **y)
{
    return strcmp((*x)->d_name, (*y)->d_name);
}

// Test the files of a folder and below.
static void test_folder(const char *folder, bool has_schedules)
{
    struct dirent **found;
    int n = scandir(folder, &found, NULL, by_name);
    assert_true(n >= 0);
    for (int i = 0; i < n; i++) {
        char path[4096];
        struct stat info;
        const char *name = found[i]->d_name;
        const char *end = strrchr(name, '.');
        snprintf(path, sizeof path, "%s/%s", folder, name);
        assert_int_equal(stat(path, &info), 0);
        if (S_ISDIR(info.st_mode) && name[0] != '.')
            test_folder(path, has_schedules);
        else if (end && strcmp(end, ".ing") == 0)
            test_file(path, has_schedules);
        free(found[i]);
    }
    free(found);
}

// Return the path of a folder of the source tree.
static const char *source_path(const char *below_root)
{
    static char path[4096];
    const char *root = getenv("SOURCE_DIR");
    snprintf(path, sizeof path, "%s/%s", root ? root : ".", below_root);
    return path;
}

static void passes_keep_the_kernels(void **state)
{
    (void)state;
    test_folder(source_path("tests/kernels"), true);
}

static void passes_keep_the_text_tests(void **state)
{
    (void)state;
    test_folder(source_path("tests/lit/passes"), false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_keep_the_kernels),
        cmocka_unit_test(passes_keep_the_text_tests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
