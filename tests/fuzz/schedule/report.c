// What a campaign covered, as text and as JSON.

#include "tests/fuzz/schedule/tally.h"

#include <stdio.h>

// So many cases of a campaign should have each pair.
enum { PAIR_WANTED = 100, CAMPAIGN = 120000, CASES_FOR_PAIRS = 2000 };

static const char *const kind_names[KIND_COUNT] = {
#define KIND(name, stages, needs, meaning) #name,
#include "tests/fuzz/schedule/kinds.def"
#undef KIND
};

// What the table of pairs says in short.
struct pair_summary {
    uint64_t least;
    int first, second; // of the least
    int missing, rare; // pairs never seen; below what is wanted
};

// Return how many cases with a pair are wanted of those that were run.
static double pairs_wanted(const struct fuzz_tally *t)
{
    double part = (double)t->cases / (double)CAMPAIGN;
    return (double)PAIR_WANTED * (part < 1 ? part : 1);
}

static struct pair_summary summarise(const struct fuzz_tally *t)
{
    struct pair_summary s = {.least = UINT64_MAX};
    for (int i = 0; i < PRIM_COUNT; i++) {
        for (int k = 0; k < PRIM_COUNT; k++) {
            uint64_t n = t->pairs[i][k];
            s.missing += n == 0;
            s.rare += (double)n < pairs_wanted(t);
            if (n < s.least)
                s = (struct pair_summary){n, i, k, s.missing, s.rare};
        }
    }
    return s;
}

// Return how many ordered triples were met so often, or more often.
static int triples_met(const struct fuzz_tally *t, uint32_t times)
{
    int met = 0;
    for (int i = 0; i < FUZZ_TRIPLES; i++)
        met += t->triples[i] >= times;
    return met;
}

static const char *prim_name(int prim)
{
    return sched_prim_info((enum sched_prim)prim)->name;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

// Print a line for each primitive: cases, those that wanted it in vain, and
// pairs that are rare.
static void print_prims(const struct fuzz_tally *t)
{
    printf(
        "\nprimitive                 cases in vain  pairs below %.1f that begin "
        "with it\n",
        pairs_wanted(t));
    for (int i = 0; i < PRIM_COUNT; i++) {
        printf("%-24s %6llu %7llu ", prim_name(i),
               (unsigned long long)t->prims[i],
               (unsigned long long)t->missed[i]);
        for (int k = 0; k < PRIM_COUNT && t->cases >= CASES_FOR_PAIRS; k++) {
            if ((double)t->pairs[i][k] < pairs_wanted(t))
                printf(" %s=%llu", prim_name(k),
                       (unsigned long long)t->pairs[i][k]);
        }
        printf("\n");
    }
}

// Print the codes that cases and calls were refused with.
static void print_refusals(const struct fuzz_tally *t)
{
    printf("\ncode    cases    calls\n");
    for (int i = 0; i < D_COUNT; i++) {
        if (t->refused[i] || t->draws.refused[i])
            printf("%s %7llu %8lu\n", diag_code_text((enum diag_code)i),
                   (unsigned long long)t->refused[i],
                   (unsigned long)t->draws.refused[i]);
    }
}

// Print how many cases have what is asked for.
static void print_shares(const struct fuzz_tally *t)
{
    const struct {
        const char *what;
        uint64_t n;
    } rows[] = {
        {"reach what they aim at", t->aimed},
        {"with a factor that does not divide", t->tails},
        {"with an extent of 0", t->zeros},
        {"with an extent of 1", t->ones},
        {"with indices beyond 2^31", t->huge},
        {"that copy what nobody has written, in vain", t->unwritten},
        {"whose threads write the workspace alike", t->alike},
        {"that no oracle ran at any size", t->unrun},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("%8llu %5.1f %%  %s\n", (unsigned long long)rows[i].n,
               percent(rows[i].n, t->accepted), rows[i].what);
    for (int i = 0; i < KIND_COUNT; i++)
        printf("%8llu %5.1f %%  %s, %.1f %% accepted\n",
               (unsigned long long)t->kinds_accepted[i],
               percent(t->kinds_accepted[i], t->accepted), kind_names[i],
               percent(t->kinds_accepted[i], t->kinds[i]));
}

void fuzz_report(const struct fuzz_tally *t, double seconds)
{
    struct pair_summary s = summarise(t);
    printf("%llu cases, %llu accepted (%.1f %%), %llu failed; %llu runs, %llu "
           "left; %.1f s, %.1f cases a second\n",
           (unsigned long long)t->cases, (unsigned long long)t->accepted,
           percent(t->accepted, t->cases), (unsigned long long)t->failed,
           (unsigned long long)t->runs, (unsigned long long)t->left, seconds,
           (double)t->cases / seconds);
    printf(
        "%.1f directives a case; %d of %d pairs below %.1f (%d in %d cases), "
        "%d never; least: %llu of %s, %s\n",
        (double)t->directives / (double)(t->accepted + !t->accepted), s.rare,
        PRIM_COUNT * PRIM_COUNT, pairs_wanted(t), PAIR_WANTED, CAMPAIGN,
        s.missing, (unsigned long long)s.least, prim_name(s.first),
        prim_name(s.second));
    printf("the slowest is case %llu, %.1f s of the processor\n",
           (unsigned long long)t->slowest_case, t->slowest);
    printf("%d of %d ordered triples met, %d of them 5 times or more\n",
           triples_met(t, 1), FUZZ_TRIPLES, triples_met(t, 5));
    print_shares(t);
    print_prims(t);
    print_refusals(t);
}

// Print an array of numbers.
static void json_numbers(const char *name, const uint64_t *at, int n)
{
    printf("  \"%s\": [", name);
    for (int i = 0; i < n; i++)
        printf("%s%llu", i ? ", " : "", (unsigned long long)at[i]);
    printf("],\n");
}

// Print the primitives and the table of pairs.
static void json_pairs(const struct fuzz_tally *t)
{
    printf("  \"primitives\": [");
    for (int i = 0; i < PRIM_COUNT; i++)
        printf("%s\"%s\"", i ? ", " : "", prim_name(i));
    printf("],\n");
    json_numbers("primitive_cases", t->prims, PRIM_COUNT);
    printf("  \"pairs\": [\n");
    for (int i = 0; i < PRIM_COUNT; i++) {
        for (int k = 0; k < PRIM_COUNT; k++)
            printf("%s%llu", k ? ", " : "    [",
                   (unsigned long long)t->pairs[i][k]);
        printf("]%s\n", i + 1 < PRIM_COUNT ? "," : "");
    }
    printf("  ],\n");
}

// Print how many triples were met, and which: four a digit, the first one in its
// lowest bit.
static void json_triples(const struct fuzz_tally *t)
{
    printf("  \"triples\": %d,\n  \"triples_5\": %d,\n  \"triples_met\": \"",
           triples_met(t, 1), triples_met(t, 5));
    for (int i = 0; i < FUZZ_TRIPLES; i += 4) {
        unsigned digit = 0;
        for (int k = 0; k < 4 && i + k < FUZZ_TRIPLES; k++)
            digit |= (unsigned)(t->triples[i + k] > 0) << k;
        printf("%x", digit);
    }
    printf("\",\n");
}

// Print the numbers of cases that kinds, and codes, have.
static void json_groups(const struct fuzz_tally *t)
{
    const char *comma = "";
    printf("  \"kinds\": {");
    for (int i = 0; i < KIND_COUNT; i++)
        printf("%s\"%s\": %llu", i ? ", " : "", kind_names[i],
               (unsigned long long)t->kinds_accepted[i]);
    printf("},\n  \"refused\": {");
    for (int i = 0; i < D_COUNT; i++) {
        if (!t->refused[i])
            continue;
        printf("%s\"%s\": %llu", comma, diag_code_text((enum diag_code)i),
               (unsigned long long)t->refused[i]);
        comma = ", ";
    }
    printf("},\n  \"failures\": [");
    for (uint64_t i = 0; i < t->n_failures; i++)
        printf("%s%llu", i ? ", " : "",
               (unsigned long long)t->failures[i].number);
    printf("]\n");
}

void fuzz_report_json(const struct fuzz_tally *t, uint64_t seed, uint64_t first,
                      double seconds)
{
    printf("{\n  \"seed\": %llu,\n  \"first\": %llu,\n  \"seconds\": %.3f,\n",
           (unsigned long long)seed, (unsigned long long)first, seconds);
    printf("  \"slowest\": %.3f,\n  \"slowest_case\": %llu,\n", t->slowest,
           (unsigned long long)t->slowest_case);
    const struct {
        const char *name;
        uint64_t n;
    } rows[] = {
        {"cases", t->cases},         {"accepted", t->accepted},
        {"failed", t->failed},       {"aimed", t->aimed},
        {"runs", t->runs},           {"left", t->left},
        {"tails", t->tails},         {"zeros", t->zeros},
        {"ones", t->ones},           {"huge", t->huge},
        {"unwritten", t->unwritten}, {"writes_alike", t->alike},
        {"unrun", t->unrun},         {"directives", t->directives},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("  \"%s\": %llu,\n", rows[i].name,
               (unsigned long long)rows[i].n);
    json_numbers("lengths", t->lengths, FUZZ_DIRECTIVES + 1);
    json_pairs(t);
    json_triples(t);
    json_groups(t);
    printf("}\n");
}
