// What `ingot tune` tells.

#include "tools/ingot/tune.h"
#include "tools/libingot/schedule_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 10 };

// How often ranks of mpirun, which have no terminal, tell how far it is.
#define SECONDS_OF_RANKS 10.0

// Append the kernel with its sizes.
static void print_problem(const struct tune_problem *p, struct buf *out)
{
    buf_text(out, p->kernel->name);
    vec_foreach(size, &p->sizes)
        buf_printf(out, " %s=%lld", size->name, (long long)size->value);
}

// Append where the schedule of a trial is from, with its settings.
static void print_origin(const struct tune_trial *t, struct buf *out)
{
    const struct sched_item *item = t->item->item;
    if (item->rule)
        buf_printf(out, "rule %s ", item->rule->name.text);
    else
        buf_text(out, "schedule ");
    buf_printf(out, "%zu", t->item->number);
    vec_foreach(one, &t->settings)
        buf_printf(out, " %s=%lld", one->name, (long long)one->value);
}

// Return the fastest trial, or NULL.
static const struct tune_trial *best_of(const struct tune_problem *p)
{
    const struct search_trial *best = search_best(&p->search);
    return best ? p->trials.at[best - p->search.trials.at] : NULL;
}

// Return the time of the fastest, in microseconds beside what a build takes.
static double best_us(const struct tune_problem *p)
{
    const struct search_trial *best = search_best(&p->search);
    return best ? best->time * p->build.us : p->build.us;
}

// Return which part of the limit a time reaches; 0: it is not known.
static double share_of_limit(const struct tune_problem *p, double us)
{
    return us > 0 ? p->limit_us / us : 0;
}

// Append how far the best is from the limit, if that is known.
static void print_share(const struct tune_problem *p, const char *before,
                        const char *after, struct buf *out)
{
    double share = share_of_limit(p, best_us(p));
    if (share > 0)
        buf_printf(out, "%s%.1f %% of the limit (%s)%s", before, 100 * share,
                   model_limit_name(p->limit), after);
}

// Append how far it is, as one line.
static void print_progress(const struct tune_problem *p, struct buf *out)
{
    double whole = p->ends - p->began, left = p->ends - child_now();
    int done = whole > 0 ? (int)(BAR * (1 - left / whole)) : BAR;
    buf_char(out, '[');
    for (int i = 0; i < BAR; i++)
        buf_char(out, i < done ? '#' : '.');
    buf_printf(out, "] %.0f s left, trial %zu", left > 0 ? left : 0,
               search_count(&p->search));
    if (!(p->build.us > 0))
        return;
    buf_printf(out, ", best %.2f us", best_us(p));
    print_share(p, ", ", "", out);
    buf_printf(out, ", %.3f of the build's", best_us(p) / p->build.us);
}

void tune_progress(struct tune_problem *p)
{
    struct buf line = {0};
    bool is_terminal = isatty(STDERR_FILENO);
    bool is_time =
        getenv("INGOT_RANKS") && child_now() >= p->told + SECONDS_OF_RANKS;
    if (!is_terminal && !is_time)
        return;
    p->told = child_now();
    print_progress(p, &line);
    fprintf(stderr, is_terminal ? "\r\033[K\033[?7l%s\033[?7h" : "%s\n",
            line.data);
    buf_free(&line);
}

// Return how many trials ended in a state.
static size_t count_state(const struct tune_problem *p, const char *state)
{
    size_t n = 0;
    vec_foreach_value(t, &p->trials)
        n += t->state && strcmp(t->state, state) == 0;
    return n;
}

static const char *const faults[] = {"wrong",  "crashed", "hung", "fault",
                                     "failed", "refused", NULL};

// Append how many trials there were, and how many ended otherwise.
static void print_counts(const struct tune_problem *p, struct buf *out)
{
    const char *between = " (";
    buf_printf(out, "%zu trials of %llu points", search_count(&p->search),
               (unsigned long long)search_size(&p->space));
    for (size_t i = 0; faults[i]; i++) {
        size_t n = count_state(p, faults[i]);
        if (!n)
            continue;
        buf_printf(out, "%s%zu %s", between, n, faults[i]);
        between = ", ";
    }
    buf_text(out, strcmp(between, ", ") == 0 ? ")" : "");
}

// Append a line of the curve.
static void print_step(const struct tune_problem *p,
                       const struct tune_step *step, struct buf *out)
{
    double share = share_of_limit(p, step->us);
    buf_printf(out, "  %6zu  %7.1f  %8.2f  %14.3f", step->trials, step->seconds,
               step->us, step->us / p->build.us);
    if (share > 0)
        buf_printf(out, "  %11.3f", share);
    buf_char(out, '\n');
}

// Append the curve: when the best became faster.
static void print_curve(const struct tune_problem *p, struct buf *out)
{
    struct tune_step first = {.us = p->build.us};
    buf_printf(out, "  trials  seconds   best us  of the build's%s\n",
               p->limit_us > 0 ? "  of the limit" : "");
    print_step(p, &first, out);
    vec_foreach(step, &p->curve)
        print_step(p, step, out);
}

// Append the limit, and which part of it the best reaches.
static void print_limit(const struct tune_problem *p, struct buf *out)
{
    if (p->limit_us <= 0)
        return;
    buf_printf(out, "  no schedule can take less than %.3g us, by the model",
               p->limit_us);
    print_share(p, ": ", "", out);
    buf_char(out, '\n');
}

// Append where the winner is recorded, and which architecture it is for.
static void print_record(const struct tune_problem *p, struct buf *out)
{
    const struct tune_trial *winner = tune_winner(p);
    if (!p->tuned_path)
        buf_text(out,
                 "  not recorded: the kernel is from the standard input\n");
    else if (winner)
        buf_printf(out,
                   "  recorded in %s, for %s\n"
                   "  to build with it: ingot build %s --arch %s\n",
                   p->tuned_path,
                   schedule_case_target(&p->c->scratch, winner->item->item,
                                        p->source.target)
                       ->name,
                   p->options->file, p->source.target->name);
    else
        buf_text(out, "  nothing to record: a build takes the fastest\n");
}

void tune_print(const struct tune_problem *p, struct buf *out)
{
    const struct tune_trial *best = best_of(p);
    print_problem(p, out);
    buf_printf(out, " on %s, %s: ", p->device_name, p->source.target->name);
    print_counts(p, out);
    buf_printf(out, " in %.1f s\n", child_now() - p->began);
    if (p->reference)
        buf_printf(out, "  compared with %s\n", p->reference);
    buf_printf(out, "  a build takes %s: %.2f us\n", p->build_name,
               p->build.us);
    if (best) {
        buf_text(out, "  fastest: ");
        print_origin(best, out);
        buf_printf(out, ": %.2f us, %.3f of that\n", best_us(p), best->ratio);
        print_curve(p, out);
    }
    print_limit(p, out);
    print_record(p, out);
}

// For other sizes the rule that was found is named: with a schedule in the file it
// would not be looked for.
void tune_print_schedule(const struct tune_problem *p, struct buf *out)
{
    const struct tune_trial *winner = tune_winner(p);
    buf_text(out, "// ");
    print_problem(p, out);
    buf_printf(out, " on %s: ", p->device_name);
    if (!winner) {
        buf_text(out, "a build takes the fastest\n\n");
        return;
    }
    buf_printf(out, "%.2f us, %.3f of what a build took\n", best_us(p),
               winner->ratio);
    buf_text(out, winner->way.text);
    if (p->build_item && p->build_item->is_planned)
        schedule_case_print_rule(p->kernel, p->build_item, out);
}

// ---- JSON -----------------------------------------------------------------

// Return a trial as JSON.
static json_t *trial_json(const struct tune_trial *t)
{
    json_t *object = json_object();
    struct buf origin = {0};
    if (t->item)
        print_origin(t, &origin);
    json_object_set_new(object, "schedule", json_text(origin.data));
    json_object_set_new(object, "state", json_text(t->state));
    if (t->why)
        json_object_set_new(object, "why", json_text(t->why));
    if (t->item)
        json_set_real(object, "predicted", t->predicted);
    if (t->turns) {
        json_set_real(object, "microseconds", t->us);
        json_set_real(object, "ratio", t->ratio);
        json_set_real(object, "spread_percent", t->spread);
        json_object_set_new(object, "turns",
                            json_integer((json_int_t)t->turns));
    }
    buf_free(&origin);
    return object;
}

// Return the curve as JSON.
static json_t *curve_json(const struct tune_problem *p)
{
    json_t *list = json_array();
    vec_foreach(step, &p->curve) {
        json_t *one = json_object();
        json_object_set_new(one, "trials",
                            json_integer((json_int_t)step->trials));
        json_set_real(one, "seconds", step->seconds);
        json_set_real(one, "microseconds", step->us);
        if (p->limit_us > 0)
            json_set_real(one, "of_limit", share_of_limit(p, step->us));
        json_array_append_new(list, one);
    }
    return list;
}

// Return the limit as JSON; null if it is not known.
static json_t *limit_json(const struct tune_problem *p)
{
    if (p->limit_us <= 0)
        return json_null();
    json_t *object = json_object();
    json_set_real(object, "microseconds", p->limit_us);
    json_object_set_new(object, "by", json_text(model_limit_name(p->limit)));
    json_set_real(object, "share", share_of_limit(p, best_us(p)));
    return object;
}

json_t *tune_json(const struct tune_problem *p)
{
    json_t *object = json_object(), *trials = json_array();
    const struct tune_trial *best = best_of(p);
    vec_foreach_value(t, &p->trials)
        json_array_append_new(trials, trial_json(t));
    json_object_set_new(object, "kernel", json_text(p->kernel->name));
    json_object_set_new(object, "sizes", way_settings_json(&p->sizes));
    json_object_set_new(object, "device", json_text(p->device_name));
    json_object_set_new(object, "arch", json_text(p->source.target->name));
    json_object_set_new(object, "reference", json_text(p->reference));
    json_object_set_new(object, "seconds", json_real(child_now() - p->began));
    json_object_set_new(object, "points",
                        json_integer((json_int_t)search_size(&p->space)));
    json_object_set_new(object, "build", trial_json(&p->build));
    json_object_set_new(object, "best", best ? trial_json(best) : json_null());
    json_object_set_new(object, "text",
                        json_text(best ? best->way.text : NULL));
    json_object_set_new(object, "recorded", json_boolean(tune_winner(p)));
    json_object_set_new(object, "limit", limit_json(p));
    json_object_set_new(object, "curve", curve_json(p));
    json_object_set_new(object, "trials", trials);
    return object;
}
