// Predicts the time of a kernel: what a block does, on how many SMs, how often.

#include "passes/model/model.h"

#include "ir/walk.h"
#include "passes/model/bytes.h"
#include "passes/model/residency.h"
#include "passes/model/warp.h"

#include <math.h>

enum { WARPS_MOST = 4, BLOCK_CLOCKS = 400 };

// Microseconds from one number of a counter of all blocks to the next: the L2 cache gives
// them one after the other, and each block waits for what those in front have found. Of
// scans of 2^24 elements in 8,192 to 131,072 tiles on an H200.
#define TICKET_US 1e-3

static const struct {
    const char *name, *meaning;
} limits[] = {
#define LIMIT(name, meaning) {#name, meaning},
#include "passes/model/limits.def"
#undef LIMIT
};

const char *model_limit_name(enum model_limit limit)
{
    return limits[limit].name;
}

const char *model_limit_meaning(enum model_limit limit)
{
    return limits[limit].meaning;
}

// Everything that is needed for one launch.
struct estimate {
    struct arena *arena;
    const struct ir_kernel *kernel;
    const struct model_question *question;
    struct lanes_place place;
    struct block_work work;
    struct reuse reuse;
};

// ---- The warps of a block -------------------------------------------------

// Follow one warp, which stands for several.
static void follow(struct estimate *e, uint32_t number, uint32_t stands_for)
{
    const uint32_t *block = e->place.launch->block;
    uint32_t threads = block[0] * block[1] * block[2];
    uint32_t lanes = threads - number * WARP_LANES;
    struct warp w = {.arena = e->arena,
                     .kernel = e->kernel,
                     .place = e->place,
                     .work = &e->work,
                     .active = UINT32_MAX,
                     .warps = stands_for,
                     .times = 1,
                     .trips = 1,
                     .expanded = 1,
                     .copies_ahead = 1,
                     .reuse = &e->reuse};
    w.place.first = number * WARP_LANES;
    if (lanes < WARP_LANES)
        w.active = (1u << lanes) - 1;
    warp_run(&w, &e->place.launch->body);
    e->place.values = w.place.values;
    double until = warp_transfer(&w);
    warp_settle(&w);
    w.path = until > w.path ? until : w.path;
    if (w.path > e->work.path)
        e->work.path = w.path;
    if (w.path_ring > e->work.ring)
        e->work.ring = w.path_ring;
    if (w.path_serial <= 0 || w.path < e->work.consumer)
        return;
    e->work.consumer = w.path;
    e->work.consumer_serial = w.path_serial;
}

// Add what consumers wait for: the first copies, the last ones of results, and, if
// they share tiles, what the others do.  A slot is filled, and used, and only then
// filled again: with few slots the two do not overlap.
static void share_way(struct estimate *e)
{
    const struct model_device *d = e->place.device;
    struct block_work *work = &e->work;
    double uneven = work->uneven > 1 ? work->uneven : 1;
    double others = work->serial * uneven - work->consumer_serial;
    if (!work->alternates && others > 0)
        work->consumer += others;
    double slots = work->slots > 0 ? work->slots : 1;
    if (work->consumer > work->path)
        work->path = work->consumer;
    if (work->ring + work->consumer / slots > work->path)
        work->path = work->ring + work->consumer / slots;
    work->path += 2 * d->latency * d->clock;
}

// Follow the first warp of each warpgroup, and another one for the others.
static void follow_groups(struct estimate *e, uint32_t warps)
{
    for (uint32_t first = 0; first < warps; first += GROUP_WARPS) {
        uint32_t left = warps - first;
        uint32_t n = left < GROUP_WARPS ? left : GROUP_WARPS;
        follow(e, first, 1);
        if (n > 1)
            follow(e, first + 1, n - 1);
    }
    share_way(e);
}

// Follow warps that stand for all of a block: each of few; of warpgroups that do
// different things, two of each; else the first and one in the middle.
static void follow_block(struct estimate *e)
{
    const struct ir_launch *l = e->place.launch;
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    uint32_t warps = (threads + WARP_LANES - 1) / WARP_LANES;
    if (ir_has_roles(&l->body)) {
        follow_groups(e, warps);
        return;
    }
    for (uint32_t i = 0; i < warps && warps <= WARPS_MOST; i++)
        follow(e, i, 1);
    if (warps <= WARPS_MOST)
        return;
    follow(e, 0, 1);
    follow(e, warps / 2, warps - 1);
}

// ---- The time of a launch -------------------------------------------------

// Set the limits of the memory that all SMs share, and of the way to it that the SM
// with `most` blocks has alone.
static void bound_memory(const struct model_device *d, double most,
                         struct model_launch *out)
{
    double each = out->l2_bytes / (double)out->blocks;
    double all = out->l2_bytes / d->l2 / 1e3;
    double alone = each * most / MODEL_L2_BYTES / d->clock / 1e3;
    out->limits[MODEL_dram] = out->dram_bytes / d->dram / 1e3;
    out->limits[MODEL_l2] = alone > all ? alone : all;
}

// Return the rate that takes longest: all limits but waiting.
static enum model_limit slowest_rate(const struct model_launch *l)
{
    enum model_limit r = MODEL_dram;
    for (int i = 0; i < MODEL_LIMITS; i++)
        if (i != MODEL_latency && l->limits[i] > l->limits[r])
            r = (enum model_limit)i;
    return r;
}

// Return the time of a rate and of waiting together.  Warps that wait leave a pipe idle as
// often as chance has it, so each of the two makes the other longer where they are about
// the same; not where warps have roles: one copies while another one computes, and what
// these wait for each other is in their way.
static double together(const struct model_launch *l, double busy,
                       double waiting)
{
    if (!ir_has_roles(&l->launch->body))
        return hypot(busy, waiting);
    return busy > waiting ? busy : waiting;
}

// Set the time, and say what binds.  Rates hold from when the first block has what it works
// on, after `fill` microseconds; waiting has that in it, and what a block's own work takes.
// So waiting binds if the slowest rate is not nearly all of it.  Shared memory binds if
// its wavefronts are most of what the units for accesses do.
static void choose_limit(struct model_launch *out, double fill)
{
    static const double nearly = 0.95;
    enum model_limit rate = slowest_rate(out);
    double waiting = out->limits[MODEL_latency], busy = out->limits[rate];
    double us = busy > 0 ? busy + fill : 0;
    double both = together(out, busy, waiting);
    out->us = us > both ? us : both;
    out->binding =
        busy < fill || busy < nearly * waiting ? MODEL_latency : rate;
    if (us > waiting && busy >= fill)
        out->binding = rate;
    if (out->binding == MODEL_lsu && out->limits[MODEL_shared] > busy / 2)
        out->binding = MODEL_shared;
}

// Return what would be saved if every SM had the mean of all blocks.
static double tail_of(const struct model_launch *out, double mean,
                      double uneven)
{
    double part = mean > 1 ? mean / ceil(mean) / uneven : 1 / uneven;
    if (out->binding == MODEL_dram || out->binding == MODEL_l2)
        return 0;
    if (out->binding == MODEL_latency && uneven <= 1)
        part = out->waves > 1 ? out->waves / ceil(out->waves) : 1;
    return out->limits[out->binding] * (1 - part);
}

// Set the limits of the SMs: the one that has most blocks, or tiles, is the last.
static void bound_sms(const struct estimate *e, struct model_launch *out)
{
    const struct model_device *d = e->place.device;
    double clocks = d->clock * 1e3;
    double mean = (double)out->blocks / d->sms;
    double uneven = e->work.uneven > 1 ? e->work.uneven : 1;
    double most = ceil(mean) * uneven;
    bound_memory(d, most, out);
    for (int i = 0; i < MODEL_LIMITS; i++)
        if (i != MODEL_dram && i != MODEL_l2 && i != MODEL_latency)
            out->limits[i] = e->work.pipe[i] * most / clocks;
    out->limits[MODEL_latency] =
        (e->work.path + BLOCK_CLOCKS) * ceil(out->waves) / clocks +
        TICKET_US * e->work.tickets * (double)out->blocks;
    choose_limit(out, (BLOCK_CLOCKS + d->latency * d->clock) / clocks);
    out->tail_us = tail_of(out, mean, uneven);
}

// Set the extents of the grid; false if one has no value.
static bool find_grid(struct estimate *e, struct model_launch *out)
{
    out->blocks = 1;
    for (int d = 0; d < 3; d++) {
        struct lanes x;
        lanes_of(&e->place, e->place.launch->grid[d], &x);
        if (!lanes_is_number(&x))
            return false;
        e->work.grid[d] = x.at[0] > 0 ? x.at[0] : 0;
        e->place.block[d] = e->work.grid[d] / 2;
        out->blocks *= e->work.grid[d];
    }
    e->work.blocks = out->blocks;
    return true;
}

// Predict a launch; false if its grid has no value.
static bool predict(struct estimate *e, struct model_launch *out)
{
    const struct model_device *d = e->place.device;
    e->place.launch = out->launch;
    e->work = (struct block_work){0};
    if (!find_grid(e, out))
        return false;
    residency_find(e->arena, e->question, out);
    if (out->blocks == 0)
        return true;
    out->waves = (double)out->blocks / (double)out->resident;
    follow_block(e);
    bytes_find(&e->work, d, out);
    bound_sms(e, out);
    out->launch_us = d->launch;
    out->us += out->launch_us;
    return true;
}

// Give the parameters their values.
static void set_values(struct estimate *e, const int64_t *values)
{
    for (size_t i = 0; i < e->kernel->params.n; i++) {
        const struct ir_var *var = e->kernel->params.at[i].var;
        if (!var || type_is_float(var->type))
            continue;
        struct lanes value;
        lanes_number(values[i], &value);
        lanes_set(&e->place, var, &value);
    }
}

bool model_time(struct arena *a, const struct model_question *question,
                struct model_time *out)
{
    const struct ir_kernel *kernel = question->kernel;
    struct arena work = {0};
    struct estimate e = {
        .arena = &work, .kernel = kernel, .question = question};
    bool ok = kernel->level == LEVEL_flat;
    e.place = (struct lanes_place){.arena = &work, .device = question->device};
    e.place.values.arena = e.reuse.arena = &work;
    e.reuse.sectors.arena = e.reuse.groups.arena = &work;
    e.reuse.numbers.arena = &work;
    set_values(&e, question->values);
    *out = (struct model_time){0};
    for (size_t i = 0; ok && i < kernel->body.n; i++) {
        const struct ir_stmt *s = kernel->body.at[i];
        struct model_launch launch = {0};
        if (s->kind != STMT_launch)
            continue;
        launch.launch = &s->u.launch;
        ok = predict(&e, &launch);
        out->us += launch.us;
        vec_push(a, &out->launches, launch);
    }
    arena_reset(&work);
    return ok;
}

const struct model_launch *model_slowest(const struct model_time *time)
{
    const struct model_launch *r = NULL;
    vec_foreach(l, &time->launches)
        if (!r || l->us > r->us)
            r = l;
    return r;
}

double model_least(const struct model_time *time, enum model_limit *by)
{
    double us = 0;
    const struct model_launch *slowest = model_slowest(time);
    *by = slowest ? slowest_rate(slowest) : MODEL_dram;
    vec_foreach(l, &time->launches)
        us += l->limits[slowest_rate(l)];
    return us;
}
