// Which kernels suit which primitives: aims.def.

#include "tests/fuzz/schedule/aims.h"

#include "tests/support/draw.h"

#define IN(kind) (1u << KIND_##kind)
#define RINGS    (IN(streamed) | IN(handed) | IN(pingpong))
#define TILES                                                                  \
    (IN(fragments) | IN(bytes) | RINGS | IN(grid) | IN(relay) | IN(cluster))
#define ANY    (((1u << KIND_COUNT) - 1) & ~TILES)
#define STAGES (ANY & ~IN(loops))
#define ROWS   (IN(reduction) | IN(contraction) | IN(weights))
#define CHAIN  (ROWS | IN(chain) | IN(stencil))

static const struct fuzz_aim aims[PRIM_COUNT] = {
#define AIM(prim, more, kinds, ...) [PRIM_##prim] = {more, kinds, __VA_ARGS__},
#include "tests/fuzz/schedule/aims.def"
#undef AIM
};

enum {
    AIMS = 0
#define AIM(prim, more, kinds, ...) +1
#include "tests/fuzz/schedule/aims.def"
#undef AIM
};
_Static_assert(AIMS == (int)PRIM_COUNT, "a primitive has no row in aims.def");

static const enum sched_prim needs[KIND_COUNT] = {
#define KIND(name, stages, needs, meaning) PRIM_##needs,
#include "tests/fuzz/schedule/kinds.def"
#undef KIND
};

const struct fuzz_aim *fuzz_aim_of(enum sched_prim prim)
{
    return &aims[prim];
}

enum sched_prim fuzz_aim_seldom(uint64_t *random)
{
    unsigned sum = 0, prim = 0;
    for (int i = 0; i < PRIM_COUNT; i++)
        sum += aims[i].more;
    uint64_t at = draw_below(random, sum);
    while (at >= aims[prim].more)
        at -= aims[prim++].more;
    return (enum sched_prim)prim;
}

enum sched_prim fuzz_aim_beside(uint64_t *random, unsigned kinds)
{
    enum sched_prim prim;
    do
        prim = draw_chance(random, 50)
                   ? fuzz_aim_seldom(random)
                   : (enum sched_prim)draw_below(random, PRIM_COUNT);
    while (!(aims[prim].kinds & kinds));
    return prim;
}

// Return one of the kinds of a set, which is not empty.
static enum fuzz_kind draw_kind(uint64_t *random, unsigned kinds)
{
    uint32_t at;
    do
        at = (uint32_t)draw_below(random, KIND_COUNT);
    while (!(kinds >> at & 1));
    return (enum fuzz_kind)at;
}

// Draw the kinds of two primitives: of one part, or of one for each.
static void draw_pair(uint64_t *random, enum sched_prim a, enum sched_prim b,
                      enum fuzz_kind kinds[2])
{
    unsigned both = aims[a].kinds & aims[b].kinds;
    bool is_one = both && a != b && draw_chance(random, both & ANY ? 60 : 25);
    kinds[0] = draw_kind(random, is_one ? both : aims[a].kinds);
    kinds[1] = is_one ? KIND_COUNT : draw_kind(random, aims[b].kinds);
}

void fuzz_aim_kinds(uint64_t *random, const struct fuzz_target *t,
                    enum fuzz_kind kinds[FUZZ_PARTS])
{
    unsigned there = 0, third = t->n > 2 ? aims[t->prims[2]].kinds : 0;
    draw_pair(random, t->prims[0], t->prims[1], kinds);
    for (int i = 0; i < 2; i++)
        there |= kinds[i] == KIND_COUNT ? 0 : 1u << kinds[i];
    bool is_new = third && (!(third & there) || draw_chance(random, 10));
    kinds[2] = is_new ? draw_kind(random, third) : KIND_COUNT;
}

enum sched_prim fuzz_aim_need(unsigned kinds)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        if (kinds >> i & 1 && needs[i] != PRIM_COUNT)
            return needs[i];
    }
    return PRIM_COUNT;
}
