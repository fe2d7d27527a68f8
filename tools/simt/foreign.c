// Readers of other blocks, where no fence puts blocks in order: every write
// meets them, so it takes no more than the last of two blocks to name one.
//
// `read_by` is then the serial number before the launch's first block; the
// stamp in `read` counts blocks from there, `other_read` holds the serial number
// of the other block above the agent and the site of its record.

#include "tools/simt/record.h"

enum { LOW_BITS = 32 };
#define LOW_MASK ((UINT64_C(1) << LOW_BITS) - 1)

// Return a record with another stamp.
static uint64_t with_stamp(uint64_t record, uint32_t stamp)
{
    uint64_t below = record & ((UINT64_C(1) << STAMP_SHIFT) - 1);
    return (uint64_t)stamp << STAMP_SHIFT | below;
}

// Return the block that has read an element last.
static uint32_t last_reader(const struct machine *m, const struct cell *c)
{
    return c->read_by == m->first ? m->first + stamp_of(c->read) : c->read_by;
}

void foreign_read(struct machine *m, const struct region *r, struct cell *c,
                  uint64_t record)
{
    uint32_t last = last_reader(m, c);
    if (!is_foreign(m, r, c->read_by)) {
        c->read = record;
        c->read_by = m->serial;
        c->other_read = 0;
        return;
    }
    pairs_note(m, last);
    if (last != m->serial)
        c->other_read = (uint64_t)last << LOW_BITS | (c->read & LOW_MASK);
    uint64_t both = c->read | ~ATOMIC_FLAG;
    c->read = with_stamp(record, m->serial - m->first) & both;
    c->read_by = m->first;
}

uint64_t foreign_reader(const struct machine *m, const struct cell *c,
                        uint32_t *by)
{
    *by = last_reader(m, c);
    if (*by != m->serial)
        return c->read;
    *by = (uint32_t)(c->other_read >> LOW_BITS);
    return (c->other_read & LOW_MASK) | (c->read & ATOMIC_FLAG);
}
