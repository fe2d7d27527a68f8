// Findings: what, where, by whom, on which element.

#include "tools/simt/record.h"
#include "tools/simt/trace.h"

#include <string.h>

// Return the thread that an agent is, or works for.
static const struct fiber *fiber_of(const struct machine *m, uint32_t agent)
{
    uint32_t warps = m->n_fibers + m->n_fibers / WARP_LANES;
    if (agent < m->n_fibers)
        return &m->fibers[agent];
    return &m->fibers[agent < warps ? (agent - m->n_fibers) * WARP_LANES
                                    : mbarrier_user(m, agent)];
}

struct simt_thread foreign_thread(const struct machine *m, uint32_t number,
                                  uint32_t by)
{
    struct simt_thread t = thread_of(m, number);
    uint32_t first[3], rank = number < m->n_fibers ? number / m->threads : 0;
    block_at(m, by, first);
    t.block[0] = first[0] + rank % m->cluster[0];
    t.block[1] = first[1] + rank / m->cluster[0] % m->cluster[1];
    t.block[2] = first[2] + rank / m->cluster[0] / m->cluster[1];
    return t;
}

struct simt_thread thread_of(const struct machine *m, uint32_t number)
{
    const struct fiber *f = fiber_of(m, number);
    struct simt_thread t;
    for (int d = 0; d < 3; d++) {
        t.block[d] = f->block[d];
        t.thread[d] = f->thread[d];
    }
    return t;
}

// Return the array whose pages are nearest below an address, or NULL.
static struct region *nearest(struct machine *m, const void *p)
{
    struct region *best = NULL;
    for (size_t i = 1; i < m->n_regions; i++) {
        struct region *r = &m->regions[i];
        if (r->cells && (const void *)r->base <= p &&
            (!best || r->base > best->base))
            best = r;
    }
    return best;
}

// Turn the offset of an element into indices, the way that the strides say.
static void set_indices(const struct region *r, struct simt_finding *f)
{
    int64_t rest = f->element;
    f->rank = r->rank;
    for (uint32_t i = 0; i < r->rank; i++) {
        int64_t stride = r->strides[i];
        bool is_last = i + 1 == r->rank;
        f->indices[i] = is_last && stride == 1 ? rest
                        : stride               ? rest / stride
                                               : 0;
        rest -= f->indices[i] * stride;
    }
    if (rest)
        f->rank = 0;
}

struct region *finding_region(struct machine *m, struct region *r,
                              const void *p)
{
    return r && r != &m->regions[0] ? r : nearest(m, p);
}

// Say which element an address is.
static void set_element(struct machine *m, struct region *r, const void *p,
                        struct simt_finding *f)
{
    r = finding_region(m, r, p);
    if (!r)
        return;
    int64_t offset = (const unsigned char *)p - r->base;
    if (r->stride)
        offset -= (int64_t)(r->stride * m->current->place);
    if (r->copy && offset >= 0)
        offset %= (int64_t)r->copy;
    f->array = r->name;
    f->buffer = r->buffer;
    f->space = r->space;
    f->element = offset / (int64_t)r->elem;
    if (offset < 0 && offset % (int64_t)r->elem)
        f->element--;
    set_indices(r, f);
}

void finding_make(struct machine *m, enum simt_fault fault,
                  const struct site *s, struct region *r, const void *p,
                  struct simt_finding *out)
{
    *out = (struct simt_finding){.fault = fault, .count = 1, .entry = m->entry};
    out->thread = thread_of(m, m->current ? m->current->number : 0);
    if (s) {
        out->place = s->place;
        out->schedule = s->schedule;
        out->bytes = s->bytes;
        out->is_write = s->kind & ACCESS_WRITE;
    }
    if (p)
        set_element(m, r, p, out);
}

// Return whether two places are the same.
static bool same_place(const struct simt_place *a, const struct simt_place *b)
{
    return a->line == b->line && a->column == b->column && a->file == b->file;
}

bool finding_is_same(const struct simt_finding *a, const struct simt_finding *b)
{
    return a->fault == b->fault && a->array == b->array &&
           a->entry == b->entry && same_place(&a->place, &b->place) &&
           same_place(&a->other, &b->other) &&
           same_place(&a->schedule, &b->schedule) &&
           same_place(&a->other_schedule, &b->other_schedule);
}

void finding_note(struct machine *m, const struct simt_finding *f)
{
    struct simt_result *out = m->result;
    if (m->trace)
        trace_found(m, f);
    for (size_t i = 0; i < out->n; i++) {
        if (finding_is_same(&out->findings[i], f)) {
            out->findings[i].count += f->count;
            return;
        }
    }
    if (out->n < SIMT_FINDINGS_MOST)
        out->findings[out->n++] = *f;
    else
        out->lost++;
}

void finding_add(struct machine *m, enum simt_fault fault, const struct site *s,
                 struct region *r, const void *p)
{
    struct simt_finding f;
    finding_make(m, fault, s, r, p, &f);
    finding_note(m, &f);
}

void finding_set_other(const struct machine *m, uint64_t record, uint32_t by,
                       struct simt_finding *f)
{
    const struct site *other = m->sites[record & SITE_MASK];
    f->has_other = true;
    f->other = other->place;
    f->other_schedule = other->schedule;
    f->other_thread = by == m->serial ? thread_of(m, agent_of(record))
                                      : foreign_thread(m, agent_of(record), by);
}

void finding_set_waiting(const struct machine *m, const struct fiber *other,
                         struct simt_finding *f)
{
    f->has_other = true;
    f->other_thread = thread_of(m, other->number);
    if (!other->site)
        return;
    f->other = other->site->place;
    f->other_schedule = other->site->schedule;
}

void finding_add_other(struct machine *m, enum simt_fault fault,
                       const struct site *s, struct region *r, void *p,
                       uint64_t record)
{
    struct simt_finding f;
    finding_make(m, fault, s, r, p, &f);
    finding_set_other(m, record, m->serial, &f);
    f.other_is_write = true;
    finding_note(m, &f);
}
