// Accesses that go on while their thread does: from the moment that it asks for
// one until it is known to be done, the elements' records say that every other
// access meets it.

#include "tools/simt/async.h"
#include "tools/simt/trace.h"

// Return the site of an instruction for an access of another kind.
static struct site site_of(const struct site *s, uint32_t bytes, uint32_t align,
                           unsigned kind)
{
    return (struct site){.number = s->number,
                         .bytes = bytes,
                         .align = align,
                         .kind = kind,
                         .reach = s->reach,
                         .place = s->place,
                         .schedule = s->schedule};
}

void *own_address(struct machine *m, void *p)
{
    const struct region *r = region_of(m, p);
    size_t offset = (size_t)((unsigned char *)p - r->base);
    return r->copy && offset < r->copy
               ? (unsigned char *)p + r->copy * (m->slot + m->current->rank + 1)
               : p;
}

void *access_now(struct machine *m, void *p, uint32_t bytes, unsigned kind,
                 const struct site *s)
{
    struct site now = site_of(s, bytes, bytes & -bytes, kind);
    p = simt_range(m, p, bytes, &now);
    return p == m->sink ? NULL : p;
}

// Put a record in the place of others, for the elements of a range.
static void replace_records(const struct machine *m, const struct region *r,
                            const void *p, const struct under_way *u,
                            uint64_t old, uint64_t by)
{
    size_t offset = (size_t)((const unsigned char *)p - r->base);
    struct cell *c = cell_at(r, offset);
    struct cell *end = cell_at(r, offset + u->bytes - 1);
    for (; c <= end; c++) {
        if (u->kind & ACCESS_WRITE && c->write == old &&
            c->write_by == m->serial)
            c->write = by;
        if (!(u->kind & ACCESS_WRITE) && c->read_by == m->serial)
            readers_replace(m, c, old, by);
    }
}

void *access_begin(struct machine *m, void *p, const struct under_way *u)
{
    struct site s = site_of(u->site, u->bytes, u->align, u->kind);
    struct region *r = region_of(m, p);
    p = simt_range(m, p, u->bytes, &s);
    m->changes++;
    if (p == m->sink)
        return NULL;
    if (r->cells && !r->is_read_only)
        replace_records(m, r, p, u, record_make(m->current, &s),
                        record_of(u->agent, STAMP_NEVER, &s));
    return p;
}

void access_end(struct machine *m, void *p, const struct under_way *u,
                uint32_t agent, uint32_t stamp)
{
    struct site s = site_of(u->site, u->bytes, u->align, u->kind);
    struct region *r = region_of(m, p);
    bool is_write = u->kind & ACCESS_WRITE;
    m->changes++;
    if (m->trace)
        trace_end(m, &s, p, agent);
    if (r->cells && !r->is_read_only)
        replace_records(m, r, p, u, record_of(u->agent, STAMP_NEVER, &s),
                        record_of(agent, stamp, &s) |
                            (is_write && u->by_proxy ? PROXY_FLAG : 0));
}

void access_need_fence(struct machine *m, void *p, uint32_t bytes,
                       const struct site *s)
{
    struct region *r = region_of(m, p);
    if (r->space != SPACE_shared)
        return;
    size_t offset = (size_t)((unsigned char *)p - r->base);
    struct cell *c = cell_at(r, offset), *end = cell_at(r, offset + bytes - 1);
    for (; c <= end; c++) {
        const uint32_t *fenced = m->current->clock.fenced;
        if (c->write_by != m->serial || c->write & PROXY_FLAG ||
            stamp_of(c->write) == STAMP_NEVER ||
            stamp_of(c->write) < fenced[agent_of(c->write)])
            continue;
        finding_add_other(m, SIMT_FAULT_missing_fence, s, r, p, c->write);
        return;
    }
}
