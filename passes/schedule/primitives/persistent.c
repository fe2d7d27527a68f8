// persistent -- run the tiles of a grid on a fixed number of persistent blocks.
//
//   for i in 0..m @block.y {               persistent(i, 132)
//     for j in 0..n @block.x { ... } }   =>
//   for i in 0..m @block.y @persistent(132) {
//     for j in 0..n @block.x { ... } }
//
// Lowering starts that many blocks, or as many as there are tiles; with n blocks,
// each takes every n-th tile. persistent(i, 1, sms) counts the blocks of one SM:
// the launch asks the device how many SMs it has, and the mark is
// @persistent_sms(1).
//
// Requires:
//  1. the loop is bound to blocks, and those over blocks around and inside
//     stand directly in each other; none counts a reduction, and it
//     is not persistent already                                       E0764
//  2. 1 to 2^31 - 1 blocks, or 1 to 32 on an SM; the last
//     argument is `sms`                                               E0765

#include "passes/schedule/prim.h"

#include "ir/marks.h"
#include "passes/analysis/tiles.h"

#include <string.h>

enum { EACH_MOST = 32 };

// Check the nest.
static const char *check_nest(const struct tiles *t)
{
    if (t->fault)
        return t->fault;
    return tiles_mark(t, MARK_persistent) || tiles_mark(t, MARK_persistent_sms)
               ? "it is persistent already"
               : NULL;
}

// Check the number of blocks.
static bool check_number(const struct sched_call *c)
{
    int64_t n = c->args.at[1].number;
    const char *of = c->args.n > 2 ? c->args.at[2].key : NULL;
    if (n >= 1 && n <= (of ? EACH_MOST : axis_most(AXIS_block_x)) &&
        (!of || strcmp(of, "sms") == 0))
        return true;
    return diag_error(c->pass->diags, c->span, D_tile_blocks, (long long)n,
                      of ? ", " : "", of ? of : "");
}

bool sched_persistent(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct ir_stmt *loop = sched_arg(c, 0);
    struct tiles t = tiles_find(p->scratch, p->kernel, loop);
    const char *wrong = check_nest(&t);
    if (wrong)
        return sched_refuse(c, loop, "to be persistent", D_tile_nest,
                            sched_name_of(loop), wrong);
    if (!check_number(c))
        return false;
    enum ir_mark mark = c->args.n > 2 ? MARK_persistent_sms : MARK_persistent;
    ir_attr_set(p->arena, t.loops.at[0], mark, c->args.at[1].number);
    return true;
}
