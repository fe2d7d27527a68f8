// Which kernels suit which primitives: aims.def.

#include "tests/fuzz/schedule/aims.h"

#include "tests/support/draw.h"

#define IN(kind) (1u << KIND_##kind)
#define TILES    (IN(fragments) | IN(pieces))
#define ANY      (((1u << KIND_COUNT) - 1) & ~TILES)
#define STAGES   (ANY & ~IN(loops))
#define ROWS     (IN(reduction) | IN(contraction))
#define CHAIN    (ROWS | IN(chain) | IN(stencil))

static const struct fuzz_aim aims[PRIM_COUNT] = {
#define AIM(prim, more, kinds, ...) [PRIM_##prim] = {more, kinds, __VA_ARGS__},
#include "tests/fuzz/schedule/aims.def"
#undef AIM
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

// Return one of the kinds of a set, which is not empty.
static enum fuzz_kind draw_kind(uint64_t *random, unsigned kinds)
{
    uint32_t at;
    do
        at = (uint32_t)draw_below(random, KIND_COUNT);
    while (!(kinds >> at & 1));
    return (enum fuzz_kind)at;
}

void fuzz_aim_kinds(uint64_t *random, enum sched_prim a, enum sched_prim b,
                    enum fuzz_kind kinds[2])
{
    unsigned both = aims[a].kinds & aims[b].kinds;
    bool is_one = both && draw_chance(random, 60);
    kinds[0] = draw_kind(random, is_one ? both : aims[a].kinds);
    kinds[1] = is_one ? KIND_COUNT : draw_kind(random, aims[b].kinds);
}
