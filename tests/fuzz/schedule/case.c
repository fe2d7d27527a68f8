// A case of a campaign.

#include "tests/fuzz/schedule/case.h"

#include "frontend/frontend.h"
#include "ir/base/buf.h"
#include "tests/fuzz/schedule/aims.h"
#include "tests/fuzz/schedule/inputs.h"
#include "tests/support/draw.h"

#include <stdio.h>
#include <string.h>

enum { DRAWS_MOST = 4 };

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

// Draw a kernel for what is aimed at and parse it.
static bool draw_kernel(struct drawing *d, const struct fuzz_target *aim)
{
    enum fuzz_kind kinds[FUZZ_PARTS];
    struct buf sizes = {0};
    fuzz_aim_kinds(&d->random, aim, kinds);
    d->kernel = (struct fuzz_kernel){.arena = d->arena, .random = &d->random};
    d->kernel_text = fuzz_kernel_draw(&d->kernel, kinds);
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

// Compile the case, and check it if it is more than drawn.
static struct fuzz_verdict look_at(const struct fuzz_case *c)
{
    uint64_t seed = c->seed + c->number;
    return c->is_only_drawn ? fuzz_compile(c->text, c->size, seed)
                            : fuzz_check(c->text, c->size, seed);
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
    c->verdict = look_at(c);
    if (is_printed && c->verdict.outcome == FUZZ_REFUSED)
        printf("// refused: %s %s\n", diag_code_text(c->verdict.code),
               c->verdict.detail);
    return c->verdict.outcome != FUZZ_REFUSED;
}

// Return a wish for what is aimed at, with one to four other primitives around
// it, or three at most.
static struct fuzz_wish draw_wish(struct drawing *d,
                                  const struct fuzz_target *aim)
{
    struct fuzz_wish wish = {0};
    size_t used = 0;
    wish.n = 3 + draw_below(&d->random, FUZZ_WISHES - 2);
    for (size_t at = 0; at < wish.n; at++) {
        size_t left = wish.n - at;
        wish.is_wanted[at] = draw_below(&d->random, left) < aim->n - used;
        wish.prims[at] = wish.is_wanted[at]
                             ? aim->prims[used++]
                             : fuzz_aim_beside(&d->random, d->kernel.kinds);
    }
    return wish;
}

// Return whether the first n directives have what the kernel needs.
static bool has_need(const struct drawing *d, size_t n)
{
    enum sched_prim need = fuzz_aim_need(d->kernel.kinds);
    bool any = need == PRIM_COUNT;
    for (size_t i = 0; i < n; i++)
        any |= d->schedule.directives.at[i].prim == need;
    return any;
}

// Check the case with what its kernel needs, and nothing else.
static void draw_need(struct drawing *d, bool is_printed)
{
    struct fuzz_wish wish = {.n = 1, .is_wanted = {true}};
    wish.prims[0] = fuzz_aim_need(d->kernel.kinds);
    if (wish.prims[0] == PRIM_COUNT)
        return;
    fuzz_schedule_draw(&d->schedule, &wish);
    try_case(d, d->schedule.enough, is_printed);
}

// Draw schedules until the compiler accepts one: all of it, or what reaches
// the aim; in the end as much as it accepts.
static void draw_schedules(struct drawing *d, const struct fuzz_target *aim,
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
        if (has_need(d, n) && try_case(d, n, is_printed))
            return;
    }
    draw_need(d, is_printed);
}

// Draw a pair of primitives: that of the number, in two cases of three with one
// that is seldom met in the place of either, or of both.
static void draw_pair(struct drawing *d, enum sched_prim aim[2])
{
    uint64_t pair = d->to->number % (PRIM_COUNT * PRIM_COUNT);
    aim[0] = (enum sched_prim)(pair / PRIM_COUNT);
    aim[1] = (enum sched_prim)(pair % PRIM_COUNT);
    if (!draw_chance(&d->random, 65))
        return;
    size_t which = draw_below(&d->random, 2);
    aim[which] = fuzz_aim_seldom(&d->random);
    if (draw_chance(&d->random, 30))
        aim[1 - which] = fuzz_aim_seldom(&d->random);
}

// Draw what to aim at: a pair, in half of all cases with a third primitive
// before, between or behind the two.
static struct fuzz_target draw_aim(struct drawing *d)
{
    struct fuzz_target aim = {.n = 2};
    draw_pair(d, aim.prims);
    if (draw_chance(&d->random, 50))
        return aim;
    size_t at = draw_below(&d->random, 3);
    for (size_t i = aim.n++; i > at; i--)
        aim.prims[i] = aim.prims[i - 1];
    aim.prims[at] = (enum sched_prim)draw_below(&d->random, PRIM_COUNT);
    return aim;
}

// Print what a case aimed at, and what came of that.
static void print_aim(const struct fuzz_case *c, const struct fuzz_target *aim)
{
    for (size_t i = 0; i < aim->n; i++)
        printf("%s%s", i ? ", " : "// aims at ",
               sched_prim_info(aim->prims[i])->name);
    if (c->is_aimed)
        printf(": reached\n");
    else if (c->missed == PRIM_COUNT)
        printf(": refused as a whole\n");
    else
        printf(": %s finds nothing\n", sched_prim_info(c->missed)->name);
}

void fuzz_case_run(struct fuzz_case *c, struct arena *a,
                   struct fuzz_draws *draws, bool is_printed)
{
    struct drawing d = {
        .to = c, .arena = a, .names.arena = a, .diags.arena = a};
    d.random = draw_start(c->seed, c->number);
    struct fuzz_target aim = draw_aim(&d);
    if (!draw_kernel(&d, &aim)) {
        c->text = d.kernel_text;
        c->size = strlen(c->text);
        c->verdict = look_at(c);
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
    draw_schedules(&d, &aim, is_printed);
    if (is_printed)
        print_aim(c, &aim);
}
