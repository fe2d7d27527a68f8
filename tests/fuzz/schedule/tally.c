// Counts what a campaign covers.

#include "tests/fuzz/schedule/tally.h"

#include <stdio.h>
#include <stdlib.h>

// Count the primitives of an accepted case, each once, and the pairs.
static void count_pairs(struct fuzz_tally *t, const struct fuzz_case *c)
{
    bool seen[PRIM_COUNT] = {false};
    bool pairs[PRIM_COUNT][PRIM_COUNT] = {{false}};
    for (size_t i = 0; i < c->n_prims; i++) {
        for (int first = 0; first < PRIM_COUNT; first++)
            pairs[first][c->prims[i]] |= seen[first];
        seen[c->prims[i]] = true;
    }
    for (int first = 0; first < PRIM_COUNT; first++) {
        t->prims[first] += seen[first];
        for (int second = 0; second < PRIM_COUNT; second++)
            t->pairs[first][second] += pairs[first][second];
    }
}

// Count the ordered triples of an accepted case, each once.
static void count_triples(struct fuzz_tally *t, const struct fuzz_case *c)
{
    bool seen[FUZZ_TRIPLES] = {false};
    for (size_t i = 0; i < c->n_prims; i++) {
        for (size_t j = i + 1; j < c->n_prims; j++) {
            size_t pair = c->prims[i] * PRIM_COUNT + c->prims[j];
            for (size_t k = j + 1; k < c->n_prims; k++) {
                size_t at = pair * PRIM_COUNT + c->prims[k];
                t->triples[at] += !seen[at];
                seen[at] = true;
            }
        }
    }
}

// Count a case that the compiler accepts.
static void count_accepted(struct fuzz_tally *t, const struct fuzz_case *c)
{
    t->accepted++;
    t->aimed += c->is_aimed;
    t->tails += c->has_tail;
    t->zeros += c->has_zero;
    t->ones += c->has_one;
    t->huge += c->verdict.is_huge;
    t->unwritten += c->verdict.reads_unwritten;
    t->alike += c->verdict.writes_alike;
    t->unrun += c->verdict.runs == 0;
    t->directives += c->n_prims;
    t->lengths[c->n_prims]++;
    count_pairs(t, c);
    count_triples(t, c);
}

void fuzz_tally_failure(struct fuzz_tally *t, uint64_t number, const char *what,
                        const char *detail)
{
    t->failed++;
    if (t->n_failures == TALLY_FAILURES)
        return;
    struct fuzz_failure *f = &t->failures[t->n_failures++];
    f->number = number;
    snprintf(f->what, sizeof f->what, "%s", what);
    snprintf(f->detail, sizeof f->detail, "%s", detail);
}

// Note how long a case took, if none took longer.
static void note_time(struct fuzz_tally *t, uint64_t number, double seconds)
{
    if (seconds <= t->slowest)
        return;
    t->slowest = seconds;
    t->slowest_case = number;
}

void fuzz_tally_case(struct fuzz_tally *t, const struct fuzz_case *c,
                     double seconds)
{
    const struct fuzz_verdict *v = &c->verdict;
    t->cases++;
    note_time(t, c->number, seconds);
    t->runs += v->runs;
    t->left += v->left;
    if (!c->is_aimed && c->missed != PRIM_COUNT)
        t->missed[c->missed]++;
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        t->kinds[kind] += c->kinds >> kind & 1;
        t->kinds_accepted[kind] +=
            v->outcome == FUZZ_ACCEPTED && (c->kinds >> kind & 1);
    }
    switch (v->outcome) {
    case FUZZ_ACCEPTED: count_accepted(t, c); break;
    case FUZZ_REFUSED: t->refused[v->code]++; break;
    case FUZZ_FAILED:
        fuzz_tally_failure(t, c->number, v->what, v->detail);
        break;
    }
}

// Add n counters.
static void add(uint64_t *to, const uint64_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

void fuzz_tally_add(struct fuzz_tally *t, const struct fuzz_tally *from)
{
    add(&t->cases, &from->cases, 1);
    add(&t->accepted, &from->accepted, 1);
    add(&t->aimed, &from->aimed, 1);
    add(&t->runs, &from->runs, 1);
    add(&t->left, &from->left, 1);
    add(&t->directives, &from->directives, 1);
    add(&t->tails, &from->tails, 1);
    add(&t->zeros, &from->zeros, 1);
    add(&t->ones, &from->ones, 1);
    add(&t->huge, &from->huge, 1);
    add(&t->unwritten, &from->unwritten, 1);
    add(&t->alike, &from->alike, 1);
    add(&t->unrun, &from->unrun, 1);
    add(t->kinds, from->kinds, KIND_COUNT);
    add(t->kinds_accepted, from->kinds_accepted, KIND_COUNT);
    add(t->lengths, from->lengths, FUZZ_DIRECTIVES + 1);
    add(t->prims, from->prims, PRIM_COUNT);
    add(t->missed, from->missed, PRIM_COUNT);
    for (int i = 0; i < PRIM_COUNT; i++)
        add(t->pairs[i], from->pairs[i], PRIM_COUNT);
    for (int i = 0; i < FUZZ_TRIPLES; i++)
        t->triples[i] += from->triples[i];
    add(t->refused, from->refused, D_COUNT);
    for (int i = 0; i < D_COUNT; i++)
        t->draws.refused[i] += from->draws.refused[i];
    t->draws.accepted += from->draws.accepted;
    note_time(t, from->slowest_case, from->slowest);
    uint64_t unkept = from->failed - from->n_failures;
    for (uint64_t i = 0; i < from->n_failures; i++)
        fuzz_tally_failure(t, from->failures[i].number, from->failures[i].what,
                           from->failures[i].detail);
    t->failed += unkept;
}
