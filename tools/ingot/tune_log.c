// What was measured: NAME.tuned.log has a line for each measurement, as soon as it
// is there; NAME.tuned has the fastest of each problem, which builds take.

#include "nvptx/package/output.h"
#include "tools/ingot/tune.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SEEDS_MOST = 4 };

// How much faster than what a build takes a record must be.
#define WORTH 0.995

const char *tune_log_path(struct arena *a, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *dot = strrchr(slash ? slash : file, '.');
    int n = (int)(dot ? (size_t)(dot - file) : strlen(file));
    return strcmp(file, "-") == 0 ? NULL
                                  : arena_printf(a, "%.*s.tuned.log", n, file);
}

// ---- Records of trials ----------------------------------------------------

// Return the time of day as text.
static const char *date_text(struct arena *a)
{
    char text[32];
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return arena_copy(a, text, strlen(text));
}

// Return the record of a trial, or of what a build takes.
static struct record record_of(struct tune_problem *p,
                               const struct tune_trial *t)
{
    struct record r = {.kernel = p->kernel->name,
                       .sizes = p->sizes,
                       .device = p->device_name,
                       .arch = p->source.target->name,
                       .state = t->state,
                       .why = t->why,
                       .us = t->us,
                       .ratio = t->ratio,
                       .spread = t->spread,
                       .turns = t->turns,
                       .date = date_text(&p->c->arena),
                       .version = INGOT_VERSION,
                       .kernel_hash = p->kernel_hash,
                       .text_hash = t->hash};
    bool is_rule = t->item && t->item->item->rule;
    r.from = !t->item ? RECORD_BUILD : is_rule ? RECORD_RULE : RECORD_SCHEDULE;
    r.rule = is_rule ? t->item->item->rule->name.text : NULL;
    r.number = t->item ? t->item->number : p->build_number;
    if (t->item)
        r.settings = t->settings;
    if (!t->turns)
        r.us = 0;
    return r;
}

// ---- The log --------------------------------------------------------------

// Append the records of a file, if there is one, that are of the kernel.
static void read_records(struct tune_problem *p, const char *path,
                         struct records *out)
{
    struct buf text = {0};
    struct diag_list quiet = {.arena = &p->c->arena};
    bool is_read = path && cli_read(path, &text, &quiet) && text.n;
    for (const char *line = text.data; is_read && *line;) {
        struct record r;
        const char *at = line, *end = line + strcspn(line, "\n");
        if (*end && record_read(&p->c->arena, &p->c->names, &at, &r) &&
            strcmp(r.kernel, p->kernel->name) == 0)
            vec_push(&p->c->arena, out, r);
        line = end + (*end != '\0');
    }
    buf_free(&text);
}

void tune_log_read(struct tune_problem *p)
{
    struct records all = {0};
    struct record mine = {.kernel = p->kernel->name,
                          .sizes = p->sizes,
                          .device = p->device_name,
                          .arch = p->source.target->name};
    read_records(p, p->log_path, &all);
    vec_foreach(r, &all)
        if (record_is_same_problem(r, &mine, p->options->effort != TUNE_NONE) &&
            r->version && strcmp(r->version, INGOT_VERSION) == 0 &&
            r->kernel_hash == p->kernel_hash)
            vec_push(&p->c->arena, &p->log, *r);
}

// ---- Seeds ----------------------------------------------------------------

bool tune_point(struct tune_problem *p, const struct record *r,
                struct search_point *out)
{
    size_t i = 0;
    while (i < p->items.n && p->items.at[i].number != r->number)
        i++;
    if (i == p->items.n || r->from == RECORD_BUILD)
        return false;
    const struct sched_knobs *knobs = &p->items.at[i].knobs;
    *out = (struct search_point){
        i, arena_array(&p->c->arena, uint32_t, knobs->n + 1), 0};
    for (size_t k = 0; k < knobs->n; k++)
        vec_foreach(set, &r->settings)
            for (size_t v = 0; v < knobs->at[k].values.n; v++)
                if (strcmp(set->name, knobs->at[k].name) == 0 &&
                    set->value == knobs->at[k].values.at[v])
                    out->at[k] = (uint32_t)v;
    return true;
}

// Return how far sizes are from those of the problem: factors of two.
static double distance(const struct tune_problem *p, const struct record *r)
{
    double sum = 0;
    vec_foreach(a, &p->sizes)
        vec_foreach(b, &r->sizes)
            if (strcmp(a->name, b->name) == 0)
                sum += fabs(log2((double)a->value + 1) -
                            log2((double)b->value + 1));
    return sum;
}

void tune_seed(struct tune_problem *p)
{
    struct records all = {0};
    read_records(p, p->tuned_path, &all);
    for (size_t n = 0; n < all.n && n < SEEDS_MOST; n++) {
        struct search_point point;
        size_t best = 0;
        for (size_t i = 1; i < all.n; i++)
            if (distance(p, &all.at[i]) < distance(p, &all.at[best]))
                best = i;
        if (tune_point(p, &all.at[best], &point))
            vec_push(&p->c->arena, &p->search.seeds, point);
        all.at[best] = all.at[--all.n];
    }
}

const struct record *tune_log_find(const struct tune_problem *p,
                                   const struct tune_trial *t, size_t turns)
{
    const struct record *found = NULL;
    if (p->options->is_forgetful)
        return NULL;
    vec_foreach(r, &p->log) {
        bool is_measured = strcmp(r->state, "measured") == 0;
        if (r->from != RECORD_BUILD && r->text_hash == t->hash &&
            record_same_settings(&r->settings, &t->settings) &&
            (!is_measured || r->turns >= turns))
            found = r;
    }
    return found;
}

// Return whether a file ends inside of a line, as one whose writer was killed.
static bool is_cut(int file)
{
    char last = '\n';
    off_t n = lseek(file, 0, SEEK_END);
    return n > 0 && pread(file, &last, 1, n - 1) == 1 && last != '\n';
}

// Append a line to a file.  Returns whether it is on the disk.
static bool append_line(const char *path, const struct buf *line)
{
    int file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return false;
    bool ok = !is_cut(file) || write(file, "\n", 1) == 1;
    ok = ok && write(file, line->data, line->n) == (ssize_t)line->n &&
         fsync(file) == 0;
    return close(file) == 0 && ok;
}

void tune_log_add(struct tune_problem *p, const struct tune_trial *t)
{
    struct buf line = {0};
    struct record r = record_of(p, t);
    record_print(&r, &line);
    if (p->log_path && !p->is_lost && !append_line(p->log_path, &line))
        p->is_lost = !diag_error(&p->c->diags, (struct span){0},
                                 D_record_failed, p->log_path, strerror(errno));
    buf_free(&line);
}

// ---- The records of the file ----------------------------------------------

const struct tune_trial *tune_winner(const struct tune_problem *p)
{
    const struct search_trial *best = search_best(&p->search);
    if (!best || best->time > WORTH)
        return NULL;
    return p->trials.at[best - p->search.trials.at];
}

// Append the lines of the file but those for this problem.
static void keep_others(struct tune_problem *p, const char *text,
                        const struct record *mine, struct buf *out)
{
    while (*text) {
        struct record r;
        const char *at = text;
        size_t n = strcspn(text, "\n");
        bool is_mine = record_read(&p->c->arena, &p->c->names, &at, &r) &&
                       record_is_same_problem(&r, mine, true);
        if (!is_mine) {
            buf_bytes(out, text, n);
            buf_char(out, '\n');
        }
        text += n + (text[n] == '\n');
    }
}

bool tune_record(struct tune_problem *p)
{
    const struct tune_trial *winner = tune_winner(p);
    struct record r = record_of(p, winner ? winner : &p->build);
    struct buf old = {0}, new = {0};
    struct diag_list quiet = {.arena = &p->c->arena};
    if (!p->tuned_path)
        return true;
    bool exists = cli_read(p->tuned_path, &old, &quiet);
    keep_others(p, old.n ? old.data : "", &r, &new);
    if (winner)
        record_print(&r, &new);
    bool is_same = exists ? old.n == new.n &&
                                (!old.n || !memcmp(old.data, new.data, old.n))
                          : new.n == 0;
    struct output file = {p->tuned_path, new.data, new.n};
    bool ok =
        is_same || output_write(&p->c->arena, NULL, &file, 1, &p->c->diags);
    buf_free(&old);
    buf_free(&new);
    return ok;
}
