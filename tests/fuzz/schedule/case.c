// A case of a campaign.

#include "tests/fuzz/schedule/case.h"

#include "frontend/frontend.h"
#include "ir/base/buf.h"
#include "tests/fuzz/schedule/aims.h"
#include "tests/fuzz/schedule/inputs.h"
#include "tests/support/draw.h"

#include <stdio.h>
#include <string.h>

enum { DRAWS_MOST = 2 };

// A case being drawn.
struct drawing {
    struct fuzz_case *to;
    struct arena *arena;
    uint64_t random;
    struct str_table names;
    struct diag_list diags;
    struct program program;
    struct fuzz_kernel kernel;
    const char *kernel_text;
    struct fuzz_inputs inputs[FUZZ_SETS];
    struct fuzz_schedule schedule;
};

// Append the sizes of a set, ` n=5 m=7`.
static void print_sizes(const struct drawing *d, unsigned set, struct buf *out)
{
    for (uint32_t i = 0; i < d->kernel.n_axes; i++) {
        const struct fuzz_axis *x = &d->kernel.axes[i];
        if (x->is_open)
            buf_printf(out, " %s=%lld", x->extent, (long long)x->values[set]);
    }
}

// Note what the extents are.
static void note_extents(struct drawing *d)
{
    for (uint32_t i = 0; i < d->kernel.n_axes; i++) {
        for (unsigned set = 0; set < d->kernel.n_sets; set++) {
            d->to->has_zero |= d->kernel.axes[i].values[set] == 0;
            d->to->has_one |= d->kernel.axes[i].values[set] == 1;
        }
    }
}

// Draw a kernel for two primitives and parse it.
static bool draw_kernel(struct drawing *d, const enum sched_prim aim[2])
{
    enum fuzz_kind kinds[2];
    struct buf sizes = {0};
    fuzz_aim_kinds(&d->random, aim[0], aim[1], kinds);
    d->kernel = (struct fuzz_kernel){.arena = d->arena, .random = &d->random};
    d->kernel_text = fuzz_kernel_draw(&d->kernel, kinds[0], kinds[1]);
    d->to->kinds = d->kernel.kinds;
    note_extents(d);
    struct source *source = arena_new(d->arena, struct source);
    *source = (struct source){"kernel", d->kernel_text, strlen(d->kernel_text)};
    if (!frontend_parse(d->arena, &d->names, source, false, &d->diags,
                        &d->program))
        return false;
    for (unsigned set = 0; set < d->kernel.n_sets; set++) {
        sizes.n = 0;
        print_sizes(d, set, &sizes);
        fuzz_inputs_sizes(d->program.kernels.at[0], sizes.n ? sizes.data : "",
                          &d->inputs[set]);
    }
    buf_free(&sizes);
    return true;
}

// Write the case with the first `n` directives.
static void write_case(struct drawing *d, size_t n)
{
    struct fuzz_case *c = d->to;
    struct buf out = {0};
    buf_printf(&out, "// Schedule fuzzer: seed %llu, case %llu.\n",
               (unsigned long long)c->seed, (unsigned long long)c->number);
    for (unsigned set = 0; set < d->kernel.n_sets; set++) {
        buf_text(&out, "// test:");
        print_sizes(d, set, &out);
        buf_char(&out, '\n');
    }
    buf_printf(&out, "\n%s\nschedule f {\n", d->kernel_text);
    c->n_prims = n;
    c->has_tail = false;
    for (size_t i = 0; i < n; i++) {
        const struct fuzz_directive *one = &d->schedule.directives.at[i];
        buf_printf(&out, "    %s\n", one->text);
        c->prims[i] = one->prim;
        c->has_tail |= one->leaves_tail;
    }
    buf_text(&out, "}\n");
    c->size = out.n;
    c->text = arena_copy(d->arena, out.data, out.n);
    buf_free(&out);
}

// Check the case with the first `n` directives.
static bool try_case(struct drawing *d, size_t n, bool is_printed)
{
    struct fuzz_case *c = d->to;
    write_case(d, n);
    if (c->mirror)
        snprintf(c->mirror, CASE_MIRROR, "%s", c->text);
    if (is_printed) {
        fputs(c->text, stdout);
        fflush(stdout);
    }
    c->verdict = fuzz_check(c->text, c->size, c->seed + c->number);
    if (is_printed && c->verdict.outcome == FUZZ_REFUSED)
        printf("// refused: %s %s\n", diag_code_text(c->verdict.code),
               c->verdict.detail);
    return c->verdict.outcome != FUZZ_REFUSED;
}

// Return a primitive to stand beside a pair.
static enum sched_prim draw_other(struct drawing *d)
{
    if (draw_chance(&d->random, 40))
        return fuzz_aim_seldom(&d->random);
    return (enum sched_prim)draw_below(&d->random, PRIM_COUNT);
}

// Return a wish for the pair, with up to two other primitives around it.
static struct fuzz_wish draw_wish(struct drawing *d,
                                  const enum sched_prim aim[2])
{
    struct fuzz_wish wish = {0};
    bool is_other[4] = {false};
    size_t used = 0;
    wish.n = 2 + draw_below(&d->random, 3);
    for (size_t others = wish.n - 2; others > 0;) {
        size_t at = draw_below(&d->random, wish.n);
        others -= !is_other[at];
        is_other[at] = true;
    }
    for (size_t i = 0; i < wish.n; i++) {
        wish.is_wanted[i] = !is_other[i];
        wish.prims[i] = is_other[i] ? draw_other(d) : aim[used++];
    }
    return wish;
}

// Draw schedules until the compiler accepts one: all of it, or what reaches
// the aim; in the end as much as it accepts.
static void draw_schedules(struct drawing *d, const enum sched_prim aim[2],
                           bool is_printed)
{
    for (int i = 0; i < DRAWS_MOST; i++) {
        struct fuzz_wish wish = draw_wish(d, aim);
        d->to->is_aimed = fuzz_schedule_draw(&d->schedule, &wish);
        d->to->missed = d->schedule.missed;
        size_t n = d->schedule.directives.n, enough = d->schedule.enough;
        if (try_case(d, n, is_printed) ||
            (enough < n && try_case(d, enough, is_printed)))
            return;
    }
    d->to->is_aimed = false;
    for (size_t n = d->schedule.enough; n-- > 0;) {
        if (try_case(d, n, is_printed))
            return;
    }
}

// Draw a pair of primitives: that of the number, in every other case with one
// that is seldom met in the place of either.
static void draw_aim(struct drawing *d, enum sched_prim aim[2])
{
    uint64_t pair = d->to->number % (PRIM_COUNT * PRIM_COUNT);
    aim[0] = (enum sched_prim)(pair / PRIM_COUNT);
    aim[1] = (enum sched_prim)(pair % PRIM_COUNT);
    if (draw_chance(&d->random, 50))
        aim[draw_below(&d->random, 2)] = fuzz_aim_seldom(&d->random);
}

void fuzz_case_run(struct fuzz_case *c, struct arena *a,
                   struct fuzz_draws *draws, bool is_printed)
{
    enum sched_prim aim[2];
    struct drawing d = {
        .to = c, .arena = a, .names.arena = a, .diags.arena = a};
    d.random = draw_start(c->seed, c->number);
    draw_aim(&d, aim);
    if (!draw_kernel(&d, aim)) {
        c->text = d.kernel_text;
        c->size = strlen(c->text);
        c->verdict = fuzz_check(c->text, c->size, c->seed + c->number);
        if (is_printed)
            fputs(c->text, stdout);
        return;
    }
    d.schedule = (struct fuzz_schedule){.arena = a,
                                        .random = &d.random,
                                        .names = &d.names,
                                        .kernel = d.program.kernels.at[0],
                                        .inputs = d.inputs,
                                        .n_inputs = d.kernel.n_sets,
                                        .refused = draws->refused,
                                        .accepted = &draws->accepted};
    draw_schedules(&d, aim, is_printed);
}
