// Draws sizes around the numbers of a variant.

#include "tools/ingot/check_sizes.h"

#include "passes/proof/proof.h"

#include "ir/walk.h"

#include <string.h>

enum {
    DRAWS = 8000,
    KEPT = 500,
    MULTIPLE_MOST = 512,
    FACTOR_MOST = 64, // a number that may count tiles
    TILE_LEAST = 8,
};

// Work that sizes may take if a variant takes none with less.
#define FAR_WORK 1e8

static const int64_t corners[] = {0, 1, 2, 3, 5, 7, 13, 31, 37, 61, 101};
enum { CORNERS = sizeof corners / sizeof *corners };

// Return a random number below `n`.
static uint64_t below(struct chooser *c, uint64_t n)
{
    return reach_random(&c->random, n);
}

// ---- What is drawn from ---------------------------------------------------

// Add a size to those that are drawn from.
static void add_size(struct chooser *c, int64_t x)
{
    if (c->n_pool < POOL_MOST)
        c->pool[c->n_pool++] = x;
}

// Add sizes around a number of which some count tiles of others.
static void add_around(struct chooser *c, int64_t x)
{
    const int64_t around[] = {x - 1, x,         x + 1,     2 * x - 1,
                              2 * x, 2 * x + 1, 3 * x,     3 * x + 1,
                              4 * x, 4 * x + 1, 5 * x + 3, 6 * x + 1,
                              8 * x, 8 * x + 5, 10 * x + 1};
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        add_size(c, around[i]);
    for (size_t i = 0; i < c->n_numbers && x <= FACTOR_MOST; i++) {
        int64_t tile = c->numbers[i];
        if (tile < TILE_LEAST)
            continue;
        add_size(c, x * tile + 1);
        add_size(c, (x + 1) * tile);
        add_size(c, (x + 2) * tile + 1);
    }
}

// Fill the pool.
static void fill_pool(struct chooser *c)
{
    for (int i = 0; i < CORNERS; i++)
        add_size(c, corners[i]);
    for (size_t i = 0; i < c->n_numbers; i++)
        add_around(c, c->numbers[i]);
}

// ---- Drawing --------------------------------------------------------------

// Return a size, from the pool, or one of any magnitude.
static int64_t draw_size(struct chooser *c)
{
    if (below(c, 4))
        return c->pool[below(c, c->n_pool)];
    return (int64_t)below(c, UINT64_C(2) << below(c, 11));
}

// Return some tiles and a rest.
static int64_t draw_tiles(struct chooser *c)
{
    if (!c->n_numbers)
        return draw_size(c);
    size_t n = c->n_tiles && below(c, 2) ? c->n_tiles : c->n_numbers;
    int64_t tile = c->numbers[below(c, n)];
    const int64_t rests[] = {0, 1, tile - 1, (int64_t)below(c, (uint64_t)tile)};
    return tile * (int64_t)below(c, 11) + rests[below(c, 4)];
}

// Draw all sizes: each for itself, from three so that some are equal, all small
// but one, or tiles.
static void draw_sizes(struct chooser *c, struct draw *d)
{
    int64_t few[] = {draw_size(c), draw_size(c), draw_size(c)};
    uint64_t how = below(c, 5), large = below(c, c->n);
    for (size_t i = 0; i < c->n; i++) {
        bool is_small = how == 2 && i != large;
        d->sizes[i] = is_small   ? corners[below(c, 6)]
                      : how >= 3 ? draw_tiles(c)
                      : how      ? draw_size(c)
                                 : few[below(c, 3)];
    }
}

// Draw sizes of which one is some hundred times a number of the variant, as
// guards want that count tiles.
static void draw_multiple(struct chooser *c, struct draw *d)
{
    for (size_t i = 0; i < c->n; i++)
        d->sizes[i] = c->pool[below(c, c->n_pool)];
    d->sizes[below(c, c->n)] = c->numbers[below(c, c->n_numbers)] *
                               (int64_t)(1 + below(c, MULTIPLE_MOST));
}

// Draw multiples of 8, as vectors want, one of them a number of the variant or more:
// few rows or columns, and a long sum.
static void draw_aligned(struct chooser *c, struct draw *d)
{
    size_t large = below(c, c->n);
    for (size_t i = 0; i < c->n; i++) {
        int64_t x = (int64_t)below(c, UINT64_C(2) << below(c, 8));
        if (i == large)
            x += c->numbers[below(c, c->n_numbers)];
        d->sizes[i] = (x + TILE_LEAST - 1) / TILE_LEAST * TILE_LEAST;
    }
}

// ---- Keeping --------------------------------------------------------------

void draws_enter(const struct chooser *c, const struct draw *d)
{
    for (size_t i = 0; i < c->n; i++)
        c->base.values[c->params[i]].scalar.i = d->sizes[i];
}

// Return whether all conditions hold.
static bool all_hold(const struct chooser *c, const struct ir_conditions *all)
{
    for (size_t i = 0; i < all->n; i++) {
        int64_t holds;
        if (!ir_eval_int(c->v->kernel, c->base.values, all->at[i], &holds) ||
            !holds)
            return false;
    }
    return true;
}

bool draws_hold(const struct chooser *c)
{
    return all_hold(c, &c->v->kernel->where) &&
           all_hold(c, &c->v->kernel->guard);
}

// Return the product of extents, at least 0; infinity if they have no value.
static double product(const struct chooser *c, struct ir_expr *const *extents,
                      uint32_t n)
{
    double product = 1;
    for (uint32_t i = 0; i < n; i++) {
        int64_t x;
        if (!ir_eval_int(c->v->kernel, c->base.values, extents[i], &x))
            return 1e300;
        product *= x > 0 ? (double)x : 0;
    }
    return product;
}

// Find how much is to be done for these sizes: statements of the definition,
// threads, elements.
static void find_work(const struct chooser *c, struct draw *d)
{
    const struct ir_kernel *k = c->v->kernel;
    d->work = work_count(definition_of(c->v->source), c->base.values).steps;
    d->is_empty = false;
    d->elements = 0;
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        if (b)
            d->elements += product(c, b->shape, b->rank);
    }
    d->work += d->elements;
    for (size_t i = 0; i < k->body.n; i++) {
        const struct ir_launch *l = &k->body.at[i]->u.launch;
        if (k->body.at[i]->kind != STMT_launch)
            continue;
        double blocks = product(c, l->grid, 3);
        d->work += 8 * blocks * l->block[0] * l->block[1] * l->block[2];
        d->is_empty |= blocks < 1;
    }
}

// Return whether these sizes were drawn before.
static bool is_known(const struct chooser *c, const struct draw *d)
{
    for (size_t i = 0; i < c->draws.n; i++)
        if (memcmp(c->draws.at[i].sizes, d->sizes, c->n * sizeof *d->sizes) ==
            0)
            return true;
    return false;
}

// Keep sizes that the variant takes and that need no more than `most` work.
static void keep(struct chooser *c, struct draw *d, double most)
{
    draws_enter(c, d);
    if (!draws_hold(c) || !problem_is_possible(&c->base) || is_known(c, d))
        return;
    find_work(c, d);
    if (!d->is_empty && (!c->has_least || d->work < c->least.work)) {
        c->least = *d;
        c->has_least = true;
    }
    if (d->work <= most)
        vec_push(&c->check->c->arena, &c->draws, *d);
}

// Return how many draws have blocks and were not taken.
static size_t count_full(const struct chooser *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->draws.n; i++)
        n += !c->draws.at[i].is_empty && !c->draws.at[i].is_taken;
    return n;
}

// Draw the sizes with which one claim is open.
static void draw_hint(struct chooser *c, const struct proof_item *item,
                      double most)
{
    struct draw d = {.is_hint = true};
    for (size_t i = 0; i < item->sizes.n; i++) {
        for (size_t k = 0; k < c->n; k++) {
            if (c->v->source->params.at[c->params[k]].var->name ==
                item->sizes.at[i].var->name)
                d.sizes[k] = item->sizes.at[i].value;
        }
    }
    keep(c, &d, most);
}

void draws_make_hints(struct chooser *c, double most)
{
    const struct proof *p = c->v->proof;
    for (int likely = 1; p && likely >= 0; likely--) {
        for (size_t i = 0; i < p->items.n; i++) {
            const struct proof_item *item = &p->items.at[i];
            if (item->sizes.n && (item->reason == REASON_model) == likely)
                draw_hint(c, item, most);
        }
    }
}

// Make the sizes of the draw that needs least work smaller, one at a time, while
// the variant takes them: to eighths, as they are and as multiples of 8.
static void shrink_least(struct chooser *c, double most)
{
    double before = 0;
    while (c->least.work != before) {
        before = c->least.work;
        for (size_t i = 0; i < c->n; i++) {
            for (int64_t eighths = 0; eighths < 8; eighths++) {
                struct draw d = c->least;
                d.sizes[i] = d.sizes[i] / 8 * eighths;
                keep(c, &d, most);
                d.sizes[i] -= d.sizes[i] % TILE_LEAST;
                keep(c, &d, most);
            }
        }
    }
}

// Return whether sizes take too much to be tried unasked.  Of a loop that threads
// say by hand, most of the iterations may never run.
static bool is_far(const struct chooser *c, const struct draw *d)
{
    bool has_threads = check_has_threads(c->v->source);
    return (has_threads ? d->elements : d->work) > FAR_WORK;
}

void draws_make(struct chooser *c, double most)
{
    size_t before = c->draws.n;
    c->has_least = false;
    if (!c->n_pool)
        fill_pool(c);
    for (int64_t corner = 0; corner < 4; corner++) {
        struct draw d = {0};
        for (size_t i = 0; i < c->n; i++)
            d.sizes[i] = corner;
        keep(c, &d, most);
    }
    for (int i = 0; i < DRAWS && c->draws.n < before + KEPT; i++) {
        struct draw d = {0};
        draw_sizes(c, &d);
        keep(c, &d, most);
    }
    for (int i = 0; i < DRAWS && !c->has_least && c->n_numbers; i++) {
        struct draw d = {0};
        draw_multiple(c, &d);
        keep(c, &d, most);
    }
    for (int i = 0; i < DRAWS && !c->has_least && c->n_numbers; i++) {
        struct draw d = {0};
        draw_aligned(c, &d);
        keep(c, &d, most);
    }
    if (!count_full(c) && c->has_least)
        shrink_least(c, most);
    if (!count_full(c) && c->has_least && !is_far(c, &c->least))
        vec_push(&c->check->c->arena, &c->draws, c->least);
}
