// Runs what the threads of a warp do at once.
//
// Threads 32 k to 32 k + 31 of a block, counted along x, y and z, are a warp.
// All of them have to be there; the last warp of a block may have fewer.

#include "ir/build.h"
#include "ir/eval_code.h"

#include <stdlib.h>
#include <string.h>

// What the lanes of a warp bring, and take.
struct warp {
    const struct code *code;
    bool is_there[WARP];
    union number value[WARP], other[WARP], result[WARP];
    const char *fault;
};

// Return a thread's number in its block.
static int64_t number_of(const struct thread *t)
{
    int64_t y = t->block[1] ? t->block[1] : 1;
    int64_t x = t->block[0] ? t->block[0] : 1;
    return (t->place[2] * y + t->place[1]) * x + t->place[0];
}

// Return a value's bits.
static uint64_t bits_of(struct type t, union number x)
{
    uint64_t bits = 0;
    char bytes[sizeof bits] = {0};
    eval_store_number(t, bytes, x);
    memcpy(&bits, bytes, sizeof bits);
    return bits;
}

// Return the lane that a shuffle reads; its own where there is none.
static unsigned source_of(enum ir_op op, unsigned lane, union number by)
{
    unsigned n = (uint64_t)by.i % WARP;
    switch ((int)op) {
    case OP_shuffle: return n;
    case OP_shuffle_up: return lane < n ? lane : lane - n;
    case OP_shuffle_down: return lane + n < WARP ? lane + n : lane;
    }
    return lane ^ n;
}

// Exchange by a shuffle.
static void shuffle(struct warp *w)
{
    for (unsigned lane = 0; lane < WARP; lane++) {
        unsigned from = source_of(w->code->origin->op, lane, w->other[lane]);
        if (w->is_there[lane] && !w->is_there[from])
            w->fault = "reads a lane that the warp lacks";
        w->result[lane] = w->value[from];
    }
}

// Return the lanes that are alike, or where the value is true.
static uint32_t mask_of(const struct warp *w, unsigned lane)
{
    uint32_t mask = 0;
    struct type t = w->code->type;
    for (unsigned i = 0; i < WARP; i++) {
        bool is_in = w->code->origin->op == OP_match_any
                         ? bits_of(t, w->value[i]) == bits_of(t, w->value[lane])
                         : w->value[i].i != 0;
        mask |= (uint32_t)is_in << i;
    }
    return mask;
}

// Give each lane a mask, or what it says.
static void vote(struct warp *w)
{
    for (unsigned lane = 0; lane < WARP; lane++) {
        uint32_t mask = mask_of(w, lane);
        enum ir_op op = w->code->origin->op;
        w->result[lane].i = op == OP_vote_any   ? mask != 0
                            : op == OP_vote_all ? mask == UINT32_MAX
                                                : mask;
    }
}

// Combine two lanes.
static union number combine(struct warp *w, union number a, union number b)
{
    struct type t = w->code->type;
    union number r = {0};
    if (type_is_float(t))
        r.f = ir_round_float(t, w->code->how->on_float(t, a.f, b.f, 0));
    else
        r.i = w->code->how->on_int(t, a.i, b.i, 0, &w->fault);
    return r;
}

// Reduce: lanes that differ in bit 4, then those sums in bit 3, and so on.
static void reduce(struct warp *w)
{
    memcpy(w->result, w->value, sizeof w->result);
    for (unsigned bit = WARP / 2; bit; bit /= 2) {
        union number old[WARP];
        memcpy(old, w->result, sizeof old);
        for (unsigned lane = 0; lane < WARP; lane++)
            w->result[lane] = combine(w, old[lane], old[lane ^ bit]);
    }
}

// Compute the operation for all lanes.
static void compute(struct warp *w, size_t n)
{
    enum ir_op op = w->code->origin->op;
    bool is_shuffle = op >= OP_shuffle && op <= OP_shuffle_xor;
    if (is_shuffle)
        shuffle(w);
    else if (n < WARP)
        w->fault = "needs a warp of 32 threads";
    else if (op >= OP_warp_sum)
        reduce(w);
    else
        vote(w);
}

void eval_exchange(const struct group *g, const struct code *c)
{
    struct machine *m = g->at[0]->machine;
    struct warp w = {.code = c};
    struct span span = c ? c->origin->span : m->kernel->span;
    const char *name = c ? ir_op_info(c->origin->op)->spelling : "syncwarp";
    if (g->n != g->whole) {
        eval_stop(m, EVAL_FAULT, span, "`%s` in divergent control flow", name);
        return;
    }
    for (size_t i = 0; c && i < g->n; i++) {
        int64_t lane = number_of(g->at[i]) % WARP;
        w.is_there[lane] = true;
        w.value[lane] = eval_run(g->at[i], c->args[0]);
        if (c->origin->n > 1)
            w.other[lane] = eval_run(g->at[i], c->args[1]);
    }
    if (c)
        compute(&w, g->n);
    if (w.fault)
        eval_stop(m, EVAL_FAULT, span, "`%s`: %s", name, w.fault);
    for (size_t i = 0; c && i < g->n; i++)
        g->at[i]->frame[c->slot] = w.result[number_of(g->at[i]) % WARP];
}

// Order threads by their number.
static int by_number(const void *a, const void *b)
{
    int64_t x = number_of(*(struct thread *const *)a);
    int64_t y = number_of(*(struct thread *const *)b);
    return (x > y) - (x < y);
}

// Return whether threads stand by their number already.
static bool is_in_order(struct thread *const *at, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (number_of(at[i - 1]) > number_of(at[i]))
            return false;
    }
    return true;
}

// Return how many threads the unit has of which a group has `n`: those that
// are missing have gone another way, or do not exist.
static size_t whole_of(const struct group *g, size_t n, uint32_t width)
{
    return g->width && g->n != g->whole ? width : n;
}

// Divide the threads of a group, in order, into warps or warpgroups; returns
// how many.
static size_t divide(const struct group *g, struct thread **at, uint32_t width,
                     struct group *units)
{
    size_t count = 0;
    for (size_t i = 0, n; i < g->n; i += n) {
        int64_t unit = number_of(at[i]) / width;
        for (n = 1; i + n < g->n && number_of(at[i + n]) / width == unit;)
            n++;
        units[count++] =
            (struct group){at + i, n, whole_of(g, n, width), width};
    }
    return count;
}

void eval_units(const struct group *g, uint32_t width, const struct action *s,
                void (*run)(struct group *g, const struct action *s))
{
    struct machine *m = g->at[0]->machine;
    struct thread **at = calloc(g->n, sizeof *at);
    if (!at) {
        eval_stop(m, EVAL_FAULT, m->kernel->span, "no memory for threads");
        return;
    }
    memcpy(at, g->at, g->n * sizeof *at);
    if (!is_in_order(at, g->n))
        qsort(at, g->n, sizeof *at, by_number);
    struct group *units = calloc(g->n, sizeof *units);
    size_t n_units = units ? divide(g, at, width, units) : 0;
    if (s->waits && n_units > 1)
        eval_parts(units, n_units, s, run);
    else
        for (size_t i = 0; i < n_units && !m->is_stopped; i++)
            run(&units[i], s);
    free(units);
    free(at);
}
