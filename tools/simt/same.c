// Threads that write the same to an element, each for itself, may read it
// without a meeting: whichever write comes last, a thread finds its own value.
//
// Writes that another one of the block meets are kept in a hash table with
// their value, one for each element and thread; what finds no room in it is
// forgotten.

#include "tools/simt/record.h"

#include <string.h>

enum { PROBES = 32 };

// Return where the write of a cell by an agent is kept or, if it is not, may
// be.
static struct same *place_of(struct machine *m, const struct region *r,
                             const struct cell *c, uint32_t agent)
{
    struct same *free = NULL;
    uint64_t key = (uint64_t)(c - r->cells) * 0x9e3779b97f4a7c15u +
                   agent * 0xc2b2ae3d27d4eb4fu + (uint64_t)(r - m->regions);
    for (uint64_t i = 0; i < PROBES; i++) {
        struct same *s = &m->same[((key >> 32) + i) % SAME_MOST];
        bool is_free = !s->cell || s->by != m->serial;
        if (!is_free && s->cell == c && s->agent == agent)
            return s;
        free = is_free && !free ? s : free;
        if (!s->cell)
            break;
    }
    return free ? free : &m->same[(key >> 32) % SAME_MOST];
}

// Return what is in a cell.
static uint64_t value_in(const struct region *r, const struct cell *c)
{
    uint64_t value = 0;
    memcpy(&value, r->base + ((size_t)(c - r->cells) << r->shift),
           (size_t)1 << r->shift);
    return value;
}

void same_note(struct machine *m, const struct region *r,
               const unsigned char *p, uint64_t older)
{
    const struct cell *c = cell_at(r, (size_t)(p - r->base));
    uint32_t agent = agent_of(older);
    *place_of(m, r, c, agent) =
        (struct same){c, value_in(r, c), m->serial, agent};
}

bool same_as_own(struct machine *m, const struct region *r,
                 const unsigned char *p)
{
    const struct cell *c = cell_at(r, (size_t)(p - r->base));
    uint32_t agent = m->current->number;
    const struct same *s = place_of(m, r, c, agent);
    return s->cell == c && s->agent == agent && s->by == m->serial &&
           s->value == value_in(r, c);
}
