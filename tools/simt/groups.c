// Groups: where there are vector clocks, one record stands for 16 bytes of
// shared memory as long as accesses are to all of them.  Copies to shared memory
// and the matrices that warps and warpgroups read there do, and take a
// fraction of the time.
//
// A page of 1 KiB begins with groups, each recorded in its first cell.  The
// first access to a part of a group, and the first one that meets another,
// splits its page: every cell gets a record of its own, for good.

#include "tools/simt/async.h"

enum { PAGE_BYTES = 1 << GROUPS_SHIFT };

// Give the cells of a group records of their own.
static void split_group(const struct machine *m, struct region *r,
                        size_t offset)
{
    struct cell *first = cell_at(r, offset);
    struct cell *end = cell_at(r, offset + GROUP_BYTES);
    for (struct cell *c = first + 1; c < end; c++) {
        *c = *first;
        c->other_read = 0;
        if (first->read_by == m->serial)
            readers_copy(m, first, c);
        else
            c->read = c->read_by = 0;
    }
}

bool groups_are_whole(const struct region *r, size_t offset, size_t bytes)
{
    if ((offset | bytes) % GROUP_BYTES)
        return false;
    for (size_t page = offset >> GROUPS_SHIFT;
         page <= (offset + bytes - 1) >> GROUPS_SHIFT; page++)
        if (r->is_split[page])
            return false;
    return true;
}

void groups_split(const struct machine *m, struct region *r, size_t offset,
                  size_t bytes)
{
    for (size_t page = offset >> GROUPS_SHIFT;
         page <= (offset + bytes - 1) >> GROUPS_SHIFT; page++) {
        size_t from = page << GROUPS_SHIFT;
        for (size_t at = from; !r->is_split[page] && at < from + PAGE_BYTES;
             at += GROUP_BYTES)
            split_group(m, r, at);
        r->is_split[page] = true;
    }
}
