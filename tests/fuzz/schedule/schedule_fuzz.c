// The schedule fuzzer: random kernels under random schedules, compiled, and
// compared with their definitions.
//
//   fuzz_schedule [--seed S] [--first N] [--cases M] [--jobs J]
//                 [--seconds T] [--until T] [--out DIR] [--draw] [--print]
//                 [--json] [--no-shrink]
//   fuzz_schedule [--seed S] [--seconds T] FILE...
//
// Prints what was covered, and each failure as a small file with the command
// that replays it.  Files are checked as cases are.  Exit status: 0 nothing
// found, 1 something found, 2 usage.

#include "ir/base/phases.h"
#include "tests/fuzz/schedule/campaign.h"
#include "tests/fuzz/schedule/shrink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHRUNK_MOST = 8 };
static const double shrink_seconds = 60;

struct options {
    struct fuzz_campaign campaign;
    bool is_printed, is_json, is_raw;
    int first_file;
};

// Return the number behind an option and go on to it; ends with status 2.
static uint64_t number_behind(char **argv, int *i)
{
    char *end;
    const char *text = argv[*i + 1];
    uint64_t value = text ? strtoull(text, &end, 10) : 0;
    if (!text || *end || end == text) {
        fprintf(stderr, "%s needs a number\n", argv[*i]);
        exit(2);
    }
    ++*i;
    return value;
}

// Return the text behind an option and go on to it; ends with status 2.
static const char *text_behind(char **argv, int *i)
{
    if (argv[++*i])
        return argv[*i];
    fprintf(stderr, "%s needs a name\n", argv[*i - 1]);
    exit(2);
}

// Read the command line; ends with status 2 where it is wrong.
static struct options read_options(char **argv)
{
    struct options o = {
        .campaign = {
            .seed = 1, .cases = 2000, .jobs = 2, .seconds = FUZZ_SECONDS}};
    int i;
    for (i = 1; argv[i] && strncmp(argv[i], "--", 2) == 0; i++) {
        const char *name = argv[i] + 2;
        if (strcmp(name, "seed") == 0)
            o.campaign.seed = number_behind(argv, &i);
        else if (strcmp(name, "first") == 0)
            o.campaign.first = number_behind(argv, &i);
        else if (strcmp(name, "cases") == 0)
            o.campaign.cases = number_behind(argv, &i);
        else if (strcmp(name, "jobs") == 0)
            o.campaign.jobs = (unsigned)number_behind(argv, &i);
        else if (strcmp(name, "seconds") == 0)
            o.campaign.seconds = (unsigned)number_behind(argv, &i);
        else if (strcmp(name, "until") == 0)
            o.campaign.until = (unsigned)number_behind(argv, &i);
        else if (strcmp(name, "out") == 0)
            o.campaign.folder = text_behind(argv, &i);
        else if (strcmp(name, "draw") == 0)
            o.campaign.is_only_drawn = true;
        else if (strcmp(name, "print") == 0)
            o.is_printed = true;
        else if (strcmp(name, "json") == 0)
            o.is_json = true;
        else if (strcmp(name, "no-shrink") == 0)
            o.is_raw = true;
        else {
            fprintf(stderr, "there is no option %s\n", argv[i]);
            exit(2);
        }
    }
    o.first_file = i;
    return o;
}

// Print a verdict behind the text that it is about.
static void print_verdict(const struct fuzz_verdict *v)
{
    switch (v->outcome) {
    case FUZZ_ACCEPTED: printf("// holds: %u runs\n", v->runs); break;
    case FUZZ_REFUSED:
        printf("// refused: %s %s\n", diag_code_text(v->code), v->detail);
        break;
    case FUZZ_FAILED:
        printf("// fails: %s\n// %s\n", v->what, v->detail);
        break;
    }
}

// Run the cases here, one after another, and print them.
static int print_cases(const struct fuzz_campaign *c)
{
    int failed = 0;
    for (uint64_t i = 0; i < c->cases; i++) {
        struct arena a = {0};
        struct fuzz_draws draws = {{0}, 0};
        struct fuzz_case one = {.seed = c->seed,
                                .number = c->first + i,
                                .is_only_drawn = c->is_only_drawn};
        fuzz_case_run(&one, &a, &draws, true);
        print_verdict(&one.verdict);
        failed |= one.verdict.outcome == FUZZ_FAILED;
        arena_reset(&a);
    }
    return failed;
}

// Print a failure as a small file.
static void print_failure(const struct options *o, const struct fuzz_failure *f)
{
    uint64_t seed = o->campaign.seed;
    printf("\n---- case %llu: %s\n// %s\n// fuzz_schedule --seed %llu --first "
           "%llu --cases 1 --print\n",
           (unsigned long long)f->number, f->what, f->detail,
           (unsigned long long)seed, (unsigned long long)f->number);
    if (!o->is_raw) {
        char *text = fuzz_case_text(seed, f->number);
        char *small =
            fuzz_shrink(text, seed + f->number, f->what, shrink_seconds);
        printf("%s", small);
        free(small);
        free(text);
    }
    fflush(stdout);
}

// Run a campaign.
static int run_campaign(const struct options *o)
{
    struct fuzz_tally *tally = calloc(1, sizeof *tally);
    double began = phases_now();
    if (!tally || !fuzz_campaign_run(&o->campaign, tally))
        return 2;
    double seconds = (phases_now() - began) / 1000;
    if (o->is_json)
        fuzz_report_json(tally, o->campaign.seed, o->campaign.first, seconds);
    else
        fuzz_report(tally, seconds);
    for (uint64_t i = 0; i < tally->n_failures && !o->is_json; i++) {
        struct options raw = *o;
        raw.is_raw |= i >= SHRUNK_MOST;
        print_failure(&raw, &tally->failures[i]);
    }
    int status = tally->failed > 0;
    free(tally);
    return status;
}

// Check a file.
static int check_file(const char *name, const struct fuzz_campaign *how)
{
    struct buf text = {0};
    char chunk[4096];
    size_t n;
    FILE *f = fopen(name, "rb");
    if (!f) {
        perror(name);
        return 2;
    }
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_bytes(&text, chunk, n);
    fclose(f);
    struct fuzz_verdict v = fuzz_check_alone(text.data ? text.data : "", text.n,
                                             how->seed, how->seconds);
    printf("// %s\n", name);
    print_verdict(&v);
    buf_free(&text);
    return v.outcome == FUZZ_FAILED;
}

int main(int argc, char **argv)
{
    struct options o = read_options(argv);
    int status = 0;
    if (o.first_file == argc)
        return o.is_printed ? print_cases(&o.campaign) : run_campaign(&o);
    for (int i = o.first_file; i < argc; i++)
        status |= check_file(argv[i], &o.campaign);
    return status;
}
