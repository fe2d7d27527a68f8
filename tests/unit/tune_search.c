// The search of `ingot tune` on made-up times: it finds the fastest point, in few
// trials, the same for a seed, in whichever order times come; measures again what was
// fast by chance; counts what ran; ends when its options say; and keeps several GPUs
// busy while it compiles.

#include "tools/tune/propose.h"
#include "tools/tune/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t sixes[] = {6, 6, 6}, none[] = {1};

// A made-up kernel: two schedules without knobs, one with three.
struct made_up {
    struct arena arena;
    struct search_item items[3];
    struct search_space space;
    size_t measured; // times that were asked for
};

// Fill the space.
static void make(struct made_up *m)
{
    *m = (struct made_up){
        .items = {{none, 0, NULL}, {sixes, 3, NULL}, {none, 0, NULL}}};
    m->space.at = m->items;
    m->space.n = 3;
}

// Return the time of a point: of the second item, a valley around 4, 1, 3.
static double time_of(const struct search_point *p)
{
    if (p->item != 1)
        return 3;
    return 1 + 0.2 * (fabs(p->at[0] - 4.0) + fabs(p->at[1] - 1.0) +
                      fabs(p->at[2] - 3.0));
}

// Search to the end; `judge` says how a trial ends, NULL: measured.
static void run(struct made_up *m, struct search *s,
                enum search_end (*judge)(const struct search_point *))
{
    struct search_job job;
    enum search_step step;
    while ((step = search_next(s, &job)) != SEARCH_DONE) {
        assert_int_equal(step, SEARCH_JOB);
        const struct search_point *p = &s->trials.at[job.trial].point;
        m->measured++;
        search_tell(s, job.trial, judge ? judge(p) : SEARCH_MEASURED,
                    time_of(p));
    }
}

static void finds_the_valley(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct made_up m;
        struct search s;
        struct search_options o = {.seed = seed, .trials = 80, .patience = -1};
        make(&m);
        search_start(&s, &m.arena, &m.space, &o);
        run(&m, &s, NULL);
        assert_true(search_best(&s)->time < 1.01);
        assert_int_equal(search_count(&s), 80);
        arena_reset(&m.arena);
    }
}

static void tries_every_point_once(void **state)
{
    struct made_up m;
    struct search s;
    struct search_options o = {.seed = 3, .patience = -1};
    (void)state;
    make(&m);
    search_start(&s, &m.arena, &m.space, &o);
    run(&m, &s, NULL);
    assert_int_equal(search_size(&m.space), 218);
    assert_int_equal(s.trials.n, 218);
    for (size_t i = 0; i < s.trials.n; i++)
        for (size_t k = 0; k < i; k++) {
            const struct search_point *a = &s.trials.at[i].point,
                                      *b = &s.trials.at[k].point;
            size_t n = m.items[a->item].n;
            assert_true(a->item != b->item ||
                        (n && memcmp(a->at, b->at, n * sizeof *a->at) != 0));
        }
    arena_reset(&m.arena);
}

// Order all points of the second item; the first knob alone is said to matter.
static void order_by_first_knob(struct made_up *m, struct search *s)
{
    for (uint32_t i = 0; i < 216; i++) {
        uint32_t *at = arena_array(&m->arena, uint32_t, 3);
        at[0] = i / 36;
        at[1] = i / 6 % 6;
        at[2] = i % 6;
        struct search_point p = {1, at, 1 + 0.1 * at[0]};
        vec_push(&m->arena, &s->order, p);
    }
}

static void takes_points_that_are_unlike_first(void **state)
{
    struct made_up m;
    struct search s;
    struct search_options o = {.seed = 1, .trials = 6, .patience = -1};
    (void)state;
    make(&m);
    search_start(&s, &m.arena, &m.space, &o);
    order_by_first_knob(&m, &s);
    run(&m, &s, NULL);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(s.trials.at[i].point.at[0], i);
    arena_reset(&m.arena);
}

// Of points with one prediction the second that is tried differs in more than half of the
// knobs.
static void spreads_where_predictions_are_the_same(void **state)
{
    struct made_up m;
    struct search s;
    struct search_options o = {.seed = 1, .trials = 2, .patience = -1};
    (void)state;
    make(&m);
    search_start(&s, &m.arena, &m.space, &o);
    order_by_first_knob(&m, &s);
    vec_foreach(p, &s.order)
        p->predicted = 1;
    run(&m, &s, NULL);
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(s.trials.at[1].point.at[k], 1);
    arena_reset(&m.arena);
}

static void learns_what_values_do(void **state)
{
    struct made_up m;
    struct search s;
    struct search_options o = {.seed = 1, .trials = 32, .patience = -1};
    (void)state;
    make(&m);
    search_start(&s, &m.arena, &m.space, &o);
    order_by_first_knob(&m, &s);
    run(&m, &s, NULL);
    assert_true(search_best(&s)->time < 1.01);
    arena_reset(&m.arena);
}

// ---- A made-up machine -----------------------------------------------------

enum { GPUS_MOST = 8, COMPILERS = 2, WAITING_MOST = 64 };

// How long a new trial compiles, in turns of a measurement.
#define COMPILATION 2.0

// Something that is on its way, until a time.
struct under_way {
    struct search_job job;
    double until;
    bool is_there;
};

// Compilers, what they have compiled, GPUs.
struct machine {
    struct search *search;
    size_t gpus;
    struct under_way compilers[COMPILERS], measured[GPUS_MOST];
    struct search_job waiting[WAITING_MOST];
    size_t n;
    double now, busy; // of all GPUs together
};

// Return the one of some things that has ended first, by a time; NULL: none has.
static struct under_way *first_of(struct under_way *all, size_t n, double by)
{
    struct under_way *first = NULL;
    for (size_t i = 0; i < n; i++)
        if (all[i].is_there && all[i].until <= by &&
            (!first || all[i].until < first->until))
            first = &all[i];
    return first;
}

// Put a compiled trial among those that wait, those that came first in front.
static void wait_for_gpu(struct machine *m, const struct search_job *job)
{
    size_t i = m->n++;
    assert_true(m->n <= WAITING_MOST);
    for (; i > 0 && m->waiting[i - 1].trial > job->trial; i--)
        m->waiting[i] = m->waiting[i - 1];
    m->waiting[i] = *job;
}

// Take from the search what compilers have room for.
static void compile(struct machine *m)
{
    struct search_job job;
    for (size_t i = 0; i < COMPILERS; i++) {
        struct under_way *c = &m->compilers[i];
        while (!c->is_there && search_next(m->search, &job) == SEARCH_JOB) {
            if (job.turns == 6)
                *c = (struct under_way){job, m->now + COMPILATION, true};
            else
                wait_for_gpu(m, &job);
        }
    }
}

// Give work to GPUs that have none; they differ a little in speed.
static void measure(struct machine *m)
{
    for (size_t i = 0; i < m->gpus && m->n; i++) {
        struct under_way *gpu = &m->measured[i];
        if (gpu->is_there)
            continue;
        double takes = (double)m->waiting[0].turns * (1 + 0.01 * (double)i);
        *gpu = (struct under_way){m->waiting[0], m->now + takes, true};
        m->busy += takes;
        m->n--;
        memmove(m->waiting, m->waiting + 1, m->n * sizeof *m->waiting);
    }
}

// Go on to what ends next; false if nothing is on its way.
static bool advance(struct machine *m)
{
    struct under_way *c = first_of(m->compilers, COMPILERS, INFINITY);
    struct under_way *gpu = first_of(m->measured, m->gpus, INFINITY);
    if (!c && !gpu)
        return false;
    if (c && (!gpu || c->until <= gpu->until)) {
        m->now = c->until;
        c->is_there = false;
        wait_for_gpu(m, &c->job);
    } else {
        size_t trial = gpu->job.trial;
        m->now = gpu->until;
        gpu->is_there = false;
        search_tell(m->search, trial, SEARCH_MEASURED,
                    time_of(&m->search->trials.at[trial].point));
    }
    return true;
}

// Search on so many GPUs, and return how long it took.
static double time_on(struct machine *m, struct search *s, size_t gpus)
{
    *m = (struct machine){.search = s, .gpus = gpus};
    do {
        compile(m);
        measure(m);
    } while (advance(m));
    return m->now;
}

// ---- Paths ------------------------------------------------------------------

// Return a hash of which points were tried in which order; on so many GPUs.
static uint64_t path_of(uint64_t seed, size_t gpus)
{
    struct made_up m;
    struct machine machine;
    struct search s;
    struct search_options o = {.seed = seed, .trials = 60, .patience = -1};
    uint64_t hash = 0;
    make(&m);
    search_start(&s, &m.arena, &m.space, &o);
    time_on(&machine, &s, gpus);
    vec_foreach(t, &s.trials) {
        hash = hash * 31 + t->point.item;
        for (size_t i = 0; i < m.items[t->point.item].n; i++)
            hash = hash * 31 + t->point.at[i];
    }
    arena_reset(&m.arena);
    return hash;
}

static void depends_on_the_seed_alone(void **state)
{
    (void)state;
    for (size_t gpus = 2; gpus <= GPUS_MOST; gpus++)
        assert_true(path_of(5, 1) == path_of(5, gpus));
    assert_true(path_of(5, 1) != path_of(6, 1));
}

static void keeps_gpus_busy(void **state)
{
    static const double least[] = {0, 0.95, 0.9, 0.85, 0.8};
    (void)state;
    for (size_t gpus = 1; gpus < sizeof least / sizeof *least; gpus++) {
        struct made_up m;
        struct machine machine;
        struct search s;
        struct search_options o = {
            .seed = 1, .width = 4 * gpus, .patience = -1};
        make(&m);
        o.width = o.width > 8 ? o.width : 8;
        search_start(&s, &m.arena, &m.space, &o);
        double took = time_on(&machine, &s, gpus);
        assert_int_equal(s.trials.n, 218);
        assert_true(machine.busy > least[gpus] * (double)gpus * took);
        arena_reset(&m.arena);
    }
}

static void begins_with_seeds_then_the_order(void **state)
{
    struct made_up m;
    struct search s;
    struct search_options o = {.seed = 1, .trials = 3, .patience = -1};
    uint32_t seed[] = {4, 1, 3}, next[] = {5, 5, 5};
    struct search_point first = {1, seed, 0}, second = {1, next, 0};
    (void)state;
    make(&m);
    search_start(&s, &m.arena, &m.space, &o);
    vec_push(&m.arena, &s.seeds, first);
    vec_push(&m.arena, &s.order, second);
    vec_push(&m.arena, &s.order, first);
    run(&m, &s, NULL);
    assert_memory_equal(s.trials.at[0].point.at, seed, sizeof seed);
    assert_memory_equal(s.trials.at[1].point.at, next, sizeof next);
    assert_int_equal(s.trials.at[2].point.item, 0);
    arena_reset(&m.arena);
}

// Refuse three points of four.
static enum search_end refuse_most(const struct search_point *p)
{
    return p->item == 1 && p->at[2] != 3 ? SEARCH_REFUSED : SEARCH_MEASURED;
}

static void counts_what_ran(void **state)
{
    struct made_up m;
    struct search s;
    struct search_options o = {.seed = 1, .trials = 10, .patience = -1};
    (void)state;
    make(&m);
    search_start(&s, &m.arena, &m.space, &o);
    run(&m, &s, refuse_most);
    assert_int_equal(search_count(&s), 10);
    assert_true(s.trials.n > 10);
    arena_reset(&m.arena);
}

// Fail at the point that would be best.
static enum search_end fail_at_best(const struct search_point *p)
{
    return time_of(p) < 1.01 ? SEARCH_FAILED : SEARCH_MEASURED;
}

static void survives_faults(void **state)
{
    struct made_up m;
    struct search s;
    struct search_options o = {.seed = 1, .patience = -1};
    (void)state;
    make(&m);
    search_start(&s, &m.arena, &m.space, &o);
    run(&m, &s, fail_at_best);
    assert_true(fabs(search_best(&s)->time - 1.2) < 1e-9);
    arena_reset(&m.arena);
}

static void measures_the_fast_again(void **state)
{
    struct made_up m;
    struct search s;
    struct search_options o = {.seed = 1, .trials = 8, .patience = -1};
    struct search_job job;
    (void)state;
    make(&m);
    search_start(&s, &m.arena, &m.space, &o);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(search_next(&s, &job), SEARCH_JOB);
        assert_int_equal(job.trial, i);
        if (i < 7)
            search_tell(&s, job.trial, SEARCH_MEASURED, 1 + 0.01 * i);
    }
    assert_int_equal(search_next(&s, &job), SEARCH_WAIT);
    search_tell(&s, 7, SEARCH_MEASURED, 5);
    assert_int_equal(search_next(&s, &job), SEARCH_JOB);
    size_t more = job.turns;
    search_tell(&s, job.trial, SEARCH_MEASURED, 2);
    assert_int_equal(job.trial, 0);
    assert_true(more > 6);
    assert_true(fabs(search_best(&s)->time - 1.01) < 1e-9);
    arena_reset(&m.arena);
}

static void what_is_put_off_comes_last(void **state)
{
    (void)state;
    struct made_up m;
    struct search s;
    struct search_job job;
    struct search_options o = {.seed = 5, .patience = -1};
    size_t late = 0;
    make(&m);
    search_start(&s, &m.arena, &m.space, &o);
    while (search_next(&s, &job) != SEARCH_DONE) {
        const struct search_trial *t = &s.trials.at[job.trial];
        bool is_put_off = t->point.item == 1 && t->point.at[0] == 4;
        late += t->is_late && t->rung == 0;
        assert_true(is_put_off || !t->is_late);
        assert_true(t->is_late || !late || t->rung > 0);
        search_tell(&s, job.trial,
                    is_put_off && !t->is_late ? SEARCH_LATER : SEARCH_MEASURED,
                    time_of(&t->point));
    }
    assert_int_equal(late, 36);
    assert_int_equal(search_count(&s), search_size(&m.space));
    assert_true(search_best(&s)->time < 1.01);
    arena_reset(&m.arena);
}

static void exhaustive_measures_all_in_as_many_turns(void **state)
{
    (void)state;
    struct made_up m;
    struct search s;
    struct search_job job;
    struct search_options o = {.patience = -1, .is_exhaustive = true};
    size_t jobs = 0, again = 0;
    make(&m);
    search_start(&s, &m.arena, &m.space, &o);
    while (search_next(&s, &job) != SEARCH_DONE) {
        again += job.turns == SEARCH_TURNS_SURE;
        assert_true(job.turns == 10 || jobs >= 218);
        jobs++;
        search_tell(&s, job.trial, SEARCH_MEASURED,
                    time_of(&s.trials.at[job.trial].point));
    }
    assert_int_equal(jobs, 218 + again);
    assert_true(again > 0 && again <= 24);
    assert_int_equal(search_count(&s), search_size(&m.space));
    assert_true(search_best(&s)->time < 1.01);
    arena_reset(&m.arena);
}

// Return whether points have one.
static bool has_point(const struct search_points *all,
                      const struct search_point *p)
{
    vec_foreach(one, all)
        if (one->item == p->item &&
            memcmp(one->at, p->at, 3 * sizeof *p->at) == 0)
            return true;
    return false;
}

// Search with all jobs of a stage on their way at once; count in `hits` what was expected
// of the new trials.  Returns how many there were behind the first round.
static size_t expect(struct made_up *m, struct search *s, size_t *hits)
{
    size_t out[64], n = 0, seen = 0, count = 0;
    struct search_points expected = {0};
    struct search_job job;
    enum search_step step;
    while ((step = search_next(s, &job)) != SEARCH_DONE) {
        if (step == SEARCH_JOB && job.trial >= seen) {
            count += seen > 0;
            *hits += has_point(&expected, &s->trials.at[job.trial].point);
        }
        if (step == SEARCH_JOB) {
            out[n++] = job.trial;
            continue;
        }
        seen = s->trials.n;
        memset(&expected, 0, sizeof expected);
        search_expect(s, &m->arena, &expected);
        for (; n; n--)
            search_tell(s, out[n - 1], SEARCH_MEASURED,
                        time_of(&s->trials.at[out[n - 1]].point));
    }
    return count;
}

static void expects_what_comes_next(void **state)
{
    struct made_up m;
    struct search s, alone;
    struct search_options o = {.seed = 1, .trials = 64, .patience = -1};
    size_t hits = 0;
    (void)state;
    make(&m);
    search_start(&s, &m.arena, &m.space, &o);
    search_start(&alone, &m.arena, &m.space, &o);
    order_by_first_knob(&m, &s);
    order_by_first_knob(&m, &alone);
    size_t count = expect(&m, &s, &hits);
    assert_int_equal(count, 56);
    assert_in_range(hits, count / 2, count);
    run(&m, &alone, NULL);
    assert_int_equal(s.trials.n, alone.trials.n);
    for (size_t i = 0; i < s.trials.n; i++)
        assert_memory_equal(s.trials.at[i].point.at,
                            alone.trials.at[i].point.at, 3 * sizeof(uint32_t));
    arena_reset(&m.arena);
}

static void patience_ends(void **state)
{
    struct made_up m;
    struct search s;
    struct search_options o = {.seed = 1, .patience = 0.01};
    (void)state;
    make(&m);
    search_start(&s, &m.arena, &m.space, &o);
    run(&m, &s, NULL);
    assert_true(s.trials.n < 218);
    assert_true(search_best(&s)->time < 1.21);
    arena_reset(&m.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_valley),
        cmocka_unit_test(tries_every_point_once),
        cmocka_unit_test(takes_points_that_are_unlike_first),
        cmocka_unit_test(spreads_where_predictions_are_the_same),
        cmocka_unit_test(learns_what_values_do),
        cmocka_unit_test(depends_on_the_seed_alone),
        cmocka_unit_test(keeps_gpus_busy),
        cmocka_unit_test(begins_with_seeds_then_the_order),
        cmocka_unit_test(counts_what_ran),
        cmocka_unit_test(survives_faults),
        cmocka_unit_test(measures_the_fast_again),
        cmocka_unit_test(what_is_put_off_comes_last),
        cmocka_unit_test(exhaustive_measures_all_in_as_many_turns),
        cmocka_unit_test(expects_what_comes_next),
        cmocka_unit_test(patience_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
