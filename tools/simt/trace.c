// A trace: the last accesses of one element up to a fault, and the barriers between
// them.
//
// Accesses and meetings go into rings of their own, so that many of one kind do
// not drive out the other.  What a write leaves is read when its thread goes on.

#include "tools/simt/trace.h"

#include <stdlib.h>
#include <string.h>

enum { RING = 1 << 13, OPERANDS = 8 };

// An event, and what tells whether it is shown.
struct entry {
    struct simt_event event;
    uint64_t order;          // among all
    uint32_t serial;         // of the block
    const unsigned char *at; // the element
};

// The newest entries, `n` in all.
struct ring {
    struct entry at[RING];
    uint64_t n;
};

// The trace of a run.
struct trace {
    struct simt_trace *asked;
    struct ring accesses, meetings;
    uint64_t order;
    struct entry *open; // a write of which is not known what it leaves
    bool is_over;
};

// Entries in their order.
struct chosen {
    struct entry *at[2 * RING];
    size_t n;
};

bool trace_open(struct machine *m, struct simt_trace *asked)
{
    m->trace = calloc(1, sizeof *m->trace);
    asked->n = 0;
    asked->left_out = 0;
    if (m->trace)
        m->trace->asked = asked;
    return m->trace;
}

// ---- Events ---------------------------------------------------------------

// Return room for the next entry of a ring.
static struct entry *next(struct trace *t, struct ring *ring)
{
    struct entry *e = &ring->at[ring->n++ % RING];
    memset(e, 0, sizeof *e);
    e->order = ++t->order;
    return e;
}

void trace_settle(struct machine *m)
{
    struct trace *t = m->trace;
    struct entry *e = t->open;
    if (e)
        memcpy(e->event.after, e->at, e->event.bytes);
    t->open = NULL;
}

// Return whether two threads are the same.
static bool same_thread(const struct simt_thread *a,
                        const struct simt_thread *b)
{
    return memcmp(a->block, b->block, sizeof a->block) == 0 &&
           memcmp(a->thread, b->thread, sizeof a->thread) == 0;
}

// Return the first byte of the element that is asked for, if an access accesses
// it, else NULL.
static const unsigned char *element_in(const struct trace *t,
                                       const struct region *r,
                                       const struct simt_finding *at,
                                       const void *p)
{
    int64_t elem = (int64_t)r->elem;
    int64_t n = (at->bytes + elem - 1) / elem;
    int64_t which = t->asked->element - at->element;
    if (!at->array || strcmp(at->array, t->asked->array) != 0 || which < 0 ||
        which >= (n ? n : 1))
        return NULL;
    int64_t offset = (const unsigned char *)p - r->base;
    int64_t first = (offset % elem + elem) % elem;
    return (const unsigned char *)p - first + which * elem;
}

// Return what an access is.
static enum simt_event_kind kind_of(unsigned kind, bool is_end)
{
    bool writes = kind & ACCESS_WRITE;
    if (is_end)
        return writes ? SIMT_EVENT_end_write : SIMT_EVENT_end_read;
    if (kind & ACCESS_LATER)
        return writes ? SIMT_EVENT_begin_write : SIMT_EVENT_begin_read;
    if (!writes)
        return SIMT_EVENT_read;
    return kind & ACCESS_READ ? SIMT_EVENT_atomic : SIMT_EVENT_write;
}

// Add an access of an element at its address.
static struct entry *add(struct machine *m, const struct simt_finding *f,
                         const unsigned char *at, enum simt_event_kind kind)
{
    struct entry *e = next(m->trace, &m->trace->accesses);
    e->serial = m->serial;
    e->at = at;
    e->event.kind = kind;
    e->event.at = *f;
    return e;
}

// Set the value of an element that is there, and have what a write leaves be
// looked at later.
static void set_value(struct trace *t, struct entry *e, const struct region *r)
{
    e->event.bytes =
        r->elem < SIMT_VALUE_BYTES ? (uint32_t)r->elem : SIMT_VALUE_BYTES;
    memcpy(e->event.before, e->at, e->event.bytes);
    if (e->event.kind == SIMT_EVENT_write ||
        e->event.kind == SIMT_EVENT_atomic ||
        e->event.kind == SIMT_EVENT_end_write)
        t->open = e;
}

// Return whether an access of another element is to be told.
static bool is_operand(const struct trace *t, const struct site *s,
                       const struct simt_finding *f)
{
    return t->asked->reader && s->kind == ACCESS_READ &&
           same_thread(t->asked->reader, &f->thread);
}

void trace_access(struct machine *m, const struct site *s, struct region *r,
                  const void *p, bool is_inside)
{
    struct trace *t = m->trace;
    struct simt_finding f;
    trace_settle(m);
    r = finding_region(m, r, p);
    if (t->is_over || !r)
        return;
    finding_make(m, SIMT_FAULT_hang, s, r, p, &f);
    const unsigned char *at = element_in(t, r, &f, p);
    bool is_other = !at && is_operand(t, s, &f);
    if (!at && !is_other)
        return;
    struct entry *e = add(m, &f, at ? at : p, kind_of(s->kind, false));
    e->event.is_operand = is_other;
    if (is_inside && !(s->kind & ACCESS_LATER))
        set_value(t, e, r);
}

void trace_end(struct machine *m, const struct site *s, const void *p,
               uint32_t agent)
{
    struct trace *t = m->trace;
    struct region *r = finding_region(m, region_of(m, p), p);
    struct simt_finding f;
    trace_settle(m);
    if (t->is_over || !r || r->stride)
        return;
    finding_make(m, SIMT_FAULT_hang, s, r, p, &f);
    f.thread = thread_of(m, agent);
    const unsigned char *at = element_in(t, r, &f, p);
    if (at)
        set_value(t, add(m, &f, at, kind_of(s->kind, true)), r);
}

void trace_meet(struct machine *m, enum simt_event_kind kind,
                const struct fiber *f, const struct site *s)
{
    struct trace *t = m->trace;
    if (t->is_over)
        return;
    struct entry *e = next(t, &t->meetings);
    e->serial = m->serial;
    e->event.kind = kind;
    e->event.at = (struct simt_finding){.count = 1, .entry = m->entry};
    e->event.at.thread = thread_of(m, f->number);
    e->event.at.place = s->place;
    e->event.at.schedule = s->schedule;
}

void trace_found(struct machine *m, const struct simt_finding *f)
{
    struct trace *t = m->trace;
    t->is_over |= t->asked->of && finding_is_same(t->asked->of, f);
}

// ---- What is shown --------------------------------------------------------

// Return the oldest entry of a ring from a number on, or NULL; the number
// becomes its own.
static struct entry *entry_from(struct ring *ring, uint64_t *i)
{
    if (ring->n > RING && *i < ring->n - RING)
        *i = ring->n - RING;
    return *i < ring->n ? &ring->at[*i % RING] : NULL;
}

// List all entries in their order.
static void merge(struct trace *t, struct chosen *all)
{
    uint64_t a = 0, b = 0;
    for (;;) {
        struct entry *x = entry_from(&t->accesses, &a);
        struct entry *y = entry_from(&t->meetings, &b);
        if (!x && !y)
            return;
        bool is_first = x && (!y || x->order < y->order);
        all->at[all->n++] = is_first ? x : y;
        a += is_first;
        b += !is_first;
    }
}

// Return whether an entry is an access.
static bool is_access(const struct entry *e)
{
    return e->event.kind < SIMT_EVENT_barrier;
}

// Return whether an access writes, or is to.
static bool is_write(const struct entry *e)
{
    return e->event.kind == SIMT_EVENT_write ||
           e->event.kind == SIMT_EVENT_atomic ||
           e->event.kind == SIMT_EVENT_begin_write ||
           e->event.kind == SIMT_EVENT_end_write;
}

// Return the place in a list behind the last access of the element by a thread;
// 0: there is none.
static size_t behind_last(const struct chosen *list,
                          const struct simt_thread *thread)
{
    for (size_t i = list->n; i > 0; i--)
        if (is_access(list->at[i - 1]) && !list->at[i - 1]->event.is_operand &&
            same_thread(&list->at[i - 1]->event.at.thread, thread))
            return i;
    return 0;
}

// Leave out what the reader reads, but for the last before its last write of the
// element, and behind the one before that.
static void drop_operands(const struct trace *t, struct chosen *all)
{
    size_t end = t->asked->reader ? behind_last(all, t->asked->reader) : 0;
    size_t n = 0, kept = 0;
    for (size_t i = end; i-- > 0 && n < OPERANDS; kept = i) {
        const struct entry *e = all->at[i];
        n += e->event.is_operand;
        if (i + 1 < end && !e->event.is_operand && is_access(e) &&
            is_write(e) && same_thread(&e->event.at.thread, t->asked->reader))
            break;
    }
    n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (!all->at[i]->event.is_operand || (i >= kept && i < end))
            all->at[n++] = all->at[i];
    all->n = n;
}

// Return whether an access is of the element that the fault is at: each block
// has its own in shared memory, each thread in local memory.  Of a race reads
// of other threads tell nothing.
static bool is_meant(const struct trace *t, const struct entry *e,
                     const struct entry *fault)
{
    const struct simt_finding *of = t->asked->of;
    const struct simt_thread *who = &e->event.at.thread;
    if (!of)
        return true;
    if (of->space != SPACE_global && fault &&
        (e->serial != fault->serial || e->at != fault->at))
        return false;
    return !of->has_other || is_write(e) || same_thread(who, &of->thread) ||
           same_thread(who, &of->other_thread);
}

// Return whether a meeting comes between two accesses: one of their block, or a
// wait of the thread of the second.
static bool is_between(const struct entry *before, const struct entry *meeting,
                       const struct entry *after)
{
    if (meeting->event.kind == SIMT_EVENT_wait ||
        meeting->event.kind == SIMT_EVENT_cluster)
        return same_thread(&meeting->event.at.thread, &after->event.at.thread);
    return before->serial == meeting->serial &&
           after->serial == meeting->serial;
}

// Return the last meeting between two entries of a list, or NULL.
static struct entry *meeting_in(const struct chosen *all, size_t from,
                                size_t to)
{
    for (size_t i = to; i-- > from + 1;)
        if (!is_access(all->at[i]) &&
            is_between(all->at[from], all->at[i], all->at[to]))
            return all->at[i];
    return NULL;
}

// Return whether an access only repeats the one before.
static bool repeats(const struct simt_event *a, const struct simt_event *b)
{
    return a->kind == b->kind && a->bytes && a->bytes == b->bytes &&
           same_thread(&a->at.thread, &b->at.thread) &&
           finding_is_same(&a->at, &b->at) && a->at.element == b->at.element &&
           memcmp(a->before, b->before, a->bytes) == 0 &&
           memcmp(a->after, b->after, a->bytes) == 0;
}

// Append an access, or count it.
static void append(struct chosen *list, struct entry *e)
{
    struct entry *last = list->n ? list->at[list->n - 1] : NULL;
    if (last && is_access(last) && repeats(&last->event, &e->event))
        last->event.at.count++;
    else
        list->at[list->n++] = e;
}

// Choose the accesses that are meant, and a meeting between two of them.
static void choose(const struct trace *t, const struct chosen *all,
                   struct chosen *out)
{
    const struct simt_finding *of = t->asked->of;
    size_t fault = of ? behind_last(all, &of->thread) : 0, last = all->n;
    for (size_t i = 0; i < all->n; i++) {
        if (!is_access(all->at[i]) ||
            !is_meant(t, all->at[i], fault ? all->at[fault - 1] : NULL))
            continue;
        struct entry *meeting = last < i ? meeting_in(all, last, i) : NULL;
        if (meeting)
            out->at[out->n++] = meeting;
        append(out, all->at[i]);
        last = i;
    }
}

// Hand out the last events, that of the other thread of a fault among them.
static void show(struct trace *t, const struct chosen *list)
{
    struct simt_trace *asked = t->asked;
    const struct simt_finding *of = asked->of;
    size_t from = list->n > SIMT_TRACE_MOST ? list->n - SIMT_TRACE_MOST : 0;
    size_t other =
        of && of->has_other ? behind_last(list, &of->other_thread) : 0;
    bool is_lost = other && other <= from;
    if (is_lost)
        asked->events[asked->n++] = list->at[other - 1]->event;
    for (size_t i = from + is_lost; i < list->n; i++)
        asked->events[asked->n++] = list->at[i]->event;
    asked->left_out = list->n - asked->n;
}

void trace_close(struct machine *m)
{
    struct trace *t = m->trace;
    struct chosen *all = calloc(2, sizeof *all);
    trace_settle(m);
    if (all) {
        merge(t, &all[0]);
        drop_operands(t, &all[0]);
        choose(t, &all[0], &all[1]);
        show(t, &all[1]);
    }
    free(all);
    free(t);
    m->trace = NULL;
}
