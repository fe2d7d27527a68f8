// Draws schedules directive by directive on a copy of the kernel: what is
// refused is drawn again.

#include "tests/fuzz/schedule/schedule.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/eval.h"
#include "tests/fuzz/schedule/aims.h"
#include "tests/support/calls.h"
#include "tests/support/draw.h"

// How often arguments are drawn for a primitive, it is prepared, and schedules
// are drawn for an aim.
enum {
    NOISE_TRIES = 6,
    PREPARE_TRIES = 16,
    AIM_TRIES = 60,
    BESIDE_TRIES = 20,
    ATTEMPTS = 8,
    PREPARATIONS = 3
};

// A schedule that is applied while it is drawn.
struct drawing {
    struct fuzz_schedule *to;
    struct arena work, scratch;
    struct diag_list errors;
    struct pass pass;
    struct map handles;       // results of calls: their names
    struct str_table refused; // calls, since one was accepted: their texts
    struct call_near near;
    unsigned n_handles;
};

// Begin with a copy of the kernel.
static void begin(struct drawing *d, struct fuzz_schedule *s)
{
    s->directives.n = s->enough = 0;
    *d = (struct drawing){.to = s};
    d->errors.arena = d->handles.arena = d->refused.arena = &d->work;
    d->errors.is_brief = true;
    d->pass = (struct pass){.kernel = ir_copy_kernel(&d->work, s->kernel),
                            .arena = &d->work,
                            .scratch = &d->scratch,
                            .names = s->names,
                            .diags = &d->errors};
}

static void end(struct drawing *d)
{
    arena_reset(&d->scratch);
    arena_reset(&d->work);
}

// Return whether a loop's iterations, where they are known, are no multiple of
// `factor`.
static bool leaves_tail(struct drawing *d, struct ir_stmt *loop, int64_t factor)
{
    bool any = false;
    struct ir_expr *x = ir_for_extent(&d->scratch, &loop->u.loop);
    bool known = ir_is_of_params(x);
    for (size_t i = 0; known && factor > 1 && i < d->to->n_inputs; i++) {
        int64_t extent;
        any |= ir_eval_int(d->to->kernel, d->to->inputs[i].args, x, &extent) &&
               extent % factor != 0;
    }
    return any;
}

// Return whether a call of split or tile leaves a tail.
static bool call_leaves_tail(struct drawing *d, const struct sched_call *c)
{
    const struct sched_value *v = c->args.at;
    int64_t product = 1;
    if (c->prim == PRIM_tile)
        return leaves_tail(d, v[0].stmt, v[2].number) ||
               leaves_tail(d, v[1].stmt, v[3].number);
    if (c->prim != PRIM_split)
        return false;
    for (size_t i = 1; i < c->args.n; i++)
        product *= v[i].kind == VALUE_int ? v[i].number : 1;
    return leaves_tail(d, v[0].stmt, product);
}

// Name the results of a call and return the names as text, `h1, h2 = `.
static const char *name_results(struct drawing *d, const struct sched_call *c)
{
    const char *text = "";
    for (size_t i = 0; i < c->results.n; i++) {
        const char *name = arena_printf(d->to->arena, "h%u", ++d->n_handles);
        if (c->results.at[i].stmt)
            map_set(&d->handles, c->results.at[i].stmt, (void *)name);
        text = arena_printf(d->to->arena, "%s%s%s", text, i ? ", " : "", name);
    }
    return c->results.n ? arena_printf(d->to->arena, "%s = ", text) : text;
}

// Count why a call was refused.
static void count_refusal(struct drawing *d)
{
    if (d->errors.all.n)
        d->to->refused[d->errors.all.at[0].code]++;
    d->errors = (struct diag_list){.arena = &d->work, .is_brief = true};
}

// Keep a call that was accepted.
static void keep(struct drawing *d, const struct sched_call *c,
                 const char *text, bool leaves_tail)
{
    struct fuzz_directive one = {.prim = c->prim, .leaves_tail = leaves_tail};
    ++*d->to->accepted;
    one.text = arena_printf(d->to->arena, "%s%s", name_results(d, c), text);
    vec_push(d->to->arena, &d->to->directives, one);
    call_add_near(&d->work, c, &d->near);
    d->refused = (struct str_table){.arena = &d->work};
}

// Return whether a call was refused since one was accepted; note it.
static bool is_known(struct drawing *d, const struct buf *text)
{
    size_t before = d->refused.n;
    str_intern(&d->refused, text->data, text->n);
    return d->refused.n == before;
}

// Call a primitive with random arguments, once.
static bool call_once(struct drawing *d, enum sched_prim prim)
{
    static const int64_t numbers[] = {0, 0, 1, 1, 2, 2,  2,  3,
                                      4, 4, 5, 7, 8, 16, 32, 33};
    struct caller by = {.work = &d->work,
                        .scratch = &d->work,
                        .names = d->to->names,
                        .random = d->to->random,
                        .numbers = numbers,
                        .n_numbers = sizeof numbers / sizeof *numbers,
                        .near = &d->near,
                        .is_suited = true};
    struct sched_call c = {.pass = &d->pass, .prim = prim};
    struct buf text = {0};
    if (!call_draw(&by, &c))
        return false;
    call_print(&c, &d->handles, &text);
    bool leaves_tail = call_leaves_tail(d, &c);
    bool known = is_known(d, &text), done = !known && sched_run(&c);
    if (done)
        keep(d, &c, text.data, leaves_tail);
    else if (!known)
        count_refusal(d);
    buf_free(&text);
    arena_reset(&d->scratch);
    return done;
}

// Call a primitive, with arguments drawn anew until it is accepted.
static bool call(struct drawing *d, enum sched_prim prim, int tries)
{
    for (int i = 0; i < tries && d->to->directives.n < FUZZ_DIRECTIVES; i++) {
        if (call_once(d, prim))
            return true;
    }
    return false;
}

// Call some primitives, what is accepted of them; those that make loops more
// often than others.
static void call_any(struct drawing *d, uint64_t n)
{
    static const enum sched_prim usual[] = {
        PRIM_split,       PRIM_split,          PRIM_split,     PRIM_split,
        PRIM_fuse,        PRIM_reorder,        PRIM_bind,      PRIM_bind,
        PRIM_compute_at,  PRIM_cache_read,     PRIM_vectorize, PRIM_unroll,
        PRIM_cache_write, PRIM_rfactor,        PRIM_set_scope, PRIM_tile,
        PRIM_bind,        PRIM_loop_partition,
    };
    for (uint64_t i = 0; i < n; i++) {
        enum sched_prim prim =
            draw_chance(d->to->random, 60)
                ? draw_one(d->to->random, usual)
                : (enum sched_prim)draw_below(d->to->random, PRIM_COUNT);
        call(d, prim, NOISE_TRIES);
    }
}

// Call a primitive that is wished for, if need be behind what prepares it, as
// many times as it takes.
static bool reach(struct drawing *d, enum sched_prim prim, int tries,
                  int preparations)
{
    const struct fuzz_aim *aim = fuzz_aim_of(prim);
    if (call(d, prim, tries / 2))
        return true;
    for (int round = 0; round < preparations; round++) {
        for (int i = 0; aim->prepare[i] != PRIM_COUNT; i++) {
            d->near.n = 0;
            call(d, aim->prepare[i], PREPARE_TRIES);
        }
        if (call(d, prim, tries))
            return true;
    }
    return false;
}

// Draw a schedule; the later the attempt, the less is called beside what is
// wanted.
static bool attempt(struct drawing *d, const struct fuzz_wish *wish, int number)
{
    uint64_t *random = d->to->random;
    d->to->missed = PRIM_COUNT;
    if (number < 2)
        call_any(d, draw_below(random, 2));
    for (size_t i = 0; i < wish->n && d->to->missed == PRIM_COUNT; i++) {
        if (wish->is_wanted[i] &&
            !reach(d, wish->prims[i], AIM_TRIES, PREPARATIONS))
            d->to->missed = wish->prims[i];
        if (!wish->is_wanted[i] && number < 3)
            reach(d, wish->prims[i], BESIDE_TRIES, 1);
        if (wish->is_wanted[i])
            d->to->enough = d->to->directives.n;
    }
    call_any(d, draw_below(random, 3));
    if (draw_chance(random, 60))
        call(d, PRIM_bind, NOISE_TRIES);
    return d->to->missed == PRIM_COUNT;
}

bool fuzz_schedule_draw(struct fuzz_schedule *s, const struct fuzz_wish *wish)
{
    bool done = false;
    for (int i = 0; i < ATTEMPTS && !done; i++) {
        struct drawing d;
        begin(&d, s);
        done = attempt(&d, wish, i);
        end(&d);
    }
    return done;
}
