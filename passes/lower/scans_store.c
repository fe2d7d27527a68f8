// The elements of a scan, once all in front of the tile is known: each thread
// runs through its own, from the outside in, and stores them.
//
// Where branches store them and what they combine can be computed of what is
// kept, each is finished as it is stored:
//
//   for k { run = run + own[k]  own[k] = run }
//   for k { if kept[k] > 0 { Y[own[k] - 1] = kept[k] } }
//     =>
//   for k { run = run + (kept[k] > 0 ? 1 : 0)
//           if kept[k] > 0 { Y[run - 1] = kept[k] } }
//
// So a thread holds one value for each element while it waits for the tiles in
// front, not two, and more blocks wait at a time.

#include "ir/build.h"
#include "ir/copy.h"
#include "passes/lower/scans.h"

// Return what stores an element whose value is in places.
static struct ir_block elements_of(struct scanning *c,
                                   const struct scan_nest *nest,
                                   const struct map *iters,
                                   const struct scan_values *at)
{
    struct arena *a = c->pass->arena;
    struct ir_block r = ir_copy_block(a, &c->scan.elements, NULL, NULL);
    kept_read_in(c, &r, nest->index);
    ir_substitute_in(a, &r, iters, NULL);
    reducer_move(c->pass, &c->scan.reducer, at->at, &r);
    return r;
}

// Store each element, all of them finished; branches are no vectors.
static void store_each(struct scanning *c, struct ir_block *to)
{
    struct map iters = {.arena = c->pass->scratch};
    bool is_plain = !ir_has(&c->scan.elements, STMT_if);
    struct scan_nest nest = nest_open(c, to, c->n, is_plain);
    struct scan_values at = nest_values(c, c->totals[c->n], &nest);
    struct ir_stmt *s = nest_stage(c, &nest, c->stage->u.stage.name, &iters);
    s->u.stage.body = elements_of(c, &nest, &iters, &at);
}

// Put an element behind those in `run`, or `run` in its place.
static void finish_element(struct scanning *c, const struct scan_nest *nest,
                           const struct scan_values *run)
{
    struct ir_expr *x[REDUCER_ARRAYS], *own[REDUCER_ARRAYS];
    struct scan_values at = nest_values(c, c->totals[c->n], nest);
    scan_read(c, &at, own);
    if (c->scan.is_inclusive) {
        scan_combine(c, nest->body, run, own);
        scan_read(c, run, x);
        scan_write(c, nest->body, &at, x);
        return;
    }
    struct scan_values kept = scan_declare_values(c, nest->body, "kept", own);
    scan_read(c, run, x);
    scan_write(c, nest->body, &at, x);
    scan_read(c, &kept, own);
    scan_combine(c, nest->body, run, own);
}

// Put an element behind those in `run` and store it.  What it combines is
// computed again, of what is kept.
static void finish_again(struct scanning *c, const struct scan_nest *nest,
                         const struct scan_values *run)
{
    struct ir_expr *x[REDUCER_ARRAYS];
    struct map iters = {.arena = c->pass->scratch};
    struct ir_stmt *s = nest_stage(c, nest, c->stage->u.stage.name, &iters);
    struct ir_block stores = elements_of(c, nest, &iters, run);
    load_operands(c, nest, &iters, x);
    if (c->scan.is_inclusive)
        scan_combine(c, &s->u.stage.body, run, x);
    ir_append_all(c->pass->arena, &s->u.stage.body, &stores);
    if (!c->scan.is_inclusive)
        scan_combine(c, &s->u.stage.body, run, x);
}

// Finish the elements of level k and those inside, behind those in `run`, which
// it may change.
static void finish(struct scanning *c, uint32_t k, struct scan_nest *nest,
                   const struct scan_values *run)
{
    struct ir_expr *x[REDUCER_ARRAYS];
    if (k == c->n) {
        if (kept_is_all(c))
            finish_again(c, nest, run);
        else
            finish_element(c, nest, run);
        return;
    }
    if (c->levels[k].kind != SCAN_SERIAL) {
        struct scan_values before = nest_values(c, c->levels[k].before, nest);
        scan_read(c, &before, x);
        scan_combine(c, nest->body, run, x);
        finish(c, k + 1, nest, run);
        return;
    }
    nest_enter(c, nest, k, false);
    if (k + 1 == c->n) {
        finish(c, k + 1, nest, run);
        return;
    }
    struct ir_block *body = nest->body;
    struct scan_values in = nest_values(c, c->totals[k + 1], nest);
    scan_read(c, run, x);
    struct scan_values inner = scan_declare_values(c, body, "inner", x);
    finish(c, k + 1, nest, &inner);
    scan_read(c, &in, x);
    scan_combine(c, body, run, x);
}

// Finish the elements of a tile.
static void finish_each(struct scanning *c, struct ir_block *to,
                        const struct scan_values *run)
{
    struct scan_nest nest = nest_at(c, to);
    finish(c, 0, &nest, run);
}

// Store the elements of a tile, which are finished, or finish them, too.
static void store_all(struct scanning *c, struct ir_block *to,
                      const struct scan_values *run)
{
    if (kept_is_all(c))
        finish_each(c, to, run);
    else
        store_each(c, to);
}

void scan_down(struct scanning *c, struct ir_block *to,
               const struct scan_values *run)
{
    if (!kept_is_all(c))
        finish_each(c, to, run);
    if (c->stage->u.stage.predicate) {
        struct ir_stmt *whole =
            scan_add(c, to, ir_stmt_if(c->pass->arena, nest_is_whole(c)));
        store_all(c, &whole->u.branch.then, run);
        to = &whole->u.branch.otherwise;
    }
    store_all(c, to, run);
}
