// Reads records of tuning.

#include "tools/libingot/tuned.h"

#include "tools/libingot/words.h"

#include <ctype.h>
#include <string.h>

// A file that is being read.
struct reader {
    struct words words;
    const struct source *source;
};

// Return the span from a place to where the reader is.
static struct span span_from(const struct reader *r, const char *from)
{
    return (struct span){r->source, (uint32_t)(from - r->source->text),
                         (uint32_t)(r->words.at - r->source->text)};
}

// Return whether the line ends here, but for a comment.
static bool at_end(struct reader *r)
{
    words_skip_blanks(&r->words);
    return !*r->words.at || *r->words.at == '\n' ||
           strncmp(r->words.at, "//", 2) == 0;
}

// Read `NAME=VALUE`.
static bool take_setting(struct reader *r, struct sched_setting *out)
{
    const char *from = r->words.at;
    out->name = words_name(&r->words);
    if (!out->name || *r->words.at != '=')
        return false;
    r->words.at++;
    bool ok = words_number(&r->words, &out->value);
    out->span = span_from(r, from);
    return ok;
}

// Read a record of what was measured.
static bool take_measured(struct reader *r, struct records *out)
{
    struct record one;
    const char *from = r->words.at;
    bool ok = record_read(r->words.arena, r->words.names, &r->words.at, &one);
    one.span = span_from(r, from);
    if (ok)
        vec_push(r->words.arena, out, one);
    return ok;
}

// Read one line.
static bool take_record(struct reader *r, struct tuned *out,
                        struct records *records)
{
    struct tuned_setting one = {0};
    const char *from = r->words.at;
    int64_t number = 0;
    one.kernel = words_name(&r->words);
    words_skip_blanks(&r->words);
    if (one.kernel && isalpha((unsigned char)*r->words.at)) {
        r->words.at = from;
        return take_measured(r, records);
    }
    if (!one.kernel || !words_number(&r->words, &number) || number < 1 ||
        at_end(r))
        return false;
    one.number = (size_t)number;
    one.span = span_from(r, from);
    while (!at_end(r)) {
        if (!take_setting(r, &one.setting))
            return false;
        vec_push(r->words.arena, out, one);
    }
    return true;
}

bool tuned_read(struct arena *a, struct str_table *names,
                const struct source *source, struct diag_list *diags,
                struct tuned *out, struct records *records)
{
    struct reader r = {{a, names, source->text}, source};
    bool ok = true;
    while (*r.words.at) {
        if (!at_end(&r) && !take_record(&r, out, records)) {
            const char *from = r.words.at;
            r.words.at += *r.words.at && *r.words.at != '\n';
            diag_error(diags, span_from(&r, from), D_bad_record);
            ok = false;
        }
        r.words.at += strcspn(r.words.at, "\n");
        r.words.at += *r.words.at == '\n';
    }
    return ok;
}

// Return how many schedules a kernel has.
static size_t count_schedules(const struct program *program, const char *kernel)
{
    size_t n = 0;
    for (size_t k = 0; k < program->kernels.n; k++)
        for (size_t i = 0; program->kernels.at[k]->name == kernel &&
                           i < program->schedules.schedules.n;
             i++)
            n += sched_is_for(program->schedules.schedules.at[i],
                              program->kernels.at[k]);
    return n;
}

void tuned_check(const struct tuned *tuned, const struct program *program,
                 struct diag_list *diags)
{
    for (size_t i = 0; i < tuned->n; i++) {
        const struct tuned_setting *one = &tuned->at[i];
        bool is_same = i && tuned->at[i - 1].span.source == one->span.source &&
                       tuned->at[i - 1].span.from == one->span.from;
        if (!is_same && one->number > count_schedules(program, one->kernel))
            diag_warning(diags, one->span, D_stale_record, one->kernel,
                         (long long)one->number);
    }
}

void tuned_settings(struct arena *a, const struct tuned *tuned,
                    const char *kernel, size_t number,
                    struct sched_settings *out)
{
    for (size_t i = 0; i < tuned->n; i++) {
        const struct tuned_setting *one = &tuned->at[i];
        if (one->kernel == kernel && one->number == number)
            vec_push(a, out, one->setting);
    }
}
