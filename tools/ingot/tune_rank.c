// The order in which trials begin: by the times that the model predicts of what
// they lower to (passes/model). Processes lower, each a share: one that crashes
// leaves its share behind the others, in the order of the space.

#include "tools/ingot/candidates.h"
#include "tools/ingot/tune.h"
#include "tools/tune/propose.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POINTS_MOST = 4096, SHARES_MOST = 64, TICK_MS = 100 };

// The part of the budget that ranking may take.
#define SHARE_OF_BUDGET 0.15

// A point with its way, and what is predicted of it.
struct ranked {
    struct search_point point;
    struct way way;
    struct tune_prediction said;
    size_t place;
};

// What is ranked.
struct ranking {
    struct tune_problem *p;
    struct ranked *at;
    size_t n, shares;
    double ends; // by child_now
    struct child children[SHARES_MOST];
};

// A share of it: every `shares`th from `first` on.
struct share {
    struct ranking *of;
    size_t first;
};

// ---- In a process ---------------------------------------------------------

void tune_predict(const struct tune_problem *p, struct compilation *c,
                  struct ir_kernel *kernel, struct tune_prediction *out)
{
    const struct model_device *device = model_device_called(p->device->name);
    struct problem problem;
    const char *wrong = NULL;
    if (problem_make(&c->arena, kernel, p->request, &c->diags, &problem,
                     &wrong) != PROBLEM_READY)
        return;
    problem.sms = p->device->sms;
    struct candidates rows = candidates_make(
        c, &problem, device ? device : model_device_for(p->device->sm));
    if (!rows.n || !rows.at[0].is_timed)
        return;
    out->us = rows.at[0].time.us;
    out->least_us = model_least(&rows.at[0].time, &out->by);
}

// Predict a way; nothing if it is no way to run the kernel.
static void predict(struct ranking *r, struct ranked *out)
{
    const struct way *way = &out->way;
    struct tune_problem *p = r->p;
    struct compilation c;
    struct compile_options o = p->options->compile.options;
    const char *wrong = NULL;
    compile_start(&c);
    way_options(&p->source, way, &o);
    struct ir_kernel *kernel = way_add(&c, &p->source, way, &wrong);
    if (kernel && compile_lower(&c, &o))
        tune_predict(p, &c, kernel, &out->said);
    compile_end(&c);
}

// Predict a share, and send each number as soon as it is there.
static void predict_share(struct wire *wire, void *context)
{
    const struct share *share = context;
    struct ranking *r = share->of;
    for (size_t i = share->first; i < r->n; i += r->shares) {
        json_t *line = json_object();
        struct ranked *one = &r->at[i];
        predict(r, one);
        json_object_set_new(line, "point", json_integer((json_int_t)i));
        json_set_real(line, "us", one->said.us);
        json_set_real(line, "least_us", one->said.least_us);
        json_object_set_new(line, "by", json_integer(one->said.by));
        if (!wire_send(wire, line, NULL, 0))
            return;
    }
}

// ---- In the tuner ---------------------------------------------------------

// Take what a process has sent.
static void take(struct ranking *r, struct child *child)
{
    struct wire_message m;
    while (wire_take(&child->wire, &m) == WIRE_MESSAGE) {
        json_int_t i = json_integer_value(json_object_get(m.json, "point"));
        double us = json_number_value(json_object_get(m.json, "us"));
        if (i >= 0 && (size_t)i < r->n && us > 0) {
            struct ranked *one = &r->at[i];
            one->said.us = us;
            one->said.least_us =
                json_number_value(json_object_get(m.json, "least_us"));
            one->said.by = (enum model_limit)json_integer_value(
                json_object_get(m.json, "by"));
        }
        wire_release(&m);
    }
}

// Read from processes that can be read from, after waiting for them a little.  Returns
// how many still run.
static size_t read_all(struct ranking *r, int wait_ms)
{
    struct pollfd all[SHARES_MOST];
    char text[CHILD_TEXT_SIZE];
    size_t running = 0;
    for (size_t i = 0; i < r->shares; i++) {
        int file = r->children[i].id ? r->children[i].wire.in : -1;
        all[i] = (struct pollfd){file, POLLIN, 0};
    }
    poll(all, r->shares, wait_ms);
    for (size_t i = 0; i < r->shares; i++) {
        struct child *child = &r->children[i];
        bool goes_on = !all[i].revents || wire_read(&child->wire);
        if (child->id)
            take(r, child);
        if (child->id && !goes_on)
            child_end(child, text, sizeof text);
        running += child->id != 0;
    }
    return running;
}

double tune_predicted(const struct tune_problem *p,
                      const struct search_point *point)
{
    size_t bytes = p->space.at[point->item].n * sizeof *point->at;
    for (size_t i = 0; i < p->search.order.n; i++) {
        const struct search_point *other = &p->search.order.at[i];
        if (other->item == point->item &&
            memcmp(other->at, point->at, bytes) == 0)
            return p->order_us[i];
    }
    return INFINITY;
}

// Note the least time that any point needs by the rates of the GPU.
static void note_limit(const struct ranking *r)
{
    struct tune_problem *p = r->p;
    for (size_t i = 0; i < r->n; i++) {
        const struct ranked *one = &r->at[i];
        if (one->said.least_us > 0 &&
            (p->limit_us <= 0 || one->said.least_us < p->limit_us)) {
            p->limit_us = one->said.least_us;
            p->limit = one->said.by;
        }
    }
}

// Order points by their times, those without behind in their own order.
static int compare(const void *left, const void *right)
{
    const struct ranked *x = left, *y = right;
    if (x->said.us != y->said.us)
        return x->said.us < y->said.us ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

// Order the points of the search.
static void set_order(const struct ranking *r)
{
    struct tune_problem *p = r->p;
    struct arena *a = &p->c->arena;
    p->predicted_build =
        r->n && p->items.at[r->at[0].point.item].number == p->build_number
            ? r->at[0].said.us
            : INFINITY;
    qsort(r->at, r->n, sizeof *r->at, compare);
    p->order_us = arena_array(a, double, r->n + 1);
    for (size_t i = 0; i < r->n; i++) {
        struct search_point point = r->at[i].point;
        point.predicted = isfinite(r->at[i].said.us) ? r->at[i].said.us : 0;
        vec_push(a, &p->search.order, point);
        p->order_us[i] = r->at[i].said.us;
    }
    p->predicted = r->n ? r->at[0].said.us : INFINITY;
}

// Begin to predict all, in as many processes as there are processors.
static void begin(struct ranking *r)
{
    size_t jobs = r->p->options->jobs ? r->p->options->jobs
                                      : (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    r->shares = jobs < SHARES_MOST ? jobs : SHARES_MOST;
    r->shares = r->shares < r->n ? r->shares : r->n;
    for (size_t i = 0; i < r->shares; i++) {
        struct share share = {r, i};
        child_fork(&r->children[i], predict_share, &share);
    }
}

struct ranking *tune_rank_begin(struct tune_problem *p)
{
    struct arena *a = &p->c->arena;
    struct search_points points = {0};
    struct ranking *r = arena_new(a, struct ranking);
    propose_points(&p->search, POINTS_MOST, &points);
    *r = (struct ranking){
        .p = p,
        .at = arena_array(a, struct ranked, points.n + 1),
        .n = points.n,
        .ends = p->began + SHARE_OF_BUDGET * p->options->budget,
    };
    for (size_t i = 0; i < r->n; i++)
        r->at[i] = (struct ranked){
            points.at[i], tune_way(p, &points.at[i])->way, {.us = INFINITY}, i};
    begin(r);
    return r;
}

void tune_rank_end(struct ranking *r)
{
    for (size_t i = 0; i < r->shares; i++)
        if (r->children[i].id)
            child_stop(&r->children[i]);
}

bool tune_rank_goes_on(struct ranking *r, int wait_ms)
{
    if (read_all(r, wait_ms) && child_now() < r->ends)
        return true;
    tune_rank_end(r);
    note_limit(r);
    set_order(r);
    return false;
}

void tune_rank(struct tune_problem *p)
{
    struct ranking *r = tune_rank_begin(p);
    while (tune_rank_goes_on(r, TICK_MS))
        tune_progress(p);
}
