// Features: what a variant does at given sizes, such as a quotient by a tile, or a
// statement that a thread reaches.  Each is a number of 64 bits; that it was seen
// is noted in a table by its hash.

#include "tools/ingot/check_sizes.h"

#include "ir/build.h"
#include "ir/walk.h"

enum {
    CASES_ALL =
        12, // for so many cases, or more, the choice takes all of its time
    WALKS_LEAST = 12,
    WALKS_CASE = 3,         // more for each case
    LARGE_NUMBER = 1 << 14, // of which only less and more is told
    PAIR_NUMBERS = 8,       // to which pairs of sizes are put
    GOAL_WEIGHT = 6,
    LOOPS_MOST = 64,
};
// Nodes that all walks visit, and more for each case.
#define NODES_LEAST UINT64_C(7000000)
#define NODES_CASE  UINT64_C(2750000)

// What is being listed.
struct lister {
    struct chooser *c;
    struct draw *draw;
    uint64_t at[FEATURES / 8];
    size_t n;
};

// Kinds of features.
enum kind {
    KIND_QUOTIENT = 1,
    KIND_PAIR,
    KIND_ORDER,
    KIND_BLOCKS,
    KIND_LOOP,
    KIND_MAGNITUDE,
    KIND_GOAL
};

// Add a feature.
static void add(struct lister *l, enum kind kind, uint64_t a, uint64_t b,
                uint64_t class)
{
    if (l->n < sizeof l->at / sizeof *l->at)
        l->at[l->n++] = (uint64_t)kind << 56 | a << 32 | b << 8 | class;
}

// Return the class of a quotient: 0, 1, 2, 3, 4, 5 to 7, 8 and more.
static uint64_t quotient_class(int64_t q)
{
    return q <= 4 ? (uint64_t)q : q < 8 ? 5 : 6;
}

// Return the class of a rest: none, 1, one less than the number, any.
static uint64_t rest_class(int64_t rest, int64_t number)
{
    return rest == 0 ? 0 : rest == 1 ? 1 : rest == number - 1 ? 2 : 3;
}

// Return roughly how a size lies to a number.
static uint64_t rough_class(int64_t size, int64_t number)
{
    return size < number ? 0 : size == number ? 1 : size % number == 0 ? 2 : 3;
}

// List how one size lies to the numbers.
static void list_size(struct lister *l, size_t i)
{
    const struct chooser *c = l->c;
    int64_t size = l->draw->sizes[i], magnitude = 0;
    for (int64_t x = size; x > 0; x >>= 1)
        magnitude++;
    add(l, KIND_MAGNITUDE, i, 0, (uint64_t)magnitude);
    for (size_t k = 0; k < c->n_numbers; k++) {
        int64_t number = c->numbers[k], q = size / number;
        uint64_t rest = rest_class(size % number, number);
        if (number > LARGE_NUMBER)
            add(l, KIND_QUOTIENT, i, k, size > number);
        else
            add(l, KIND_QUOTIENT, i, k, quotient_class(q) * 4 + rest);
    }
}

// List how two sizes lie to each other, and both to numbers.
static void list_pair(struct lister *l, size_t i, size_t j)
{
    const struct chooser *c = l->c;
    int64_t a = l->draw->sizes[i], b = l->draw->sizes[j];
    add(l, KIND_ORDER, i, j, a < b ? 0 : a == b ? 1 : 2);
    for (size_t k = 0; k < c->n_numbers && k < PAIR_NUMBERS; k++)
        add(l, KIND_PAIR, i * SIZES_MOST + j, k,
            rough_class(a, c->numbers[k]) * 4 + rough_class(b, c->numbers[k]));
}

// List how many blocks the launches have.
static void list_blocks(struct lister *l)
{
    const struct ir_kernel *k = l->c->v->kernel;
    for (size_t i = 0; i < k->body.n; i++) {
        int64_t blocks, all = 1;
        if (k->body.at[i]->kind != STMT_launch)
            continue;
        for (uint64_t d = 0; d < 3; d++) {
            if (!ir_eval_int(k, l->c->base.values,
                             k->body.at[i]->u.launch.grid[d], &blocks))
                return;
            add(l, KIND_BLOCKS, i, d, quotient_class(blocks));
            all *= blocks;
        }
        add(l, KIND_BLOCKS, i, 3, all > 1);
    }
}

// Loops whose iterations parameters say.
struct loops {
    const struct ir_for *at[LOOPS_MOST];
    size_t n;
};

// List how often loops run.
static void list_loops(struct lister *l, const struct loops *loops)
{
    const struct chooser *c = l->c;
    struct arena scratch = {0};
    for (size_t i = 0; i < loops->n; i++) {
        int64_t n;
        struct ir_for *f = (struct ir_for *)loops->at[i];
        if (ir_eval_int(c->v->kernel, c->base.values,
                        ir_for_extent(&scratch, f), &n))
            add(l, KIND_LOOP, i, 0, quotient_class(n < 0 ? 0 : n));
    }
    arena_reset(&scratch);
}

// List the goals that threads can get to.
static void list_goals(struct lister *l)
{
    struct reach *r = l->c->reach;
    size_t asked = l->c->check->request->cases;
    unsigned cases = asked < CASES_ALL ? (unsigned)asked : CASES_ALL;
    if (r->nodes > NODES_LEAST + cases * NODES_CASE)
        return;
    reach_mark(r, l->c->base.values, WALKS_LEAST + cases * WALKS_CASE);
    for (size_t i = 0; i < r->n; i++)
        if (r->marks[i])
            add(l, KIND_GOAL, i >> 16, i & 0xffff, 0);
}

// Find what one draw shows.
static void find(struct lister *l, const struct loops *loops)
{
    const struct chooser *c = l->c;
    draws_enter(c, l->draw);
    l->n = 0;
    for (size_t i = 0; i < c->n; i++)
        list_size(l, i);
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = i + 1; j < c->n; j++)
            list_pair(l, i, j);
    list_blocks(l);
    list_loops(l, loops);
    list_goals(l);
    l->draw->features =
        arena_array(&c->check->c->arena, uint64_t, l->n ? l->n : 1);
    for (size_t i = 0; i < l->n; i++)
        l->draw->features[i] = l->at[i];
    l->draw->n_features = l->n;
}

void features_find(struct chooser *c)
{
    struct arena *a = &c->check->c->arena;
    struct loops loops = {0};
    struct lister *l = arena_new(a, struct lister);
    if (!c->reach)
        c->reach = reach_open(a, c->v->kernel);
    if (!c->seen)
        c->seen = arena_array(a, uint64_t, FEATURES);
    ir_foreach_stmt(s, &c->v->kernel->body)
        if (s->kind == STMT_for && loops.n < LOOPS_MOST)
            loops.at[loops.n++] = &s->u.loop;
    for (size_t i = 0; i < c->draws.n; i++) {
        *l = (struct lister){.c = c, .draw = &c->draws.at[i]};
        if (!l->draw->is_empty && !l->draw->features)
            find(l, &loops);
    }
}

// Return the place of a feature in the table.
static uint64_t *place_of(struct chooser *c, uint64_t feature)
{
    uint64_t at = feature * UINT64_C(0x9e3779b97f4a7c15) >> 48;
    while (c->seen[at % FEATURES] && c->seen[at % FEATURES] != feature)
        at++;
    return &c->seen[at % FEATURES];
}

size_t features_news(struct chooser *c, const struct draw *d, bool take)
{
    size_t news = 0;
    for (size_t i = 0; i < d->n_features; i++) {
        uint64_t *place = place_of(c, d->features[i]);
        bool is_goal = d->features[i] >> 56 == KIND_GOAL;
        news += *place ? 0 : is_goal ? GOAL_WEIGHT : 1;
        if (take)
            *place = d->features[i];
    }
    return news;
}
